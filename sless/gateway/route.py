"""What the gateway is asked to route: functions and where they listen."""

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from sless.errors import InvalidSetting
from sless.naming import check_name, check_namespace

PORT_MAX = 65_535


def check_address(host: str, port: int) -> None:
    """Raises `InvalidSetting` unless these are an IP address and a TCP port."""
    try:
        ipaddress.ip_address(host)
    except ValueError as error:
        raise InvalidSetting(f"{host!r} is no IP address, such as 127.0.0.1.") from error
    if not 0 < port <= PORT_MAX:
        raise InvalidSetting(f"{port} is no TCP port: those are 1 to {PORT_MAX}.")


@dataclass(frozen=True, slots=True, order=True)
class Endpoint:
    """An IP address and a TCP port; raises `InvalidSetting` for anything else."""

    host: str
    port: int

    def __post_init__(self) -> None:
        check_address(self.host, self.port)

    def __str__(self) -> str:
        """As in a URL."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Route:
    """One function; raises `InvalidName` for a name that cannot be one.

    Without endpoints the function is known and answers 503.
    """

    namespace: str
    name: str
    uid: str
    generation: int | None
    """Of the ask that `endpoints` serve, where it is known: shown in the access log."""
    endpoints: tuple[Endpoint, ...] = field(default=())

    def __post_init__(self) -> None:
        check_namespace(self.namespace)
        check_name(self.name)

    @property
    def prefix(self) -> str:
        """The address's path without a slash at its end."""
        return f"/fn/{self.namespace}/{self.name}"

    @property
    def cluster(self) -> str:
        """What Envoy calls the function's endpoints."""
        return f"fn/{self.namespace}/{self.name}"


def in_order(routes: Iterable[Route]) -> list[Route]:
    """By namespace and name; raises `InvalidSetting` when a function is named twice."""
    ordered = sorted(routes, key=lambda route: (route.namespace, route.name))
    for before, after in pairwise(ordered):
        if before.prefix == after.prefix:
            raise InvalidSetting(f"{after.prefix} is to be routed to two functions")
    return ordered
