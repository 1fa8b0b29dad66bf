"""Errors at the HTTP boundary: each becomes an RFC 9457 problem with its reason."""

from collections.abc import Sequence
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import compile_path

from sless import errors
from sless.errors import (
    ContentTypeUnsupported,
    InternalError,
    InvalidSetting,
    MethodNotAllowed,
    RouteNotFound,
    SlessError,
    Transient,
    Unauthenticated,
    VersionConflict,
)

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = 2
"""A part that does not answer is restarted within seconds."""
_INNER = frozenset({"query", "path", "body", "list", "mapping"})
"""Parts of an error's place that are the framework's and the models' own."""
_SHOWN = 3
"""Validation errors named in one sentence."""

log = structlog.get_logger()

TITLES: dict[type[SlessError], str] = {
    errors.BadArchive: "The zip is refused",
    errors.BadRequest: "The request is wrong",
    errors.BadDependencies: "The dependencies cannot be installed",
    errors.BadBuild: "The build failed",
    errors.BadRevision: "The revision did not come up",
    errors.Denied: "Access denied",
    errors.NotFound: "Not found",
    errors.Conflict: "The present state forbids it",
    errors.Transient: "A part does not answer",
    errors.Misconfigured: "The platform needs its operator",
    errors.Ended: "The ask has ended",
    errors.InternalError: "A defect of ours",
}
"""A title for each branch of the error tree; reason and status are the leaf's own."""


def title_of(kind: type[SlessError]) -> str:
    """The title of a leaf's branch."""
    return next(TITLES[branch] for branch in kind.__mro__ if branch in TITLES)


def problem_response(request: Request, error: SlessError) -> JSONResponse:
    """The answer to a request that met this error."""
    status = _status_of(request, error)
    content = {
        "type": f"urn:sless:reason:{error.reason}",
        "title": title_of(type(error)),
        "status": status,
        "detail": error.message,
        "reason": error.reason,
        "instance": request.url.path,
        "requestId": request.state.request_id,
    }
    return JSONResponse(
        content, status_code=status, media_type=MEDIA_TYPE, headers=_headers_of(error)
    )


def _status_of(request: Request, error: SlessError) -> int:
    # RFC 9110: a failed If-Match is answered 412; the same race without one is a plain conflict.
    conditional = isinstance(error, VersionConflict) and "if-match" in request.headers
    return 412 if conditional else error.status


def _headers_of(error: SlessError) -> dict[str, str]:
    if isinstance(error, Unauthenticated):
        return {"WWW-Authenticate": 'Bearer realm="sless", error="invalid_token"'}
    if isinstance(error, Transient):
        return {"Retry-After": str(RETRY_AFTER_SECONDS)}
    return {}


def handle_problems(app: FastAPI) -> None:
    """Has every error that a route raises answered as a problem."""
    app.add_exception_handler(SlessError, _on_own)
    app.add_exception_handler(HTTPException, _on_framework)
    app.add_exception_handler(RequestValidationError, _on_validation)


async def _on_own(request: Request, error: Exception) -> JSONResponse:
    known = error if isinstance(error, SlessError) else InternalError(str(error))
    if isinstance(known, Transient):
        log.warning("a part does not answer", reason=known.reason, detail=known.message)
    return problem_response(request, known)


async def _on_validation(request: Request, error: Exception) -> JSONResponse:
    found = error.errors() if isinstance(error, RequestValidationError) else []
    return problem_response(request, InvalidSetting(describe_invalid(found)))


async def _on_framework(request: Request, error: Exception) -> JSONResponse:
    status = error.status_code if isinstance(error, HTTPException) else 500
    response = problem_response(request, _framework_error(request, status, str(error)))
    if status == MethodNotAllowed.status:
        response.headers["Allow"] = ", ".join(_methods_at(request))
    return response


def _methods_at(request: Request) -> list[str]:
    """All methods of an address: the framework names those of its first route alone."""
    paths = request.app.openapi()["paths"]
    matching = (paths[path] for path in paths if compile_path(path)[0].match(request.url.path))
    return sorted({method.upper() for methods in matching for method in methods})


def _framework_error(request: Request, status: int, text: str) -> SlessError:
    """The framework itself raises these few."""
    path = request.url.path[:200]
    if status == MethodNotAllowed.status:
        return MethodNotAllowed(f"{path} does not take {request.method}.")
    if status == RouteNotFound.status:
        return RouteNotFound(f"There is nothing at {path}; GET /openapi.json lists what there is.")
    if status == ContentTypeUnsupported.status:
        return ContentTypeUnsupported(text)
    return InvalidSetting(text) if status < InternalError.status else InternalError(text)


def describe_invalid(found: Sequence[Any]) -> str:
    """One sentence for pydantic's errors: where, and what is wrong there."""
    shown = [f"{_place(error['loc'])}: {_message(error)}" for error in found[:_SHOWN]]
    more = f" (and {len(found) - _SHOWN} more)" if len(found) > _SHOWN else ""
    return "; ".join(shown) + more + "."


def _place(location: Sequence[int | str]) -> str:
    kept = [str(part)[:80] for part in location if part not in _INNER]
    return ".".join(kept) or "The body"


def _message(error: Any) -> str:
    if error["type"] == "extra_forbidden":
        return "there is no such field"
    message: str = error["msg"]
    return message[:1].lower() + message[1:]
