"""TCP ports for the parts: the user's own, and free ones that stay ours.

A free port is picked below the kernel's ephemeral range, so that no outgoing connection takes it
between now and the part's own bind, or while a part is started again. Homes keep out of each
other's way by an abstract Unix socket per port: like a port it belongs to the network namespace,
and it ends with its holder however that ends.
"""

import errno
import random
import socket
from pathlib import Path

from sless.errors import InvalidSetting

_LOWEST = 10_000
_EPHEMERAL_DEFAULT = 32_768
_TRIES = 500
_HELD = "another sless up holds it"
_EPHEMERAL = Path("/proc/sys/net/ipv4/ip_local_port_range")


class PortReservations:
    """Ports held for one home; closing lets them go."""

    def __init__(self) -> None:
        self._held: dict[int, socket.socket] = {}

    def pick(self, host: str) -> int:
        """A port that is free on that address and held by no other home."""
        top = _ephemeral_start()
        for _ in range(_TRIES):
            port = random.randrange(_LOWEST, top)  # noqa: S311 - no secret
            if self._hold(port) and not find_bind_error(host, port):
                return port
        raise InvalidSetting(f"No free port was found between {_LOWEST} and {top} on {host}.")

    def take(self, host: str, port: int, *, purpose: str, flag: str) -> int:
        """The user's port, or a free one for 0; raises `InvalidSetting` when it cannot be had."""
        if port == 0:
            return self.pick(host)
        if port in self._held:
            why = "it was chosen twice"
        else:
            why = find_bind_error(host, port) or ("" if self._hold(port) else _HELD)
        if why:
            raise InvalidSetting(
                f"Port {port} on {host}, for {purpose}, cannot be used: {why}. "
                f"Choose another with {flag} PORT, or any free one with {flag} auto."
            )
        return port

    def close(self) -> None:
        """Lets every port go."""
        for held in self._held.values():
            held.close()
        self._held.clear()

    def _hold(self, port: int) -> bool:
        if port in self._held:
            return False
        mark = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            mark.bind(f"\0sless/port/{port}")
        except OSError:
            mark.close()
            return False
        self._held[port] = mark
        return True


def find_bind_error(host: str, port: int) -> str:
    """Why nothing can listen there; empty when it can. Raises `InvalidSetting` for the address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        # As servers do: connections that linger from an earlier run are no obstacle.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
            probe.listen(1)
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL or isinstance(error, socket.gaierror):
                raise InvalidSetting(
                    f"{host} is no address of this machine; choose one with --host, such as "
                    "127.0.0.1, or 0.0.0.0 for all of them."
                ) from error
            return _explain(error)
    return ""


def _explain(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "something else listens there"
    if error.errno == errno.EACCES:
        return "this user may not listen on it"
    return (error.strerror or str(error)).lower()


def _ephemeral_start() -> int:
    try:
        start = int(_EPHEMERAL.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return _EPHEMERAL_DEFAULT
    # A machine set to use nearly all ports as ephemeral ones leaves no better range.
    return start if start > 2 * _LOWEST else _EPHEMERAL_DEFAULT
