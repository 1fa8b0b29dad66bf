"""Where the server is, and who we are to it."""

import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from sless.cli.exits import Exit, Stop
from sless.cli.texts import command
from sless.model.function import FunctionRef

_LOOPBACK = {"localhost", "::1"}


@dataclass(slots=True)
class Choices:
    """What options before or after the command's name say about the server."""

    server: str | None = None
    token: str | None = None
    data: Path | None = None
    debug: bool = False


@dataclass(frozen=True, slots=True)
class Server:
    """A server, and the token it knows us by."""

    api: str
    """URL without a slash at its end, like the others."""
    token: str
    gateway: str = ""
    """Empty where only the API can tell."""
    temporal_ui: str = ""
    home: Path | None = None
    """The data folder that told all this; none for a server given by URL."""

    def function_log(self, function: FunctionRef) -> Path | None:
        """The file that a function of this machine's home prints to, once it has."""
        from sless.local.layout import Layout

        path = None if self.home is None else Layout(self.home).function_log(function)
        return path if path is not None and path.is_file() else None

    def advice(self) -> str:
        """What to do when it does not answer."""
        if self.home is None:
            return "check --server (or SLESS_SERVER) and that it is up"
        if _is_up(self.home):
            return f"the home is up and starts it again; try once more, or see {_log(self.home)}"
        return f"start the home with {up_command(self.home)}"


def _is_up(folder: Path) -> bool:
    """Whether the supervisor that wrote home.json runs, whatever became of the API."""
    from sless.local.home import find_home
    from sless.local.layout import Layout
    from sless.local.pidfile import find_mark

    home = find_home(Layout(folder).home)
    mark = find_mark(home.pid) if home else None
    return home is not None and mark is not None and mark.started == home.started


def _log(folder: Path) -> Path:
    from sless.local.layout import Layout

    return Layout(folder).log("api")


def up_command(folder: Path) -> str:
    """The command that starts the home on that data folder."""
    from sless.local.layout import default_data_folder

    return (
        command("up") if folder == default_data_folder() else command("up", "--data", str(folder))
    )


def is_loopback(url: str) -> bool:
    """Whether a URL leads to this machine, past any proxy."""
    host = urlsplit(url).hostname or ""
    return host in _LOOPBACK or host.startswith("127.")


def find_server(choices: Choices) -> Server:
    """The server that options, environment or a running home name; raises `Stop`."""
    url = choices.server or os.environ.get("SLESS_SERVER")
    if url and choices.data is None:
        return Server(_check_url(url), _given_token(choices))
    return _find_home(choices)


def _given_token(choices: Choices) -> str:
    return (choices.token or os.environ.get("SLESS_TOKEN") or "").strip()


def _check_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        known = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        known = False
    if not known:
        raise Stop(
            f"{url!r} is no server's URL: give one such as https://sless.example.", Exit.USAGE
        )
    return url.rstrip("/")


def _find_home(choices: Choices) -> Server:
    # These modules of the home import nothing heavy.
    from sless.local.home import find_home
    from sless.local.layout import Layout, default_data_folder

    folder = choices.data.absolute() if choices.data else default_data_folder()
    home = find_home(Layout(folder).home)
    if home is None:
        raise Stop(
            f"No home is running on {folder}: start one with {up_command(folder)}, or name a "
            "server with --server.",
            Exit.UNREACHABLE,
        )
    token = _given_token(choices) or _read_token(Path(home.token))
    return Server(home.api, token, home.gateway, home.temporal_ui, folder)


def _read_token(path: Path) -> str:
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Stop(
            f"The home's token in {path} cannot be read ({_why(error)}): run this as the user who "
            "started the home, or give --token."
        ) from error


def _why(error: OSError | UnicodeDecodeError) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else "it is no text"
