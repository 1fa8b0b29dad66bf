"""The platform's own image, made by k8s/Dockerfile on the cluster's Python image."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from tests.cluster.node.commands import run
from tests.cluster.node.images import PYTHON_BASE
from tests.cluster.node.place import Place
from tests.cluster.node.stores import filling_bases

_ROOT = Path(__file__).parents[3]
_FILE = _ROOT / "k8s" / "Dockerfile"
_SOURCES = ("requirements/runtime.txt", "worker.py", "activities", "api", "workflows", "sless")
"""What it copies."""
_INDEXES = ("PIP_INDEX_URL", "UV_DEFAULT_INDEX")
"""Where this machine installs from, if that is no usual place."""


def ensure_platform_image(place: Place) -> str:
    """Its address; made and pushed where the present sources have none yet."""
    name = f"sless:{_mark()}"
    there = f"{place.bases}/{name}"
    inspect = ["skopeo", "inspect", "--tls-verify=false", "--raw", f"docker://{there}"]
    if subprocess.run(inspect, capture_output=True, check=False).returncode != 0:
        print(f"Making {name} …", file=sys.stderr)  # noqa: T201  # a command of people
        _make(place, there)
        with filling_bases(place) as address:
            push = ["push", "--quiet", "--tls-verify=false", there, f"docker://{address}/{name}"]
            run([*_buildah(place), *push])
    return there


def _make(place: Place, tag: str) -> None:
    arguments = {"BASE": f"{place.bases}/{PYTHON_BASE}"}
    arguments |= {name: os.environ[name] for name in _INDEXES if name in os.environ}
    given = [f"--build-arg={name}={value}" for name, value in arguments.items()]
    # Its layers are kept: only what changed is made again.
    build = ["bud", "--isolation=chroot", "--layers", "--tls-verify=false", f"--tag={tag}"]
    run([*_buildah(place), *build, *given, f"--file={_FILE}", str(_ROOT)])


def _buildah(place: Place) -> list[str]:
    store = place.cache / "store"
    return ["buildah", "--storage-driver=overlay", f"--root={store}", f"--runroot={store}-run"]


def _mark() -> str:
    """12 hexadecimal digits of all that shapes it."""
    digest = hashlib.sha256(_FILE.read_bytes())
    for source in _SOURCES:
        for path in _files(_ROOT / source):
            digest.update(f"\0{path.relative_to(_ROOT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    return sorted(
        each for each in path.rglob("*") if each.is_file() and "__pycache__" not in each.parts
    )
