"""The activity that makes contexts, in Temporal's own test environment."""

from dataclasses import replace
from pathlib import Path

import pytest
from temporalio.testing import ActivityEnvironment

from activities.messages import PrepareContext
from activities.prepare_context import Preparing
from sless.archive import DEFAULT_LIMITS, DEFAULT_RUNTIMES
from sless.dependencies import Language
from sless.errors import ArchiveTooManyEntries
from sless.model.function import FunctionRef
from sless.naming import S3Key
from tests.fakes.objects import MemoryObjects
from tests.unit.archives import files_zip

KEY = str(S3Key("ns", "hello", "0" * 64, "python3.11"))


@pytest.mark.parametrize("entries", [1, 2])
async def test_an_upload_is_prepared_by_the_limits_of_the_settings(
    tmp_path: Path, entries: int
) -> None:
    objects = MemoryObjects()
    zipped = files_zip(tmp_path / "two.zip", {"main.py": "", "more.py": ""})
    objects.content[KEY] = zipped.read_bytes()
    limits = replace(DEFAULT_LIMITS, entries=entries)
    preparing = Preparing(objects, DEFAULT_RUNTIMES, {each: {} for each in Language}, limits)
    order = PrepareContext(FunctionRef("ns", "hello"), KEY)
    if entries < 2:
        with pytest.raises(ArchiveTooManyEntries):
            await ActivityEnvironment().run(preparing.prepare_context, order)
    else:
        await ActivityEnvironment().run(preparing.prepare_context, order)
