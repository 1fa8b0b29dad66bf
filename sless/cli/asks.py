"""What every act does once its ask is made: wait, show, and end with the right exit code."""

from sless.cli.api import Api
from sless.cli.exits import Exit, Stop
from sless.cli.log_stream import LogPlace, LogTail
from sless.cli.options import Manner
from sless.cli.output import say, say_fields, say_json
from sless.cli.reporter import Reporter
from sless.cli.shapes import AskReply
from sless.cli.texts import command, sentence, words
from sless.cli.waiting import LOG_END_SECONDS, Answer, place_for, result_of, wait_for
from sless.errors import BadArchive, BadRevision, DependencyFileInvalid, UserFault, error_for
from sless.model.function import FunctionRef
from sless.model.phase import Phase

LAST_LINES = 20
"""Lines of a failed build's log to show where it was not followed."""

_BEFORE_BUILDS = (BadArchive, DependencyFileInvalid)
"""Found before anything was built: there is no log."""


def conclude(
    api: Api, ask: AskReply, *, reporter: Reporter, manner: Manner, seen: LogPlace | None = None
) -> None:
    """Waits if wanted and prints the result; raises `Stop` unless the ask ended Ready.

    `seen` is what the log held before the ask.
    """
    for warning in ask.warnings:
        reporter.note(f"Warning: {warning}")
    if not manner.wait:
        _print_asked(ask, as_json=manner.as_json)
        return
    with reporter:
        answer = wait_for(api, ask, reporter=reporter, seconds=manner.timeout, seen=seen)
        if answer.phase == Phase.FAILED and not answer.log_shown:
            _show_last_lines(api, ask, reporter, seen)
    if manner.as_json:
        say_json(result_of(ask, answer))
    elif answer.ready:
        say(answer.url)
    if not answer.ready:
        raise Stop(_failure(api, ask, answer), Exit.FAILED, reason=answer.reason)


def _print_asked(ask: AskReply, *, as_json: bool) -> None:
    if as_json:
        say_json(result_of(ask, None))
        return
    say_fields(
        [
            ("build", ask.build),
            ("url", ask.url),
            ("log", ask.log_url),
            ("temporal", ask.temporal_url),
        ]
    )


def _show_last_lines(api: Api, ask: AskReply, reporter: Reporter, seen: LogPlace | None) -> None:
    tail = LogTail(api, FunctionRef(ask.namespace, ask.name), place_for(ask, seen))
    for line in tail.finish(LOG_END_SECONDS)[-LAST_LINES:]:
        reporter.log(line)


def _failure(api: Api, ask: AskReply, answer: Answer) -> str:
    if answer.phase == Phase.SUPERSEDED:
        return f"{answer.message} [{answer.reason}]"
    message = sentence(answer.message).rstrip(".") or f"the build ended {answer.phase}"
    reason = f" [{answer.reason}]" if answer.reason else ""
    ref = FunctionRef(ask.namespace, ask.name)
    log = _log(api, ref, answer.reason)
    advice = _advice(ref, answer) + (f" ({log} has the log)" if log else "")
    return f"{ref} {answer.phase.lower()}: {message}{reason}; {advice}."


def _log(api: Api, ref: FunctionRef, reason: str) -> str:
    """What shows the log that tells more about the reason; empty where there is none."""
    fault = error_for(reason, "")
    if isinstance(fault, BadRevision):  # the build went well, and its log has nothing of it
        return str(api.connection.server.function_log(ref) or "")
    if isinstance(fault, _BEFORE_BUILDS):
        return ""
    return command("logs", *words(ref))


def _advice(ref: FunctionRef, answer: Answer) -> str:
    if isinstance(error_for(answer.reason, ""), UserFault):
        return "mend it and deploy again"
    return f"try again with {command('retry', *words(ref))}"
