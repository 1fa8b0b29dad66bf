"""A real HTTP server that answers like the API, by a script that the test writes."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from hashlib import sha256
from io import BytesIO
from typing import Any, Self

import uvicorn
from python_multipart import parse_form
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from sless.errors import (
    FunctionNotFound,
    RouteNotFound,
    SlessError,
    Unauthenticated,
    VersionConflict,
)
from sless.naming import S3Key, build_id

TOKEN = "a-token"
LOG = [
    ("n1/build/00014", "Collecting lib\n"),
    ("n1/build/00024", "Installed"),
    ("n1/build/25", " 1\n"),
]


@dataclass(frozen=True, slots=True)
class Upload:
    """What arrived with a PUT."""

    namespace: str
    name: str
    query: dict[str, str]
    zip: bytes
    settings: dict[str, Any]


@dataclass(slots=True)
class ScriptedApi:
    """Functions in memory; each GET of one takes its ask one phase further."""

    phases: list[dict[str, Any]] = field(
        default_factory=lambda: [
            {"phase": "Pending"},
            {"phase": "Building"},
            {"phase": "Deploying"},
            {"phase": "Ready"},
        ]
    )
    """What an ask goes through; the last one stays."""
    log: list[tuple[str, str]] = field(default_factory=lambda: list(LOG))
    log_end: dict[str, str] = field(default_factory=lambda: {"phase": "Ready"})
    cut_after: int | None = None
    """Events after which each log stream is cut."""
    overrides: dict[str, Callable[[Request], Response]] = field(default_factory=dict)
    """Answers by `METHOD path`, before all else."""
    functions: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    builds: list[dict[str, Any]] = field(default_factory=list)
    revisions: list[dict[str, Any]] = field(default_factory=list)
    runtimes: dict[str, str] | None = field(
        default_factory=lambda: dict.fromkeys(("python3.11", "node20", "node22"), "")
    )
    """What is offered, with what the machine lacks of it; none for a server that does not tell."""
    uploads: list[Upload] = field(default_factory=list)
    before_act: Callable[[], None] = lambda: None
    """Runs when an act or a PATCH arrives: what happens meanwhile."""
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    url: str = ""
    _ahead: dict[tuple[str, str], list[dict[str, Any]]] = field(default_factory=dict)

    def ask(self, namespace: str, name: str, **spec: Any) -> dict[str, Any]:
        """Writes a spec as the API does, and answers what its 202 says."""
        key = (namespace, name)
        manifest = self.functions.setdefault(key, self._new(namespace, name))
        manifest["metadata"]["generation"] += 1
        manifest["spec"] |= spec
        self._ahead[key] = list(self.phases)
        manifest["metadata"]["resourceVersion"] = str(manifest["metadata"]["generation"])
        return self._accepted(manifest)

    def app(self) -> Starlette:
        """The routes."""
        function = "/v1/namespaces/{ns}/functions/{name}"
        build = f"{function}/builds/{{build}}"
        return Starlette(
            routes=[
                Route("/v1/runtimes", self._guard(self._runtimes)),
                Route("/v1/namespaces/{ns}/functions", self._guard(self._list)),
                Route(function, self._guard(self._function), methods=["GET", "PATCH", "DELETE"]),
                Route(f"{function}/code", self._guard(self._upload), methods=["PUT"]),
                Route(f"{function}/builds", self._guard(self._builds)),
                Route(f"{function}/revisions", self._guard(self._revisions)),
                Route(f"{build}/log", self._guard(self._log)),
                Route(f"{build}/cancel", self._guard(self._cancel), methods=["POST"]),
                Route(f"{function}/{{verb}}", self._guard(self._act), methods=["POST"]),
                Route("/fn/{rest:path}", self._invoked, methods=["GET", "POST", "PUT"]),
            ]
        )  # fmt: skip

    def _guard(self, route: Callable[[Request], Any]) -> Callable[[Request], Any]:
        async def guarded(request: Request) -> Response:
            self.requests.append((f"{request.method} {request.url.path}", dict(request.headers)))
            override = self.overrides.get(f"{request.method} {request.url.path}")
            if override is not None:
                return override(request)
            if request.headers.get("authorization") != f"Bearer {TOKEN}":
                return problem(Unauthenticated("The request carries no token that holds."))
            key = (request.path_params.get("ns", ""), request.path_params.get("name", ""))
            if key[1] and key not in self.functions and request.method != "PUT":
                return problem(FunctionNotFound(f"There is no function {key[0]}/{key[1]}."))
            response = await route(request)
            assert isinstance(response, Response)
            return response

        return guarded

    async def _runtimes(self, _: Request) -> Response:
        if self.runtimes is None:
            return problem(RouteNotFound("There is nothing at /v1/runtimes."))
        items = [{"name": name, "missing": cure} for name, cure in self.runtimes.items()]
        return JSONResponse({"items": items})

    async def _list(self, request: Request) -> Response:
        names = sorted(key for key in self.functions if key[0] == request.path_params["ns"])
        after = request.query_params.get("after", "")
        page = [key for key in names if key[1] > after][:2]
        more = page[-1][1] if page and page[-1] != names[-1] else ""
        return JSONResponse({"items": [self.functions[key] for key in page], "next": more})

    async def _function(self, request: Request) -> Response:
        key = (request.path_params["ns"], request.path_params["name"])
        if request.method == "DELETE":
            del self.functions[key]
            return Response(status_code=204)
        if request.method == "PATCH":
            self.before_act()
            version = self.functions[key]["metadata"]["resourceVersion"]
            if request.headers.get("if-match", f'"{version}"') != f'"{version}"':
                return problem(VersionConflict("It changed meanwhile."))
            spec = (await request.json())["spec"]
            return JSONResponse(self.ask(*key, **spec), status_code=202)
        self._advance(key)
        return JSONResponse(self.functions[key])

    def _advance(self, key: tuple[str, str]) -> None:
        ahead = self._ahead.get(key)
        if ahead:
            manifest = self.functions[key]
            status = {"observedGeneration": manifest["metadata"]["generation"], **ahead.pop(0)}
            manifest["status"] |= {"reason": "", "message": "", **status}

    async def _upload(self, request: Request) -> Response:
        key = (request.path_params["ns"], request.path_params["name"])
        zip_, settings = _parse_multipart(dict(request.headers), await request.body())
        query = dict(request.query_params)
        self.uploads.append(Upload(*key, query, zip_, settings))
        s3_key = S3Key(*key, sha256=sha256(zip_).hexdigest(), runtime=query["runtime"])
        spec = {"s3Key": str(s3_key), "runtime": query["runtime"], **settings}
        return JSONResponse(self.ask(*key, **spec), status_code=202)

    async def _builds(self, request: Request) -> Response:
        limit = int(request.query_params.get("limit", "100"))
        return JSONResponse({"items": self.builds[:limit], "next": ""})

    async def _revisions(self, _: Request) -> Response:
        return JSONResponse({"items": self.revisions, "next": ""})

    async def _cancel(self, request: Request) -> Response:
        return JSONResponse({"build": request.path_params["build"]}, status_code=202)

    async def _act(self, request: Request) -> Response:
        self.before_act()
        self.bodies.append(await request.body())
        key = (request.path_params["ns"], request.path_params["name"])
        return JSONResponse(self.ask(*key), status_code=202)

    async def _log(self, request: Request) -> Response:
        if "follow" not in request.query_params:
            return PlainTextResponse("".join(text for _, text in self.log))
        last = request.headers.get("last-event-id", "")
        ids = [event for event, _ in self.log]
        start = ids.index(last) + 1 if last else 0
        return StreamingResponse(self._events(start), media_type="text/event-stream")

    async def _events(self, start: int) -> AsyncIterator[str]:
        yield ": hello\n\n"
        for count, (event, text) in enumerate(self.log[start:], 1):
            data = "".join(f"data: {line}\n" for line in text.split("\n"))
            yield f"event: log\nid: {event}\n{data}\n"
            if count == self.cut_after:
                return
        yield f"event: end\ndata: {json.dumps(self.log_end)}\n\n"

    async def _invoked(self, request: Request) -> Response:
        body = await request.body()
        headers = {"X-Target": str(request.url.path), "X-Query": request.url.query}
        self.requests.append((f"{request.method} {request.url.path}", dict(request.headers)))
        if "status" in request.query_params:
            return PlainTextResponse("so it is", int(request.query_params["status"]))
        return Response(body or b"\x00\xff\n", headers=headers)

    def _new(self, namespace: str, name: str) -> dict[str, Any]:
        return {
            "apiVersion": "sless.io/v1alpha1",
            "kind": "Function",
            "metadata": {
                "namespace": namespace,
                "name": name,
                "uid": f"uid-of-{name}",
                "generation": 0,
                "creationTimestamp": "2026-01-02T03:04:05Z",
            },
            "spec": {"s3Key": "", "runtime": "python3.11", "env": [], "command": []},
            "status": {"url": f"{self.url}/fn/{namespace}/{name}"},
        }

    def _accepted(self, manifest: dict[str, Any]) -> dict[str, Any]:
        meta, spec = manifest["metadata"], manifest["spec"]
        build = build_id(spec["s3Key"])
        manifest["status"]["build"] = build
        path = f"/v1/namespaces/{meta['namespace']}/functions/{meta['name']}"
        return {
            "namespace": meta["namespace"],
            "name": meta["name"],
            "uid": meta["uid"],
            "generation": meta["generation"],
            "s3Key": spec["s3Key"],
            "build": build,
            "logUrl": f"{self.url}{path}/builds/{build}/log",
            "temporalUrl": f"{self.url}/namespaces/default/workflows/x",
            "url": manifest["status"]["url"],
            "warnings": [],
        }


def problem(error: SlessError) -> Response:
    """An error as the API answers it."""
    content = {
        "type": f"urn:sless:reason:{error.reason}",
        "title": "No",
        "status": error.status,
        "detail": error.message,
        "reason": error.reason,
        "instance": "/",
        "requestId": "r-1",
    }
    return JSONResponse(content, error.status, media_type="application/problem+json")


def _parse_multipart(headers: dict[str, str], body: bytes) -> tuple[bytes, dict[str, Any]]:
    parts: dict[str, bytes] = {}

    def keep(part: Any) -> None:
        name = part.field_name.decode()
        if hasattr(part, "file_object"):
            part.file_object.seek(0)
            parts[name] = part.file_object.read()
        else:
            parts[name] = part.value

    wanted = {"Content-Type": headers["content-type"].encode()}
    parse_form(wanted, BytesIO(body), keep, keep)
    return parts["code"], json.loads(parts["settings"])


class RunningServer:
    """An ASGI app on a port of this machine, which it keeps across a stop and a start."""

    def __init__(self, app: Starlette) -> None:
        self._app = app
        self._port = 0
        self.start()

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> Self:
        """Returns once it answers."""
        listener = socket.create_server(("127.0.0.1", self._port), reuse_port=False)
        self._port = listener.getsockname()[1]
        config = uvicorn.Config(self._app, log_level="critical", lifespan="auto")
        self._server = uvicorn.Server(config)
        self._listener = listener
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()
        deadline = time.monotonic() + 10
        while not self._server.started:
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.01)
        return self

    def stop(self) -> None:
        """Returns once nothing listens any more; connections are cut."""
        self._server.should_exit = self._server.force_exit = True
        self._thread.join(10)
        self._listener.close()

    def _serve(self) -> None:
        asyncio.run(self._server.serve(sockets=[self._listener]))
