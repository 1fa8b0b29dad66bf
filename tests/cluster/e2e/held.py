"""Builds that go on until they are let go: what they install waits for an object in S3."""

import io
import json
import tarfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sless.adapters.s3 import S3Endpoint, connect_s3
from tests.cluster.node.stores import ACCESS_KEY, SECRET_KEY
from tests.component.contexts import IN_TREE

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

BUCKET = "sless"
SECONDS = 3600
_BACKEND = """
import pathlib, time, urllib.request, zipfile

URL = {url}


def is_let_go():
    try:
        with urllib.request.urlopen(URL, timeout=5):
            return True
    except OSError:
        return False


def build_wheel(folder, config_settings=None, metadata_directory=None):
    while not is_let_go():
        time.sleep(0.5)
    info = "held-1.0.dist-info"
    with zipfile.ZipFile(pathlib.Path(folder) / "held-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("held.py", "")
        wheel.writestr(f"{{info}}/METADATA", "Metadata-Version: 2.1\\nName: held\\nVersion: 1.0\\n")
        tags = "Root-Is-Purelib: true\\nTag: py3-none-any\\n"
        wheel.writestr(f"{{info}}/WHEEL", f"Wheel-Version: 1.0\\nGenerator: tests\\n{{tags}}")
        names = ["held.py", f"{{info}}/METADATA", f"{{info}}/WHEEL", f"{{info}}/RECORD"]
        wheel.writestr(f"{{info}}/RECORD", "".join(f"{{name}},,\\n" for name in names))
    return "held-1.0-py3-none-any.whl"
"""


@dataclass(frozen=True, slots=True)
class Hold:
    """A package that does not install before it may; S3 is what builds reach in any case."""

    client: "S3Client"
    prefix: str

    def hold(self, folder: Path) -> Path:
        """Has a function depend on it."""
        self._put("held-1.0.tar.gz", _sdist(_BACKEND.format(url=json.dumps(self._url("let-go")))))
        (folder / "requirements.txt").write_text(f"held @ {self._url('held-1.0.tar.gz')}\n")
        return folder

    def let_go(self) -> None:
        """It installs; whatever asks for it later does at once."""
        self._put("let-go", b"1")

    def _put(self, name: str, content: bytes) -> None:
        self.client.put_object(Bucket=BUCKET, Key=f"{self.prefix}/{name}", Body=content)

    def _url(self, name: str) -> str:
        place = {"Bucket": BUCKET, "Key": f"{self.prefix}/{name}"}
        return self.client.generate_presigned_url("get_object", Params=place, ExpiresIn=SECONDS)


@contextmanager
def holding(settings: Mapping[str, str]) -> Iterator[Hold]:
    """In the platform's S3; its objects go at the end."""
    endpoint = S3Endpoint(
        url=settings["SLESS_STORAGE__ENDPOINT"], access_key=ACCESS_KEY, secret_key=SECRET_KEY
    )
    client = connect_s3(endpoint)
    hold = Hold(client, f"tests/{uuid.uuid4().hex}")
    try:
        yield hold
    finally:
        for name in ("held-1.0.tar.gz", "let-go"):
            client.delete_object(Bucket=BUCKET, Key=f"{hold.prefix}/{name}")
        client.close()


def _sdist(backend: str) -> bytes:
    files = {"pyproject.toml": IN_TREE, "backend.py": backend}
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(f"held-1.0/{name}")
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    return made.getvalue()
