"""The API's process: `python -m sless.local.roles.api`."""

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable
from functools import partial

from api.app import create_app
from api.options import api_options
from api.server import make_server
from api.services import Ports
from sless.adapters.bundles.interpreters import find_interpreter
from sless.adapters.oidc_verifiers import open_verifier
from sless.adapters.sqlite.functions import SqliteFunctions
from sless.adapters.sqlite.warnings import SqliteWarnings
from sless.errors import RuntimeUnavailable
from sless.local.compose import home_layout, open_database
from sless.roots.archive_limits import archive_limits
from sless.roots.connect import connect_temporal, make_runs, open_objects
from sless.roots.process import run_role
from sless.roots.serving import serve_until_told
from sless.settings import RuntimesSettings, Settings
from sless.tokens import ISSUER, ensure_signing_key

_NICENESS = 15


async def serve(settings: Settings) -> None:
    """Serves the API until the process is told to end."""
    layout = home_layout(settings)
    client = await connect_temporal(settings)
    own = ensure_signing_key(layout.keys).verifier()
    async with (
        open_objects(settings) as objects,
        open_database(settings) as database,
        open_verifier(settings.tokens, own={ISSUER: own}) as verifier,
    ):
        ports = Ports(
            functions=SqliteFunctions(database),
            objects=objects,
            runs=make_runs(settings, client),
            verifier=verifier,
            warnings=SqliteWarnings(database),
        )
        missing: dict[str, str] = {}
        known = asyncio.Event()
        options = api_options(
            settings,
            spool=layout.uploads,
            archive=archive_limits(settings.limits),
            missing_runtimes=missing,
            runtimes_known=known.wait,
        )
        # Asking for interpreters takes seconds; until then a build finds out by itself.
        _look_beside(partial(_find_missing, settings.runtimes, missing), known)
        api = settings.api
        server = make_server(
            create_app(ports, options),
            host=api.host,
            port=api.port,
            drain_seconds=api.drain_seconds,
        )
        await serve_until_told(server)


def _look_beside(find: Callable[[], None], known: asyncio.Event) -> None:
    """Has a thread find it and tell, which the end of the process does not wait for."""
    loop = asyncio.get_running_loop()

    def look() -> None:
        try:
            find()
        finally:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(known.set)

    threading.Thread(target=look, daemon=True).start()


def _find_missing(runtimes: RuntimesSettings, missing: dict[str, str]) -> None:
    """Adds the offered runtimes that this machine cannot run, each with the cure."""
    # Linux counts niceness by thread; what it starts inherits it.
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
    for runtime in runtimes.offered:
        try:
            find_interpreter(runtime, configured=runtimes.interpreters)
        except RuntimeUnavailable as error:
            missing[runtime] = error.message


if __name__ == "__main__":
    run_role(serve, part="api")
