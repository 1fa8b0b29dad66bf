"""The home's URLs, as whoever is on this machine reaches it."""

from dataclasses import dataclass

from sless.local.home_ports import INSIDE, HomePorts

_EVERYWHERE = {"0.0.0.0": INSIDE, "::": "::1"}  # noqa: S104 - read, not bound


@dataclass(frozen=True, slots=True)
class Addresses:
    """URLs without a slash at their end; `temporal` is `host:port`."""

    api: str
    gateway: str
    temporal_ui: str
    temporal: str
    s3: str


def home_addresses(host: str, ports: HomePorts) -> Addresses:
    """Where each part of a home that listens on `host` is reached."""
    outside = _bracketed(reachable(host))
    return Addresses(
        api=f"http://{outside}:{ports.api}",
        gateway=f"http://{outside}:{ports.gateway}",
        temporal_ui=f"http://{INSIDE}:{ports.ui}",
        temporal=f"{INSIDE}:{ports.temporal}",
        s3=f"http://{INSIDE}:{ports.seaweed.s3}",
    )


def reachable(host: str) -> str:
    """The address at which this machine reaches what listens on `host`."""
    return _EVERYWHERE.get(host, host)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
