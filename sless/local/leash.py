"""Runs a command that dies with its parent: `python leash.py PARENT HOLD COMMAND…`.

The kernel's parent-death signal is set between fork and exec. Doing it in a program of its own,
instead of a hook in the forked copy of the supervisor, is safe whatever threads that one has. The
signal comes when the *thread* that forked ends: start commands from the main thread only.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_HOLDING, _LOOSE = "holding", "loose"
_NOT_RUN = 127
"""Exit code of a command that could not be run, as in a shell."""


def leashed(command: tuple[str, ...], *, parent: int, holding: bool = False) -> tuple[str, ...]:
    """The command line that runs `command` on a leash held by the process `parent`.

    With `holding` the command keeps what it starts: a daemon that leaves its parent stays below
    the command, where it is found when the command is ended.
    """
    hold = _HOLDING if holding else _LOOSE
    # -I and -S: neither the user's variables nor site-packages, which would cost 100 ms.
    return (sys.executable, "-I", "-S", __file__, str(parent), hold, *command)


def main(arguments: list[str]) -> int:
    """Becomes the command; returns only where that failed."""
    parent, hold, *command = arguments
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if hold == _HOLDING:
        libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)  # kept across exec
    if os.getppid() != int(parent):
        return _NOT_RUN  # the parent died before the leash held
    try:
        os.execvp(command[0], command)  # noqa: S606 - becoming the command is the point
    except OSError as error:
        sys.stderr.write(f"{command[0]} cannot be run: {error.strerror}\n")
        return _NOT_RUN


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
