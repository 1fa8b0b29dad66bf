"""Ports: the user's own, and free ones that stay ours."""

import socket
from collections.abc import Iterator

import pytest

from sless.errors import InvalidSetting
from sless.local.ports import PortReservations

HOST = "127.0.0.1"


@pytest.fixture
def reservations() -> Iterator[PortReservations]:
    held = PortReservations()
    yield held
    held.close()


@pytest.fixture
def others() -> Iterator[PortReservations]:
    held = PortReservations()
    yield held
    held.close()


def take(reservations: PortReservations, port: int, *, host: str = HOST) -> int:
    return reservations.take(host, port, purpose="the API", flag="--port")


def test_picked_ports_are_free_and_different(reservations: PortReservations) -> None:
    picked = {reservations.pick(HOST) for _ in range(50)}
    assert len(picked) == 50
    for port in picked:
        socket.create_server((HOST, port)).close()


def test_a_taken_port_is_named_with_its_purpose_and_option(reservations: PortReservations) -> None:
    with socket.create_server((HOST, 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(InvalidSetting, match=rf"{port} .*the API.*--port"):
            take(reservations, port)


def test_two_homes_never_get_the_same_port(
    reservations: PortReservations, others: PortReservations
) -> None:
    port = take(reservations, 0)
    with pytest.raises(InvalidSetting, match="another sless up"):
        take(others, port)
    reservations.close()
    assert take(others, port) == port


def test_a_port_chosen_twice_is_said_so(reservations: PortReservations) -> None:
    port = take(reservations, 0)
    with pytest.raises(InvalidSetting, match="chosen twice"):
        take(reservations, port)


def test_an_address_of_another_machine_is_refused(reservations: PortReservations) -> None:
    with pytest.raises(InvalidSetting, match="--host"):
        take(reservations, 8081, host="192.0.2.1")
