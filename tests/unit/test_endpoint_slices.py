"""EndpointSlices as they are read, and the routes that they make."""

from typing import Any

import pytest

from sless.adapters.kubernetes.endpoint_slices import (
    CONTROLLER,
    Address,
    EndpointSlice,
    find_slice,
)
from sless.cluster.routing import compute_routes
from sless.gateway.route import Endpoint, Route

HTTP = {"name": "http", "port": 8080, "protocol": "TCP"}
READY = {"ready": True, "serving": True, "terminating": False}
MANAGED_BY = "endpointslice.kubernetes.io/managed-by"


def endpoint(*addresses: str, **conditions: bool | None) -> dict[str, Any]:
    return {"addresses": list(addresses), "conditions": READY | conditions}


def live(*endpoints: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """As the cluster writes it for a Service of ours."""
    labels = {
        MANAGED_BY: CONTROLLER,
        "kubernetes.io/service-name": "fn-hello",
        "sless.io/function": "hello",
        "sless.io/uid": "u-1",
    }
    whole = {
        "metadata": {"namespace": "team", "name": "fn-hello-x", "labels": labels},
        "addressType": "IPv4",
        "ports": [HTTP],
        "endpoints": list(endpoints),
    }
    return whole | changed


def ready(slice_: dict[str, Any]) -> list[str]:
    found = find_slice(slice_, port="http")
    assert found is not None
    return [str(Endpoint(address.host, address.port)) for address in found.ready]


A = "10.0.0.1"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (live(endpoint(A)), [f"{A}:8080"]),
        (live(endpoint("10.0.0.2"), endpoint(A)), [f"{A}:8080", "10.0.0.2:8080"]),
        (live(endpoint(A, "10.0.0.9")), [f"{A}:8080"]),
        (live({"addresses": [A]}), [f"{A}:8080"]),
        (live(endpoint(A, ready=None)), [f"{A}:8080"]),
        (live(endpoint(A, ready=False)), []),
        (live(endpoint(A, ready=False, terminating=True)), []),
        (live(endpoint(A, terminating=True)), []),
        (live(endpoint("fd00::1"), addressType="IPv6"), ["[fd00::1]:8080"]),
        (live(endpoint("hello.example"), addressType="FQDN"), []),
        (live(endpoint("hello.example")), []),
        (live(endpoint("fe80::1%eth0"), addressType="IPv6"), []),
        (live({"addresses": []}), []),
        (live(endpoints=None, ports=None), []),
        (live(endpoint(A), ports=[{**HTTP, "port": 9}, {**HTTP, "name": "debug"}]), [f"{A}:9"]),
        (live(endpoint(A), ports=[{**HTTP, "name": "debug"}]), []),
        (live(endpoint(A), ports=[{**HTTP, "port": None}]), []),
        (live(endpoint(A), ports=[{**HTTP, "protocol": "UDP"}]), []),
    ],
    ids=[
        *("one", "several", "the first address of a pod", "no conditions", "ready is not said"),
        *("not ready", "ends", "ends while it counts as ready", "IPv6", "a name's type", "a name"),
        *("a zone", "no address", "the cluster's placeholder"),
        *("the port by its name", "no such port", "any port", "no TCP"),
    ],
)
def test_who_is_ready(given: dict[str, Any], expected: list[str]) -> None:
    assert ready(given) == expected


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({"ready": False, "terminating": True}, [Address(A, 8080)]),
        ({"ready": False, "terminating": True, "serving": False}, []),
        ({"ready": False}, []),
        ({}, []),
    ],
    ids=["leaves and answers", "leaves and answers no more", "starts", "is ready"],
)
def test_who_leaves(conditions: dict[str, bool], expected: list[Address]) -> None:
    found = find_slice(live(endpoint(A, **conditions)), port="http")
    assert found is not None
    assert list(found.leaving) == expected


def test_who_leaves_is_called_while_nobody_is_ready() -> None:
    leaving = EndpointSlice("team", "fn-hello", "hello", "u-1", (), (Address(A, 8080),))
    assert compute_routes([leaving]) == (route("hello", A),)
    assert compute_routes([leaving, one("hello", "10.0.0.2")]) == (route("hello", "10.0.0.2"),)


def test_a_slice_tells_whose_it_is() -> None:
    found = find_slice(live(endpoint(A)), port="http")
    assert found == EndpointSlice("team", "fn-hello", "hello", "u-1", (Address(A, 8080),))


@pytest.mark.parametrize(
    "labels",
    [
        {},
        {MANAGED_BY: None},
        {MANAGED_BY: "endpointslicemirroring-controller.k8s.io"},
        {MANAGED_BY: "by.hand"},
        {"kubernetes.io/service-name": None},
    ],
    ids=["none", "nobody's", "a copy of Endpoints", "another's", "no Service's"],
)
def test_what_anybody_could_have_written_is_no_slice(labels: dict[str, str | None]) -> None:
    given = live(endpoint(A))
    kept = given["metadata"]["labels"] | labels if labels else {}
    given["metadata"]["labels"] = {key: value for key, value in kept.items() if value is not None}
    assert find_slice(given, port="http") is None


def one(function: str, *hosts: str, **changed: str) -> EndpointSlice:
    given = {"namespace": "team", "service": f"fn-{function}", "uid": "u-1"} | changed
    addresses = tuple(Address(host, 8080) for host in hosts)
    return EndpointSlice(
        given["namespace"],
        given["service"],
        function=function,
        uid=given["uid"],
        ready=addresses,
    )


def route(name: str, *hosts: str, namespace: str = "team") -> Route:
    return Route(namespace, name, "u-1", None, tuple(Endpoint(host, 8080) for host in hosts))


@pytest.mark.parametrize(
    ("slices", "expected"),
    [
        ([], []),
        ([one("hello")], [route("hello")]),
        ([one("hello", "10.0.0.2"), one("hello", A)], [route("hello", A, "10.0.0.2")]),
        ([one("hello", A), one("hello", A)], [route("hello", A)]),
        ([one("hello", A), one("hello", "fd00::1")], [route("hello", A, "fd00::1")]),
        ([one("b", A), one("a", A)], [route("a", A), route("b", A)]),
        (
            [one("hello", A), one("hello", A, namespace="other")],
            [route("hello", A, namespace="other"), route("hello", A)],
        ),
        ([one("hello", A), one("hello", "10.9.9.9", service="mine")], [route("hello", A)]),
        ([one("Hello", A), one("a_b", A), one("x" * 41, A), one("hello")], [route("hello")]),
        ([one("", A)], []),
    ],
    ids=[
        *("nothing", "nobody ready", "several slices", "in two of them", "two families"),
        *("two functions", "two namespaces", "another Service's", "no names", "no function's"),
    ],
)
def test_routes_follow_from_slices(slices: list[EndpointSlice], expected: list[Route]) -> None:
    assert compute_routes(slices) == tuple(expected)
    assert compute_routes(reversed(slices)) == tuple(expected)


def test_a_function_made_again_has_one_uid_at_a_time() -> None:
    """The cluster renews one slice after the other."""
    old, new = one("hello", A, uid="u-1"), one("hello", "10.0.0.2", uid="u-2")
    assert [each.uid for each in compute_routes([old, new])] == ["u-2"]
    assert compute_routes([old, new]) == compute_routes([new, old])
