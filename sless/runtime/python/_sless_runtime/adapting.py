"""The function's object as an ASGI app, whatever kind it is."""

from typing import Any, cast

from .asgi import App
from .handling import HandlerApp
from .kinds import Kind, find_kind
from .threads import Threads
from .wsgi import WsgiAdapter


def make_app(target: object, *, where: str) -> App:
    """The app; `where` names the object in the `StartFailed` raised if it is nothing of ours."""
    function = cast("Any", target)
    match find_kind(target, where=where):
        case Kind.HANDLER:
            return HandlerApp(function, Threads())
        case Kind.WSGI:
            return WsgiAdapter(function, Threads())
        case Kind.ASGI:
            return cast("App", target)
