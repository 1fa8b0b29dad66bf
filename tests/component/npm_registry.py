"""A package registry for npm: a folder of packages, served over HTTP."""

import base64
import contextlib
import hashlib
import io
import json
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.component.contexts import serving


@dataclass(frozen=True)
class Registry:
    """What was published is what the folder holds."""

    folder: Path
    url: str

    def publish(
        self, name: str, files: Mapping[str, str], *, version: str = "1.0.0", **manifest: object
    ) -> None:
        """Adds a version of a package; it becomes the latest."""
        described = {"name": name, "version": version, **manifest}
        packed = _pack({"package.json": json.dumps(described), **files})
        tarball = f"{name}-{version}.tgz"
        (self.folder / tarball).write_bytes(packed)
        integrity = base64.b64encode(hashlib.sha512(packed).digest()).decode()
        dist = {"tarball": f"{self.url}/{tarball}", "integrity": f"sha512-{integrity}"}
        document = self._read(name)
        document["versions"][version] = {**described, "dist": dist}
        document["dist-tags"] = {"latest": version}
        (self.folder / name).write_text(json.dumps(document))

    def _read(self, name: str) -> dict[str, Any]:
        path = self.folder / name
        fresh = {"name": name, "versions": {}}
        return json.loads(path.read_text()) if path.exists() else fresh


@contextlib.contextmanager
def publishing(folder: Path) -> Iterator[Registry]:
    """An empty registry, until the end."""
    folder.mkdir(parents=True, exist_ok=True)
    with serving(folder) as url:
        yield Registry(folder, url)


def _pack(files: Mapping[str, str]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for path, text in files.items():
            info = tarfile.TarInfo(f"package/{path}")
            info.size, info.mode = len(text.encode()), 0o755
            archive.addfile(info, io.BytesIO(text.encode()))
    return packed.getvalue()
