"""What a caller reads when the gateway itself has to answer: one table.

A function's own answers are never touched, whatever their status.
"""

from dataclasses import dataclass
from http import HTTPStatus

from sless.errors import FunctionNotFound, RouteNotFound
from sless.gateway.proto import Json

CALLER = "caller"
GATEWAY = "gateway"
FUNCTION = "function"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One kind of answer; the first in the table that fits is given."""

    reason: str
    """A stable word."""
    layer: str
    """Whose fault: the caller's, the gateway's, the function's."""
    status: int
    detail: str
    flags: tuple[str, ...] = ()
    """Envoy's response flags, any of them; without, the status alone decides."""
    below: str = ""
    """Only for paths that start so."""


FAILURES = (
    Failure(
        reason=FunctionNotFound.reason,
        layer=GATEWAY,
        status=404,
        flags=("NR",),
        below="/fn/",
        detail="No such function in that namespace; addresses are /fn/<namespace>/<name>/.",
    ),
    Failure(
        reason=RouteNotFound.reason,
        layer=GATEWAY,
        status=404,
        detail="No such address; functions are at /fn/<namespace>/<name>/.",
    ),
    Failure(
        reason="NoRunningRevision",
        layer=FUNCTION,
        status=503,
        flags=("UH", "NC"),
        detail="The function is known, but nothing of it is running.",
    ),
    Failure(
        reason="FunctionUnreachable",
        layer=FUNCTION,
        status=503,
        flags=("UF",),
        detail="The function's process did not accept the connection; nothing was sent.",
    ),
    Failure(
        reason="FunctionBroke",
        layer=FUNCTION,
        status=503,
        flags=("UC", "UR", "LR"),
        detail="The function closed the connection before it answered.",
    ),
    Failure(
        reason="FunctionTimedOut",
        layer=FUNCTION,
        status=504,
        detail="The function was silent for longer than the idle timeout.",
    ),
    Failure(
        reason="InvalidResponse",
        layer=FUNCTION,
        status=502,
        detail="The function's answer is no valid HTTP.",
    ),
    Failure(
        reason="GatewayOverloaded",
        layer=GATEWAY,
        status=503,
        detail="Too many requests at once; try again.",
    ),
    Failure(
        reason="RequestTimedOut",
        layer=CALLER,
        status=408,
        detail="The request did not arrive whole in time.",
    ),
    Failure(
        reason="HeadersTooLarge",
        layer=CALLER,
        status=431,
        detail="The request's headers are too many or too large.",
    ),
    Failure(
        reason="MethodNotAllowed",
        layer=CALLER,
        status=405,
        detail="TRACE and CONNECT are not passed to functions.",
    ),
    Failure(
        reason="UpgradeRefused",
        layer=CALLER,
        status=403,
        detail="The only upgrade that is passed to functions is to websocket.",
    ),
    Failure(
        reason="TransferEncodingUnsupported",
        layer=CALLER,
        status=501,
        detail="The only Transfer-Encoding is chunked.",
    ),
    Failure(
        reason="InvalidRequest",
        layer=CALLER,
        status=400,
        detail="The request is no valid HTTP.",
    ),
)


def render_local_replies() -> Json:
    """Envoy's LocalReplyConfig: RFC 9457 problems, each with its request id."""
    other = Failure(
        reason="GatewayFailed", layer=GATEWAY, status=500, detail="The gateway could not answer."
    )
    return {
        "mappers": [mapper for failure in FAILURES for mapper in _mappers(failure)],
        "body_format": _body(other),
    }


def _mappers(failure: Failure) -> list[Json]:
    identified = {
        "filter": {"and_filter": {"filters": [*_filters(failure), _has_request_id()]}},
        "body_format_override": _body(failure),
    }
    if failure.layer != CALLER:
        return [identified]
    # A request too broken to be read has got no id yet: it gets one with the answer.
    filters = _filters(failure)
    broken = {
        "filter": filters[0] if len(filters) == 1 else {"and_filter": {"filters": filters}},
        "headers_to_add": [{"header": {"key": "x-request-id", "value": "%UNIQUE_ID%"}}],
        "body_format_override": _body(failure, request_id="%RESP(X-REQUEST-ID)%"),
    }
    return [identified, broken]


def _filters(failure: Failure) -> list[Json]:
    filters = [_status_is(failure.status)]
    if failure.flags:
        filters.append({"response_flag_filter": {"flags": list(failure.flags)}})
    if failure.below:
        path = {"name": ":path", "string_match": {"prefix": failure.below}}
        filters.append({"header_filter": {"header": path}})
    return filters


def _has_request_id() -> Json:
    return {"header_filter": {"header": {"name": "x-request-id", "present_match": True}}}


def _status_is(status: int) -> Json:
    value = {"default_value": status, "runtime_key": "sless.unset"}
    return {"status_code_filter": {"comparison": {"op": "EQ", "value": value}}}


def _body(failure: Failure, request_id: str = "%STREAM_ID%") -> Json:
    problem = {
        "type": f"urn:sless:reason:{failure.reason}",
        "title": HTTPStatus(failure.status).phrase,
        "status": "%RESPONSE_CODE%",
        "detail": failure.detail,
        "reason": failure.reason,
        "layer": failure.layer,
        "requestId": request_id,
    }
    return {"json_format": problem, "content_type": "application/problem+json"}
