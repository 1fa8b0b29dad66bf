"""Around every request: its id, one line of log, its counters, and an answer to a defect."""

import re
import time
import uuid
from dataclasses import dataclass, field

import structlog
from fastapi import Request
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.metrics import Metrics
from api.problems import problem_response
from sless.errors import InternalError

HEADER = b"x-request-id"
_SANE = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_GONE = 499
"""The status noted for a client that left: nothing is sent."""

log = structlog.get_logger()


@dataclass(slots=True)
class _Answer:
    """Sends on, and remembers what was begun."""

    send: Send
    request_id: str
    status: int = 0
    began: float = field(default_factory=time.perf_counter)

    async def pass_on(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message.get("headers", []), (HEADER, self.request_id.encode())]
        await self.send(message)


@dataclass(frozen=True, slots=True)
class Observed:
    """ASGI middleware; the outermost of ours."""

    app: ASGIApp
    metrics: Metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        answer = _Answer(send, _request_id(scope))
        scope.setdefault("state", {})["request_id"] = answer.request_id
        with (
            structlog.contextvars.bound_contextvars(request_id=answer.request_id),
            self.metrics.in_flight.track_inprogress(),
        ):
            try:
                await self._serve(scope, receive, answer)
            finally:
                self._note(scope, answer)

    async def _serve(self, scope: Scope, receive: Receive, answer: _Answer) -> None:
        try:
            await self.app(scope, receive, answer.pass_on)
        except ClientDisconnect:
            answer.status = _GONE
        except Exception:
            log.exception("request failed by a defect")
            if answer.status:
                raise
            error = InternalError(
                f"A defect of ours; the log tells more under {answer.request_id}."
            )
            response = problem_response(Request(scope), error)
            await response(scope, receive, answer.pass_on)

    def _note(self, scope: Scope, answer: _Answer) -> None:
        seconds = time.perf_counter() - answer.began
        route = getattr(scope.get("route"), "path", "none")
        method, status = scope["method"], answer.status or _GONE
        identity = scope["state"].get("identity")
        self.metrics.requests.labels(_known(method), route, status).inc()
        self.metrics.seconds.labels(_known(method), route).observe(seconds)
        log.info(
            "request",
            method=method,
            path=scope["path"],
            status=status,
            seconds=round(seconds, 4),
            sub=getattr(identity, "sub", ""),
            issuer=getattr(identity, "issuer", ""),
        )


def _known(method: str) -> str:
    return method if method in {"GET", "HEAD", "PUT", "POST", "PATCH", "DELETE"} else "other"


def _request_id(scope: Scope) -> str:
    given = next((value for name, value in scope["headers"] if name == HEADER), b"")
    return given.decode() if _SANE.fullmatch(given) else uuid.uuid4().hex
