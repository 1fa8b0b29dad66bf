"""The activity that makes contexts, in Temporal's own test environment."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from temporalio.testing import ActivityEnvironment

from activities.messages import PrepareContext
from activities.prepare_context import AT_ONCE, Preparing
from sless.archive import DEFAULT_LIMITS, DEFAULT_RUNTIMES
from sless.dependencies import Language
from sless.errors import ArchiveTooManyEntries
from sless.model.function import FunctionRef
from sless.naming import S3Key
from tests.fakes.objects import MemoryObjects
from tests.fixtures.waiting import until
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


class SlowObjects(MemoryObjects):
    """Downloads go on until they are let go."""

    def __init__(self) -> None:
        super().__init__()
        self.let_go = asyncio.Event()
        self.under_way = self.most = 0

    async def download(self, key: str, path: Path) -> None:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await self.let_go.wait()
        await super().download(key, path)
        self.under_way -= 1


async def test_uploads_that_come_together_do_not_fill_the_disk_together(tmp_path: Path) -> None:
    objects = SlowObjects()
    objects.content[KEY] = files_zip(tmp_path / "one.zip", {"main.py": ""}).read_bytes()
    files: dict[Language, dict[str, bytes]] = {each: {} for each in Language}
    preparing = Preparing(objects, DEFAULT_RUNTIMES, files, DEFAULT_LIMITS)
    order = PrepareContext(FunctionRef("ns", "hello"), KEY)
    async with asyncio.TaskGroup() as uploads:
        for _ in range(2 * AT_ONCE):
            uploads.create_task(ActivityEnvironment().run(preparing.prepare_context, order))
        await until(lambda: objects.under_way == objects.most >= AT_ONCE)
        objects.let_go.set()
    assert objects.most == AT_ONCE
