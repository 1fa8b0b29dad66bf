from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest

from tests.component.api.rig import ApiRig, make_rig


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[ApiRig]:
    rig = make_rig(tmp_path)
    yield rig
    rig.database.close()


@pytest.fixture
async def client(rig: ApiRig) -> AsyncIterator[httpx.AsyncClient]:
    async with rig.client() as client:
        yield client
