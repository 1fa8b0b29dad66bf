"""Starts one function; the composition of everything else here."""

import faulthandler
import os
import signal
import sys
import traceback
from pathlib import Path

from .command import find_command, run_command
from .failure import StartFailed, describe, report
from .isolation import (
    clean_environment,
    enter_function,
    forget_runtime,
    warn_of_hidden_modules,
)
from .settings import Settings, parse_settings


def run() -> int:
    """The process's exit code: 0 after a drain, 1 when the function did not start."""
    log = os.environ.get("SLESS_TERMINATION_LOG")
    try:
        _run(parse_settings(os.environ))
    except StartFailed as failed:
        report(failed, log=log)
    except Exception as error:  # noqa: BLE001 - the last resort must not be silent
        traceback.print_exc()
        report(StartFailed("FunctionCrashed", describe(error)), log=log)
    else:
        return 0
    return 1


def _run(settings: Settings) -> None:
    _write_lines_at_once()
    faulthandler.enable()  # a crash in C leaves a trace in the log
    if not settings.code.is_dir():
        raise StartFailed("HandlerNotFound", f"There is no folder {settings.code} with the code.")
    command = find_command(settings)
    inherited = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    clean_environment(os.environ, settings)
    if command is not None:
        run_command(command, code=settings.code, environ=dict(os.environ))
    _serve(settings, extra=[str(Path(entry).resolve()) for entry in inherited if entry])


def _serve(settings: Settings, *, extra: list[str]) -> None:
    """Imports the server, then the function, then brings them together."""
    from .adapting import make_app
    from .front import Front
    from .search import find_function
    from .server import FunctionServer, open_listener, serve

    signal.signal(signal.SIGTERM, _leave_early)  # the first process of a container ignores it
    front = Front()
    server = FunctionServer(front, drain_seconds=settings.drain_seconds)
    forget_runtime()
    enter_function(settings, extra=extra)
    warn_of_hidden_modules(settings.code)
    found = find_function(settings)
    front.app = make_app(found.target, where=found.where)
    serve(server, front, open_listener(settings.host, settings.port))


def _leave_early(_number: int, _frame: object) -> None:
    os._exit(0)


def _write_lines_at_once() -> None:
    """What the function prints is in the log when its line ends, whatever kills it then."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(  # type: ignore[union-attr]
            encoding="utf-8", errors="backslashreplace", line_buffering=True
        )
