"""How a process without a port of its own tells that it is ready: by a file."""

from sless.settings import Settings


def tell_ready(settings: Settings) -> None:
    """Makes the file that `SLESS_READY_FILE` names, if any: whoever started us waits for it."""
    if settings.ready_file is not None:
        settings.ready_file.touch()


def retract_ready(settings: Settings) -> None:
    """Takes it away again: a container that is started anew finds what the one before it told."""
    if settings.ready_file is not None:
        settings.ready_file.unlink(missing_ok=True)
