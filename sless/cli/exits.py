"""How a command ends: its exit code, and the sentence that goes with it.

The table here is the CLI's boundary for `sless.errors`; a test walks the tree.
"""

from enum import IntEnum

from sless.errors import (
    BadRequest,
    Ended,
    InternalError,
    Misconfigured,
    Refusal,
    SlessError,
    Transient,
    UserFault,
    error_for,
)


class Exit(IntEnum):
    """Exit codes; they are part of the interface."""

    DONE = 0
    FAILED = 1
    """The build or the call failed, or the server refused."""
    USAGE = 2
    """Called wrongly: the same command line will never do."""
    UNREACHABLE = 3
    """No server answered, or it could not work just then: the same command may do later."""
    INTERRUPTED = 130
    """Ctrl-C, as shells count it: 128 and SIGINT."""
    BROKEN_PIPE = 141
    """Whoever read the output left, as in `sless list | head -1`: 128 and SIGPIPE."""


_BY_BRANCH: dict[type[SlessError], Exit] = {
    BadRequest: Exit.USAGE,
    UserFault: Exit.FAILED,
    Refusal: Exit.FAILED,
    Transient: Exit.UNREACHABLE,
    Misconfigured: Exit.FAILED,
    Ended: Exit.FAILED,
    InternalError: Exit.FAILED,
}


def exit_for(reason: str) -> Exit:
    """The exit code for the reason in a problem that the API answered."""
    kind = type(error_for(reason, ""))
    return next(_BY_BRANCH[branch] for branch in kind.__mro__ if branch in _BY_BRANCH)


class Stop(Exception):
    """Ends the command with one sentence on stderr and that exit code."""

    def __init__(self, sentence: str, code: Exit = Exit.FAILED, *, reason: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.code = code
        self.reason = reason
        """The API's own word for it, empty where it was not the API that refused."""
