"""Whether an object is a handler, an ASGI or a WSGI app: by what it can be called with."""

import enum
import inspect
from collections.abc import Callable
from typing import Any

from .failure import StartFailed

APP_NAMES = frozenset({"app", "application", "asgi", "asgi_app"})
"""Names under which a coroutine function of `*args` is taken for an ASGI app."""
_ASGI_ARGUMENTS = 3
_WSGI_ARGUMENTS = 2


class Kind(enum.Enum):
    """How an object is called."""

    HANDLER = "handler(request)"
    ASGI = "app(scope, receive, send)"
    WSGI = "app(environ, start_response)"


def find_kind(target: object, *, where: str) -> Kind:
    """The kind of that object; `where` names it in the `StartFailed` raised for none."""
    if inspect.isclass(target):
        raise _not_callable_so(where, "is a class; make an instance, or a function of it")
    if not callable(target):
        raise _not_callable_so(where, f"is of type {type(target).__name__}, which nobody can call")
    arguments = _required_arguments(target)
    if arguments is None:  # *args
        named = where.rpartition(":")[2].rpartition(".")[2]
        return Kind.ASGI if is_async(target) and named in APP_NAMES else Kind.HANDLER
    return _kind_by_arguments(arguments, where=where)


def is_async(target: Callable[..., Any]) -> bool:
    """Whether calling it only makes a coroutine or an async generator, so never blocks."""
    call = type(target).__call__ if not inspect.isroutine(target) else target
    return any(
        inspect.iscoroutinefunction(each) or inspect.isasyncgenfunction(each)
        for each in (target, call)
    )


def _kind_by_arguments(arguments: list[str], *, where: str) -> Kind:
    if len(arguments) == 1:
        return Kind.HANDLER
    if len(arguments) == _ASGI_ARGUMENTS:
        return Kind.ASGI
    if len(arguments) == _WSGI_ARGUMENTS and arguments != ["event", "context"]:
        return Kind.WSGI
    told = ", ".join(arguments) or "nothing"
    raise _not_callable_so(where, f"takes {told}; a handler takes one argument, the request")


def _required_arguments(target: Callable[..., Any]) -> list[str] | None:
    """The positional arguments it must be given; None for any number.

    A handler whose only argument has a default is given the request all the same.
    """
    try:
        parameters = list(inspect.signature(target).parameters.values())
    except (TypeError, ValueError):  # some callables in C have no signature
        return None
    positional = [
        each
        for each in parameters
        if each.kind in {each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD}
    ]
    required = [each.name for each in positional if each.default is each.empty]
    if not required and any(each.kind is each.VAR_POSITIONAL for each in parameters):
        return None
    return required or [each.name for each in positional[:1]]


def _not_callable_so(where: str, problem: str) -> StartFailed:
    return StartFailed("HandlerNotFound", f"{where} {problem}.")
