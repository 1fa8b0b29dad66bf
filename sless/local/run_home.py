"""One start of the embedded home: from the user's wishes to parts that run, and their end."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version as version_of
from pathlib import Path

from sless.local.addresses import home_addresses
from sless.local.environment import HomeFacts
from sless.local.folder import owned_folder
from sless.local.home import Home, write_home
from sless.local.home_ports import WantedPorts, take_ports
from sless.local.layout import Layout, default_data_folder
from sless.local.parts import HomeParts, seaweed_server
from sless.local.pidfile import end_leftovers, find_mark
from sless.local.ports import PortReservations
from sless.local.prepare import prepare_credentials, prepare_envoy, prepare_seaweed
from sless.local.progress import Progress
from sless.local.session import run_session
from sless.settings import Settings, read_settings

_LEFTOVER_SECONDS = 5.0
"""For what an unclean stop left to end by itself."""
_UI_PORT = 8233


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the command line says; none is left to the settings, port 0 is any free one."""

    data: Path | None
    host: str | None
    port: int | None
    gateway_port: int | None
    ui_port: int | None


def run_home(wanted: Wanted) -> None:
    """Runs the home until a signal; raises `InvalidSetting` or `PartFailed`, sentences both."""
    settings = read_settings()
    version = version_of("sless")
    root = wanted.data or settings.data or default_data_folder()
    with owned_folder(root, version=version) as layout, _no_home_file(layout):
        left = end_leftovers(layout.run, seconds=_LEFTOVER_SECONDS)
        with _reservations() as reservations:
            facts = _settle(wanted, settings, layout=layout, reservations=reservations)
            _run(facts, _told(settings, facts), version=version, left=left)


def _settle(
    wanted: Wanted, settings: Settings, *, layout: Layout, reservations: PortReservations
) -> HomeFacts:
    host = wanted.host or settings.api.host
    ports = take_ports(
        reservations,
        WantedPorts(
            host=host,
            api=_first(wanted.port, settings.api.port),
            gateway=_first(wanted.gateway_port, settings.gateway.port),
            ui=_first(wanted.ui_port, _UI_PORT),
        ),
    )
    return HomeFacts(
        layout=layout,
        host=host,
        ports=ports,
        addresses=home_addresses(host, ports),
        credentials=prepare_credentials(layout),
    )


def _told(settings: Settings, facts: HomeFacts) -> Settings:
    """The settings with what this start has settled, as the parts read them."""
    gateway = settings.gateway.model_copy(
        update={
            "host": facts.host,
            "port": facts.ports.gateway,
            "url": facts.addresses.gateway,
        }
    )
    return settings.model_copy(update={"gateway": gateway})


def _run(facts: HomeFacts, settings: Settings, *, version: str, left: list[str]) -> None:
    envoy = prepare_envoy(settings, facts.layout)
    seaweed = seaweed_server(facts)
    prepare_seaweed(seaweed, facts.credentials)
    parts = HomeParts(facts=facts, settings=settings, environ=os.environ, envoy=envoy).all()
    with Progress(part.name for part in parts) as progress:
        if left:
            progress.say(f"Ended what an unclean stop had left: {', '.join(left)}.")

        def up(pids: dict[str, int]) -> None:
            write_home(_home(facts, pids, version=version), facts.layout.home)
            progress.up(facts.layout, facts.addresses, version=version)

        asyncio.run(
            run_session(
                parts,
                layout=facts.layout,
                log_bytes=settings.limits.file_log_bytes,
                report=progress.report,
                up=up,
                stopping=progress.stopping,
            )
        )
        seaweed.remove_sockets()
        progress.say("Stopped.")


def _home(facts: HomeFacts, pids: dict[str, int], *, version: str) -> Home:
    mark = find_mark(os.getpid())
    return Home(
        **asdict(facts.addresses),
        version=version,
        pid=os.getpid(),
        started=mark.started if mark is not None else 0,
        token=str(facts.layout.token),
        logs=str(facts.layout.logs),
        parts=pids,
    )


@contextmanager
def _no_home_file(layout: Layout) -> Iterator[None]:
    """There is a home.json exactly while the home is up."""
    layout.home.unlink(missing_ok=True)
    try:
        yield
    finally:
        layout.home.unlink(missing_ok=True)


@contextmanager
def _reservations() -> Iterator[PortReservations]:
    reservations = PortReservations()
    try:
        yield reservations
    finally:
        reservations.close()


def _first(chosen: int | None, fallback: int) -> int:
    return fallback if chosen is None else chosen
