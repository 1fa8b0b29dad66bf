"""Which port each part of the home listens on."""

from dataclasses import dataclass, fields

from sless.local.ports import PortReservations
from sless.local.seaweed import SeaweedPorts

INSIDE = "127.0.0.1"
"""Where parts listen that only the home itself talks to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedPorts:
    """What the user chose; 0 is any free one."""

    host: str
    api: int
    gateway: int
    ui: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HomePorts:
    """All of them, for as long as the home is up."""

    api: int
    gateway: int
    ui: int
    temporal: int
    seaweed: SeaweedPorts


def take_ports(reservations: PortReservations, wanted: WantedPorts) -> HomePorts:
    """The user's ports, and free ones; raises `InvalidSetting` when one cannot be had."""
    take = reservations.take
    return HomePorts(
        api=take(wanted.host, wanted.api, purpose="the API", flag="--port"),
        gateway=take(wanted.host, wanted.gateway, purpose="the gateway", flag="--gateway-port"),
        ui=take(INSIDE, wanted.ui, purpose="Temporal UI", flag="--ui-port"),
        temporal=reservations.pick(INSIDE),
        seaweed=SeaweedPorts(
            **{field.name: reservations.pick(INSIDE) for field in fields(SeaweedPorts)}
        ),
    )
