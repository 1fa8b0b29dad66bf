"""An image registry as an ASGI application: manifests only, with a will of its own."""

import base64
import hashlib
import json
from collections import deque
from dataclasses import dataclass, field
from typing import Literal

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

USER, PASSWORD = "builder", "only-for-tests"
OCI = "application/vnd.oci.image.manifest.v1+json"


@dataclass
class FakeRegistry:
    """Takes what it is given, as long as it is asked by somebody it knows."""

    asks: Literal["nothing", "basic", "bearer"] = "nothing"
    forbids: bool = False
    """Whether it answers 403, and asks nothing, where a password is no longer good: as ECR."""
    moves_tags: bool = True
    """False: as where tags are immutable."""
    answers: deque[Response] = field(default_factory=deque)
    """Given instead of the next answers about manifests."""
    sold: Response | None = None
    """Given instead of a token."""
    requests: list[str] = field(default_factory=list)
    """Method and path of each, in order."""
    token: str = "t1"
    """Another one ends the validity of those that were given."""
    manifests: dict[tuple[str, str], tuple[bytes, str]] = field(default_factory=dict)
    """By repository and digest: bytes and media type."""
    tags: dict[tuple[str, str], str] = field(default_factory=dict)

    def app(self) -> Starlette:
        """The application."""
        path = "/v2/{repository:path}/manifests/{reference}"
        return Starlette(
            routes=[
                Route("/token", self._give_token),
                Route(path, self._manifest, methods=["GET", "PUT"]),
            ]
        )

    def push(self, repository: str, content: str, tag: str, *, kind: str = OCI) -> str:
        """What a builder does; the digest."""
        body = json.dumps({"mediaType": kind, "annotations": {"content": content}}).encode()
        return self._store(repository, tag, body, kind)

    def remove(self, repository: str, digest: str) -> None:
        """What a careless person does."""
        del self.manifests[repository, digest]

    def _store(self, repository: str, tag: str, body: bytes, kind: str) -> str:
        digest = f"sha256:{hashlib.sha256(body).hexdigest()}"
        self.manifests[repository, digest] = (body, kind)
        self.tags[repository, tag] = digest
        return digest

    async def _manifest(self, request: Request) -> Response:
        self.requests.append(f"{request.method} {request.url.path}")
        if self.answers:
            return self.answers.popleft()
        refusal = self._refusal(request)
        if refusal:
            return refusal
        repository, reference = request.path_params["repository"], request.path_params["reference"]
        if request.method == "PUT":
            return await self._put(request, repository, reference)
        digest = self.tags.get((repository, reference), reference)
        content, kind = self.manifests.get((repository, digest), (b"", ""))
        if not kind:
            return problem(404, "MANIFEST_UNKNOWN")
        return Response(content, media_type=kind, headers={"Docker-Content-Digest": digest})

    async def _put(self, request: Request, repository: str, tag: str) -> Response:
        if not self.moves_tags and (repository, tag) in self.tags:
            return problem(400, "TAG_INVALID")
        kind = request.headers["content-type"]
        self._store(repository, tag, await request.body(), kind)
        return Response(status_code=201)

    def _refusal(self, request: Request) -> Response | None:
        write = ",push" if request.method == "PUT" else ""
        scope = f"repository:{request.path_params['repository']}:pull{write}"
        told = request.headers.get("authorization", "")
        if self.forbids and self.asks == "basic" and told not in {"", _basic()}:
            return problem(403, "DENIED")
        match self.asks:
            case "basic" if told != _basic():
                return _asking('Basic realm="registry"')
            case "bearer" if told not in {f"Bearer {self.token} {scope}", self._writer(scope)}:
                realm = f"{request.url.scheme}://{request.url.netloc}/token"
                return _asking(f'Bearer realm="{realm}",service="reg",scope="{scope}"')
        return None

    def _writer(self, scope: str) -> str:
        return f"Bearer {self.token} {scope.removesuffix(',push')},push"

    async def _give_token(self, request: Request) -> Response:
        self.requests.append("GET /token")
        if self.sold is not None:
            return self.sold
        if request.headers.get("authorization") != _basic():
            return problem(401, "UNAUTHORIZED")
        assert request.query_params["service"] == "reg"
        return JSONResponse({"token": f"{self.token} {request.query_params['scope']}"})


def problem(status: int, code: str, headers: dict[str, str] | None = None) -> Response:
    """A refusal in the form of the distribution specification."""
    error = {"code": code, "message": f"the message of {code}"}
    return JSONResponse({"errors": [error]}, status_code=status, headers=headers)


def _asking(challenge: str) -> Response:
    return problem(401, "UNAUTHORIZED", {"WWW-Authenticate": challenge})


def _basic() -> str:
    return f"Basic {base64.b64encode(f'{USER}:{PASSWORD}'.encode()).decode()}"
