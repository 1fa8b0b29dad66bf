"""`Builder` on Kubernetes: an attempt is a Job in the platform's own namespace."""

import asyncio
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from sless.adapters.kubernetes.client import ApiServer
from sless.adapters.kubernetes.job_options import JobOptions
from sless.adapters.kubernetes.job_status import judge_absent, judge_ended, judge_under_way
from sless.adapters.kubernetes.log_reader import LoggedPod, LogReader, Memory, logged_pod
from sless.adapters.kubernetes.pod_reading import find_failed, has_started, is_over
from sless.adapters.kubernetes.render_job import labels_of, render_job
from sless.adapters.kubernetes.resources import CONFIG_MAPS, EVENTS, JOBS, PODS, SECRETS, Resource
from sless.adapters.kubernetes.slow_start import Graces, may_have_obstacle
from sless.errors import AlreadyExists, SecretMissing
from sless.model.attempt import Attempt, AttemptStatus, LogChunk
from sless.naming import job_name

MANAGER = "sless-worker"
"""Of the fields of what activities write."""
TAIL_LINES = 400
"""Of a failed container's log: an installer's last words are within."""
DELETE_SECONDS = 8.0
"""How long a deleted pod is waited for: a cancelled activity may not be silent for longer."""
_POLL_SECONDS = 0.2
_FRESH_SECONDS = 1.0
"""How old a sight of a pod may be by which its logs are read."""

Object = dict[str, Any]


class JobBuilder:
    """Jobs by one renderer; what they become is judged by pure functions."""

    def __init__(
        self, server: ApiServer, options: JobOptions, *, graces: Graces | None = None
    ) -> None:
        self._server = server
        self._options = options
        self._graces = graces or Graces()
        self._logs = LogReader(server)
        self._seen: Memory[str, tuple[LoggedPod, float]] = Memory()
        """The pod of each Job, and when it was seen."""

    async def ensure(self, attempt: Attempt, *, context_url: str) -> None:
        """See the port.

        Raises `AlreadyExists` when the Job is another attempt's, `SecretMissing` before there is
        one, and whatever the API server refuses it for.
        """
        if await self._adopts(attempt):
            return
        await self._check_mounts()
        job = render_job(attempt, self._options, context_url=context_url)
        try:
            await self._server.create(JOBS, self._options.namespace, job, manager=MANAGER)
        except AlreadyExists:
            await self._adopts(attempt)

    async def status(self, attempt: Attempt) -> AttemptStatus:
        """See the port; one request while a pod runs, three at most."""
        now = datetime.now(UTC)
        pod = await self._find_pod(attempt)
        if pod is None:
            job = await self._find_job(attempt)
            events = await self._events(job) if job else ()
            return judge_absent(job, events, graces=self._graces, now=now)
        self._seen.keep(_name(attempt), (logged_pod(pod), time.monotonic()))
        if is_over(pod):
            return judge_ended(pod, await self._last_words(pod))
        events = await self._events(pod) if may_have_obstacle(pod) else ()
        return judge_under_way(pod, events, graces=self._graces, now=now)

    async def read_log(
        self, attempt: Attempt, *, offsets: dict[str, int], limit: int
    ) -> Sequence[LogChunk]:
        """See the port; a log that its node no longer gives has no more to say."""
        pod = self._known_pod(attempt)
        if pod is None:
            found = await self._find_pod(attempt)
            pod = None if found is None else logged_pod(found)
        return [] if pod is None else await self._logs.read(pod, offsets=offsets, limit=limit)

    async def delete(self, attempt: Attempt) -> None:
        """See the port; waits a little for its pod, which has no more than seconds to live."""
        await self._server.delete(JOBS, self._options.namespace, _name(attempt))
        deadline = time.monotonic() + DELETE_SECONDS
        while time.monotonic() < deadline:
            if await self._find_pod(attempt) is None:
                return
            await asyncio.sleep(_POLL_SECONDS)

    async def _adopts(self, attempt: Attempt) -> bool:
        """Whether the attempt's Job is there; raises `AlreadyExists` when it is another's."""
        job = await self._find_job(attempt)
        if job is None:
            return False
        labels = job["metadata"].get("labels") or {}
        if any(labels.get(key) != value for key, value in labels_of(attempt).items()):
            raise AlreadyExists(f"The Job {_name(attempt)} belongs to another attempt.")
        return True

    async def _check_mounts(self) -> None:
        """Kubernetes would make the Job, and its pod would wait for what is not there."""
        options = self._options
        await self._check_mount(SECRETS, options.push_secret, "PUSH_SECRET")
        await self._check_mount(SECRETS, options.pull_secret, "PULL_SECRET")
        await self._check_mount(SECRETS, options.base_secret, "BASE_SECRET")
        await self._check_mount(CONFIG_MAPS, options.ca_config_map, "CA_CONFIG_MAP")

    async def _check_mount(self, resource: Resource, name: str, setting: str) -> None:
        namespace = self._options.namespace
        if name and await self._server.find(resource, namespace, name) is None:
            raise SecretMissing(
                f"SLESS_BUILDER__{setting} names the {resource.kind} {name!r}, which is not in the "
                f"namespace {namespace}: make it, then try again."
            )

    async def _find_job(self, attempt: Attempt) -> Object | None:
        return await self._server.find(JOBS, self._options.namespace, _name(attempt))

    async def _find_pod(self, attempt: Attempt) -> Object | None:
        """The newest; a Job of one attempt has one, but for races of its controller."""
        page = await self._server.list(
            PODS, self._options.namespace, labels=f"batch.kubernetes.io/job-name={_name(attempt)}"
        )
        return max(
            page.items, key=lambda pod: str(pod["metadata"]["creationTimestamp"]), default=None
        )

    async def _events(self, about: Object) -> Sequence[Object]:
        fields = f"involvedObject.uid={about['metadata']['uid']},type=Warning"
        return (await self._server.list(EVENTS, self._options.namespace, fields=fields)).items

    async def _last_words(self, pod: Object) -> str:
        found = find_failed(pod)
        if found is None or not has_started(pod, found[0]):
            return ""
        return await self._logs.tail(logged_pod(pod), found[0], lines=TAIL_LINES)

    def _known_pod(self, attempt: Attempt) -> LoggedPod | None:
        """As `status` saw it just now, or when it was over: whoever follows a Job asks for both."""
        pod, at = self._seen.get(_name(attempt), (None, 0.0))
        return pod if pod and (pod.over or time.monotonic() - at < _FRESH_SECONDS) else None


def _name(attempt: Attempt) -> str:
    return job_name(attempt.name, attempt.build, attempt.nonce)
