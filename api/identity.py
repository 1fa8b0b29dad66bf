"""Who asks: no route under /v1 is reached without a verified identity."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Path, Request
from fastapi.security import HTTPBearer
from starlette.types import ASGIApp, Receive, Scope, Send

from api.metrics import Metrics
from api.problems import problem_response
from sless.errors import FunctionNotFound, RouteNotFound, SlessError, Unauthenticated
from sless.model.function import FunctionRef
from sless.naming import NAME_MAX, NAMESPACE_MAX, check_name, check_namespace
from sless.tokens import Identity, Verifier
from sless.tokens.faults import TokenFault, refuse

_GUARDED = "/v1"
RUNTIMES = f"{_GUARDED}/runtimes"
"""The same for all: the one route that asks for a token alone."""
FUNCTIONS = f"{_GUARDED}/namespaces/{{ns}}/functions"
FUNCTION = f"{FUNCTIONS}/{{name}}"
"""Below these, routes take `NamespaceDep` or `FunctionDep`: both check the identity."""
_SCHEME = "bearer "

documented = HTTPBearer(
    auto_error=False, description="A token of this server or of a trusted issuer."
)
"""Tells OpenAPI of the token; `Authenticated` is what asks for it."""


@dataclass(frozen=True, slots=True)
class Authenticated:
    """ASGI middleware: a path under /v1 that no route has yet asks for a token too."""

    app: ASGIApp
    verifier: Verifier
    metrics: Metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] == "http" and scope["path"].startswith(_GUARDED):
            request = Request(scope)
            try:
                scope["state"]["identity"] = await self.verifier.verify(_token_of(request))
            except SlessError as error:
                self._count(error)
                await problem_response(request, error)(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def _count(self, error: SlessError) -> None:
        fault = error.fault if isinstance(error, Unauthenticated) else error.reason
        self.metrics.refused_tokens.labels(fault).inc()


def _token_of(request: Request) -> str:
    given = request.headers.getlist("authorization")
    if not given:
        raise refuse(TokenFault.MISSING, "A token is needed: Authorization: Bearer <token>.")
    if len(given) > 1 or not given[0].lower().startswith(_SCHEME):
        raise refuse(TokenFault.MISSING, "The Authorization header must be one: Bearer <token>.")
    return given[0][len(_SCHEME) :].strip()


def no_such_function(ref: FunctionRef) -> FunctionNotFound:
    """The same for a function that is not there and for one that is somebody else's."""
    return FunctionNotFound(f"There is no function {ref.name} in namespace {ref.namespace}.")


def _described(what: str, limit: int) -> Any:
    """Tells OpenAPI the form; `sless.naming` is what checks it, with a better sentence."""
    form = {"pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "minLength": 1, "maxLength": limit}
    return Path(description=what, json_schema_extra=form)


NamespacePath = Annotated[str, _described("The namespace.", NAMESPACE_MAX)]
NamePath = Annotated[str, _described("The function's name.", NAME_MAX)]
BuildPath = Annotated[
    str, Path(description="The build's id.", json_schema_extra={"pattern": "^[0-9a-f]{12}$"})
]


def _namespace(ns: NamespacePath, request: Request) -> str:
    identity: Identity = request.state.identity
    if not identity.may_use(ns):
        raise RouteNotFound(f"There is no namespace {ns[:80]!r} for this token.")
    return check_namespace(ns)


def _function_ref(ns: NamespacePath, name: NamePath, request: Request) -> FunctionRef:
    identity: Identity = request.state.identity
    ref = FunctionRef(ns, name)
    if not identity.may_use(ns):
        raise no_such_function(ref)
    check_namespace(ns)
    check_name(name)
    return ref


NamespaceDep = Annotated[str, Depends(_namespace)]
FunctionDep = Annotated[FunctionRef, Depends(_function_ref)]
"""The function that the path names, in a namespace of the caller's; it may not exist."""
