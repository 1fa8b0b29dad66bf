"""Zips in S3: stored once by content, copied to be built again."""

from api.spool import Spooled
from sless.errors import InvalidKey, NothingToDo, ObjectMissing, UploadMissing
from sless.naming import S3Key, key_prefix, parse_s3_key
from sless.ports import Objects

PAGE = 1000


async def keys_under(objects: Objects, prefix: str) -> list[str]:
    """Every key under a prefix, however many pages that takes; raises `StorageUnavailable`."""
    found: list[str] = []
    while page := await objects.list(prefix, after=found[-1] if found else "", limit=PAGE):
        found += page
        if len(page) < PAGE:
            break
    return found


async def find_newest(objects: Objects, key: S3Key) -> S3Key | None:
    """The newest copy of the same zip for the same runtime, or none."""
    start = f"{key_prefix(key.namespace, key.name)}{key.sha256}-{key.runtime}"
    copies = [found for text in await keys_under(objects, start) if (found := _parse(text))]
    own = [found for found in copies if found.runtime == key.runtime]
    return max(own, key=lambda found: found.rebuild, default=None)


async def store(objects: Objects, key: S3Key, zipped: Spooled) -> tuple[S3Key, bool]:
    """The key that the zip has now, and whether it is new; raises `StorageUnavailable`.

    A zip that was rebuilt goes on under its newest copy.
    """
    newest = await find_newest(objects, key)
    if newest is not None:
        return newest, False
    created = await objects.upload_if_absent(str(key), zipped.path, sha256=zipped.sha256)
    return key, created


async def copy_for_rebuild(objects: Objects, key: S3Key) -> S3Key:
    """A copy under the next `-r<n>`; raises `UploadMissing` when there is nothing to copy."""
    newest = await find_newest(objects, key) or key
    for rebuild in range(newest.rebuild + 1, newest.rebuild + 100):
        target = S3Key(key.namespace, key.name, key.sha256, key.runtime, rebuild)
        try:
            if await objects.copy_if_absent(str(newest), str(target)):
                return target
        except ObjectMissing as error:
            raise UploadMissing(f"The zip {newest} is not there: upload it again.") from error
    raise NothingToDo("This zip is being rebuilt by many at once; try again.")


def _parse(text: str) -> S3Key | None:
    try:
        return parse_s3_key(text)
    except InvalidKey:
        return None  # somebody's own file in our bucket
