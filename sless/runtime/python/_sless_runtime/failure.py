"""Why a function did not start: one reason, one sentence, and the function's part of a traceback.

The reasons are words of the platform's error tree: HandlerNotFound, HandlerImportFailed and
FunctionCrashed.
"""

import contextlib
import json
import sys
import traceback
from pathlib import Path
from types import TracebackType

MESSAGE_MAX = 1000
"""Characters of a message: Kubernetes keeps 4096 bytes of a termination log."""

OWN_ROOT = str(Path(__file__).resolve().parent.parent)


class StartFailed(Exception):
    """The function cannot be started; the message is one sentence for its author."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


def describe(error: BaseException) -> str:
    """An exception in one line, as a traceback ends: `ValueError: no such colour`."""
    if isinstance(error, SyntaxError):  # its last line would lack file and line
        return f"{type(error).__name__}: {error}"
    lines = traceback.format_exception_only(error)[: 1 + str(error).count("\n")]
    return "; ".join(part.strip() for line in lines for part in line.splitlines() if part.strip())


def print_traceback(error: BaseException) -> None:
    """The traceback on stderr, from the first frame that is not the runtime's."""
    told: BaseException | None = error
    while told is not None:
        told.__traceback__ = _trim(told.__traceback__)
        told = told.__cause__ or (None if told.__suppress_context__ else told.__context__)
    traceback.print_exception(error, file=sys.stderr)
    sys.stderr.flush()


def _trim(frames: TracebackType | None) -> TracebackType | None:
    """Leaves away leading frames of the runtime, and of the standard library it went through."""
    hidden = (OWN_ROOT, "<frozen ", str(Path(contextlib.__file__).parent))
    while frames is not None:
        name = frames.tb_frame.f_code.co_filename
        if not name.startswith(hidden) or "site-packages" in name:
            return frames
        frames = frames.tb_next
    return None


def report(failed: StartFailed, *, log: str | None) -> None:
    """Says it on stderr for people, and in the termination log as one line of JSON."""
    line = " ".join(failed.message.split())[:MESSAGE_MAX]
    print(f"sless: {failed.reason}: {line}", file=sys.stderr, flush=True)  # noqa: T201 - the log
    if log:
        with contextlib.suppress(OSError):  # stderr has it; there is nobody else to tell
            Path(log).write_text(json.dumps({"reason": failed.reason, "message": line}) + "\n")
