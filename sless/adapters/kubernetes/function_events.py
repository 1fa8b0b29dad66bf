"""What happens to Functions, told by kopf: on events alone, so that nothing is ever written.

An event handler takes no finalizer, writes no annotation and posts no event; handlers of other
kinds would. kopf takes its event loop's signals and, at its end, all of its tasks: it has a loop
and a thread of its own.
"""

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import Any

import kopf
import structlog
from kubernetes.aio.client import Configuration

from sless.adapters.kubernetes.connection import Object, read_configuration
from sless.adapters.kubernetes.follow import PAGE
from sless.adapters.kubernetes.resources import FUNCTIONS

QUIET_SECONDS = 30
"""A watch is begun anew after so long, so that a dead connection is noticed. An int: it is sent."""
_RESTART_SECONDS = 5.0
"""Before kopf is started again, when an API server was away for longer than it puts up with."""
_BACKOFFS = (1.0,) * 30
"""While the API server is away: kopf's own rise to 21 s, in which it may be back for long."""
_NEVER_SECONDS = 24 * 3600.0
_END_SECONDS = 10.0
_CLOSE_SECONDS = 0.1
"""For connections that kopf has closed to be so: TLS takes a few turns of the loop."""

log = structlog.get_logger()

Deliver = Callable[[str | None, Object], None]
"""Takes an event's type (None for what was there at the start) and the object."""


class _NoDiffs(kopf.DiffBaseStorage):
    """kopf compares objects with what it noted on them; it notes nothing here."""

    def build(self, **_: Any) -> kopf.BodyEssence:
        return kopf.BodyEssence({})

    def fetch(self, **_: Any) -> kopf.BodyEssence | None:
        return None

    def store(self, **_: Any) -> None:
        return None


class FunctionEvents:
    """kopf in a thread.

    Args:
        kubeconfig: As for `connect`.
        deliver: Called in the event loop that `start` was called in.
    """

    def __init__(self, kubeconfig: str | None, deliver: Deliver) -> None:
        self._kubeconfig = kubeconfig
        self._deliver = deliver
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="kopf", daemon=True)

    def start(self) -> None:
        """Begins to deliver."""
        self._home = asyncio.get_running_loop()
        _quieten()
        self._thread.start()

    async def close(self) -> None:
        """Ends kopf and waits for that."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            await asyncio.to_thread(self._thread.join, _END_SECONDS)
        elif not self._loop.is_closed():
            self._loop.close()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._operate())

    async def _operate(self) -> None:
        while not self._stop.is_set():
            try:
                await kopf.operator(
                    registry=self._make_registry(),
                    settings=_make_settings(),
                    standalone=True,
                    clusterwide=True,
                    stop_flag=self._stop,
                )
            except Exception as error:  # noqa: BLE001  # whatever ends kopf, lists go on without it
                log.warning("kopf ended", error=repr(error))
            try:
                await asyncio.wait_for(self._stop.wait(), _RESTART_SECONDS)
            except TimeoutError:
                continue
        await asyncio.sleep(_CLOSE_SECONDS)

    def _make_registry(self) -> kopf.OperatorRegistry:
        registry = kopf.OperatorRegistry()
        group, _, version = FUNCTIONS.api_version.partition("/")

        @kopf.on.login(registry=registry)
        async def log_in(**_: Any) -> kopf.ConnectionInfo:
            return await _read_login(await read_configuration(self._kubeconfig))

        @kopf.on.event(group, version, FUNCTIONS.plural, registry=registry)
        async def tell(event: kopf.RawEvent, **_: Any) -> None:
            self._home.call_soon_threadsafe(self._deliver, event["type"], dict(event["object"]))

        del log_in, tell  # the registry has them
        return registry


def _make_settings() -> kopf.OperatorSettings:
    settings = kopf.OperatorSettings()
    settings.posting.enabled = False
    settings.scanning.disabled = True  # nothing is served but the one kind, which is there
    settings.process.ultimate_exiting_timeout = None  # it would kill the whole process
    settings.watching.server_timeout = QUIET_SECONDS
    settings.watching.client_timeout = QUIET_SECONDS
    # Not its own, which ends the operator when an event comes at the moment it expires.
    settings.watching.inactivity_timeout = _NEVER_SECONDS
    settings.networking.request_timeout = QUIET_SECONDS
    settings.networking.connect_timeout = 5
    settings.networking.error_backoffs = _BACKOFFS
    settings.watching.chunk_size = PAGE
    settings.persistence.diffbase_storage = _NoDiffs()
    # kopf takes its own finalizer off wherever a hand put it: never ours, which nobody puts.
    settings.persistence.finalizer = "sless.io/none"
    return settings


async def _read_login(configuration: Configuration) -> kopf.ConnectionInfo:
    key = await configuration.get_api_key_with_prefix("BearerToken", alias="authorization") or ""
    scheme, _, token = key.rpartition(" ")
    return kopf.ConnectionInfo(
        server=configuration.host,
        ca_path=configuration.ssl_ca_cert,
        insecure=not configuration.verify_ssl,
        username=configuration.username or None,
        password=configuration.password or None,
        scheme=scheme or None,
        token=token or None,
        certificate_path=configuration.cert_file,
        private_key_path=configuration.key_file,
    )


def _quieten() -> None:
    logging.getLogger("kopf").setLevel(logging.WARNING)
    # It warns that it cannot take the process' signals, which is the point.
    logging.getLogger("kopf._core.reactor.running").setLevel(logging.ERROR)
