"""The data folder: made, checked, and owned by one `sless up` at a time."""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sless.errors import InvalidSetting
from sless.files import write_atomically
from sless.local.home import Home, find_home
from sless.local.layout import Layout

FORMAT = 1
"""Of the data folder; it rises when an older sless could not read what a newer one wrote."""

_SOCKET_PATH_MAX = 107
"""Bytes in a Unix socket's path: the kernel's limit, less the final NUL."""
_LONGEST_SOCKET = "/envoy/admin.sock"
_FREE_BYTES = 128 * 1024 * 1024
"""Less than this and SeaweedFS could not make its first volume file."""


@contextmanager
def owned_folder(root: Path, *, version: str) -> Iterator[Layout]:
    """The data folder, made if absent and locked; raises `InvalidSetting` with what to do."""
    layout = Layout(root.absolute())
    _check_length(layout)
    with _explained(layout):
        layout.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not layout.lock.exists():
            _make_ours(layout)
        descriptor = os.open(layout.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        with _explained(layout):
            _lock(descriptor, layout)
            _check_format(layout, version)
            _check_room(layout)
            _make(layout)
        yield layout
    finally:
        os.close(descriptor)


@contextmanager
def _explained(layout: Layout) -> Iterator[None]:
    """Turns what the system says into a sentence."""
    try:
        yield
    except OSError as error:
        where = error.filename or layout.root
        why = (error.strerror or str(error)).lower()
        raise InvalidSetting(
            f"The data folder {layout.root} cannot be used: {where}: {why}. "
            "Mend that, or choose another with --data DIR."
        ) from error


def _check_length(layout: Layout) -> None:
    excess = len(os.fsencode(layout.root)) + len(_LONGEST_SOCKET) - _SOCKET_PATH_MAX
    if excess > 0:
        raise InvalidSetting(
            f"The path {layout.root} is {excess} bytes too long for the Unix sockets in it: "
            "choose a shorter one with --data DIR."
        )


def _make_ours(layout: Layout) -> None:
    if any(layout.root.iterdir()):
        raise InvalidSetting(
            f"{layout.root} holds files but is no data folder of sless: "
            "choose an empty or a new one with --data DIR."
        )
    # It may be open to others, and home.db will hold the functions' variables.
    with suppress(PermissionError):  # a folder of somebody else's, such as a mounted volume
        layout.root.chmod(0o700)


def _make(layout: Layout) -> None:
    for folder in (
        layout.keys,
        layout.s3,
        layout.envoy,
        layout.images,
        layout.jobs,
        layout.functions,
        layout.uploads,
        layout.run,
        layout.logs,
    ):
        folder.mkdir(exist_ok=True, mode=0o700)


def _lock(descriptor: int, layout: Layout) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        owner = os.read(descriptor, 32).decode(errors="replace").strip()
        raise InvalidSetting(_owned(layout, owner, find_home(layout.home))) from None
    os.ftruncate(descriptor, 0)
    os.write(descriptor, str(os.getpid()).encode())


def _owned(layout: Layout, owner: str, home: Home | None) -> str:
    up = f"Another sless up (pid {owner or 'unknown'}) has {layout.root}"
    if home is None or str(home.pid) != owner:
        return f"{up} and is starting or stopping: wait for it, or choose another --data DIR."
    return (
        f"{up}: its API is {home.api}, its gateway {home.gateway}, Temporal UI {home.temporal_ui}. "
        "Use it, stop it with Ctrl-C, or choose another --data DIR."
    )


def _check_format(layout: Layout, version: str) -> None:
    try:
        found = json.loads(layout.format.read_bytes())
        number, maker = int(found["format"]), str(found["sless"])
    except FileNotFoundError:
        number, maker = 0, ""
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidSetting(
            f"{layout.format} cannot be read, so {layout.root} may be no data folder of sless: "
            "restore the file, or choose another --data DIR."
        ) from error
    if number > FORMAT:
        raise InvalidSetting(
            f"{layout.root} was made by sless {maker}, which is newer than this sless {version}: "
            "upgrade sless, or choose another --data DIR."
        )
    if number < FORMAT:
        write_atomically(layout.format, json.dumps({"format": FORMAT, "sless": version}).encode())


def _check_room(layout: Layout) -> None:
    free = shutil.disk_usage(layout.root).free
    if free < _FREE_BYTES:
        raise InvalidSetting(
            f"The disk of {layout.root} has {free // 2**20} MiB left; sless needs at least "
            f"{_FREE_BYTES // 2**20}: make room, or choose another --data DIR."
        )
