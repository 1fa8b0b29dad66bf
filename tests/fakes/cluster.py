"""An API server as far as builds need one: Jobs, their pods by a script, logs, Secrets, events."""

import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler
from kubernetes.aio.client import Configuration

from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.connection import Connection
from tests.fakes.kubelet import KubeletLog

Object = dict[str, Any]

_ROOT = "/api/v1/namespaces/{namespace}"
_JOBS = "/apis/batch/v1/namespaces/{namespace}/jobs"


@dataclass
class ScriptedPod:
    """What becomes of a Job's pod, at once."""

    states: Mapping[str, Object]
    """By container."""
    phase: str = "Pending"
    logs: Mapping[str, KubeletLog] = field(default_factory=dict)
    status: Object = field(default_factory=dict)


Script = Callable[[Object], ScriptedPod | None]
"""From a Job to its pod; none where there is none, as under a quota."""


@dataclass
class FakeCluster:
    """Does at once what controllers and a kubelet do in their time."""

    script: Script
    jobs: dict[str, Object] = field(default_factory=dict)
    pods: dict[str, Object] = field(default_factory=dict)
    logs: dict[tuple[str, str], KubeletLog] = field(default_factory=dict)
    """By pod and container."""
    mountable: set[str] = field(default_factory=set)
    """`secrets/<name>` and `configmaps/<name>`."""
    events: list[Object] = field(default_factory=list)
    node_is_there: bool = True
    """False: no log can be had any more."""
    asked: list[str] = field(default_factory=list)
    """The last part of each request's path: a kind's plural, an object's name, or `log`."""

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[ApiServer]:
        """A client of it, on a free port."""
        app = web.Application(middlewares=[self._note])
        app.add_routes(
            [
                web.post(_JOBS, self._create_job),
                web.get(_JOBS + "/{name}", self._get_job),
                web.delete(_JOBS + "/{name}", self._delete_job),
                web.get(_ROOT + "/pods", self._list_pods),
                web.get(_ROOT + "/pods/{name}/log", self._get_log),
                web.get(_ROOT + "/events", self._list_events),
                web.get(_ROOT + "/{kind}/{name}", self._get_mountable),
            ]
        )
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        server = ApiServer(Connection(Configuration(host=f"http://{host}:{port}")))
        try:
            yield server
        finally:
            await server.close()
            await runner.cleanup()

    @web.middleware
    async def _note(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        self.asked.append(request.path.rpartition("/")[2])
        return await handler(request)

    async def _create_job(self, request: web.Request) -> web.Response:
        job = await request.json()
        name = job["metadata"]["name"]
        if name in self.jobs:
            return _refuse(409, "AlreadyExists", name)
        job["metadata"] |= _made()
        self.jobs[name] = job
        scripted = self.script(job)
        if scripted is not None:
            self._add_pod(job, scripted)
        return web.json_response(job, status=201)

    def _add_pod(self, job: Object, scripted: ScriptedPod) -> None:
        name, template = f"{job['metadata']['name']}-abcde", job["spec"]["template"]
        spec = template["spec"]
        self.pods[name] = {
            "metadata": {**_made(), "name": name, "namespace": job["metadata"]["namespace"]},
            "spec": spec,
            "status": {
                "phase": scripted.phase,
                "startTime": _now(),
                "initContainerStatuses": _statuses(spec["initContainers"], scripted),
                "containerStatuses": _statuses(spec["containers"], scripted),
                **scripted.status,
            },
        }
        self.logs |= {(name, container): log for container, log in scripted.logs.items()}

    async def _get_job(self, request: web.Request) -> web.Response:
        return _found(self.jobs, request)

    async def _delete_job(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        answer = _found(self.jobs, request)
        self.jobs.pop(name, None)
        self.pods.pop(f"{name}-abcde", None)
        return answer

    async def _list_pods(self, request: web.Request) -> web.Response:
        label, _, job = request.query["labelSelector"].partition("=")
        assert label == "batch.kubernetes.io/job-name"
        items = [pod for name, pod in self.pods.items() if name == f"{job}-abcde"]
        return web.json_response({"items": items})

    async def _list_events(self, request: web.Request) -> web.Response:
        wanted = dict(each.split("=") for each in request.query["fieldSelector"].split(","))
        assert set(wanted) == {"involvedObject.uid", "type"}
        return web.json_response({"items": self.events})

    async def _get_log(self, request: web.Request) -> web.Response:
        name, container = request.match_info["name"], request.query["container"]
        if not self.node_is_there:
            return _refuse(500, "InternalError", name)
        log = self.logs.get((name, container))
        return web.Response(body=log.answer(request.query)) if log else web.Response()

    async def _get_mountable(self, request: web.Request) -> web.Response:
        name = f"{request.match_info['kind']}/{request.match_info['name']}"
        if name not in self.mountable:
            return _refuse(404, "NotFound", name)
        return web.json_response({"metadata": {}})


def _statuses(containers: list[Object], scripted: ScriptedPod) -> list[Object]:
    names = [each["name"] for each in containers]
    return [{"name": name, "state": scripted.states.get(name, {})} for name in names]


def _found(objects: Mapping[str, Object], request: web.Request) -> web.Response:
    name = request.match_info["name"]
    found = objects.get(name)
    return web.json_response(found) if found else _refuse(404, "NotFound", name)


def _refuse(status: int, reason: str, name: str) -> web.Response:
    told = {"kind": "Status", "reason": reason, "code": status, "message": f"{name}: {reason}"}
    return web.json_response(told, status=status)


def _made() -> Object:
    return {"uid": uuid.uuid4().hex, "creationTimestamp": _now()}


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
