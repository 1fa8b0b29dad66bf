"""Which processes run and where requests go, as the tables say."""

from dataclasses import replace

from sless.gateway.route import Endpoint
from sless.local.runner.plan import InstanceKey, plan, present
from sless.local.runner.routing import compute_routing
from sless.model.deployment import Deployment, Revision
from sless.model.function import Ask
from sless.model.instance import Instance, InstanceState
from sless.model.routed import Routed

HOST = "127.0.0.1"
OLD = Revision("local/team/f@sha256:aa", "b" * 12, "python3.11")
NEW = replace(OLD, image="local/team/f@sha256:bb")
READY, STARTING, CRASHED = InstanceState.READY, InstanceState.STARTING, InstanceState.CRASHED


def deployment(revision: Revision, *, generation: int = 1, uid: str = "d1") -> Deployment:
    return Deployment("team", "f", Ask("u1", generation), revision, uid=uid)


def key(revision: Revision) -> InstanceKey:
    return InstanceKey("d1", revision.instance)


def row(
    revision: Revision, state: InstanceState = READY, *, port: int = 1, since: float = 0
) -> Instance:
    return Instance("team", "f", "d1", revision, state, since, port=port)


def route(revision: Revision, *, generation: int = 1, port: int = 1) -> Routed:
    return Routed("team", "f", "u1", generation, revision.instance, port)


def test_starts_what_is_wanted_once() -> None:
    wanted = deployment(OLD)
    assert plan([wanted], {}, []).start == (wanted,)
    assert plan([wanted], {present(wanted): CRASHED}, []).start == ()


def test_what_serves_goes_on_until_the_route_has_moved() -> None:
    running = {key(OLD): READY, key(NEW): READY}
    wanted = deployment(NEW, generation=2)
    assert plan([wanted], running, [route(OLD)]).stop == set()
    assert plan([wanted], running, []).stop == set()
    assert plan([wanted], running, [route(NEW, generation=2)]).stop == {key(OLD)}


def test_what_serves_nobody_stops_at_once() -> None:
    wanted = deployment(NEW, generation=2)
    for state in (STARTING, CRASHED):
        assert plan([wanted], {key(OLD): state, key(NEW): STARTING}, []).stop == {key(OLD)}


def test_a_route_of_a_deleted_namesake_moves_nothing() -> None:
    foreign = replace(route(NEW), uid="u0")
    assert plan([deployment(NEW)], {key(OLD): READY}, [foreign]).stop == set()


def test_a_deleted_function_stops() -> None:
    assert plan([], {key(OLD): READY}, [route(OLD)]).stop == {key(OLD)}


def test_routes_to_the_present_revision_once_it_is_ready() -> None:
    wanted = deployment(NEW, generation=2)
    instances = [row(OLD, port=1, since=9), row(NEW, STARTING, port=2)]
    routing = compute_routing([wanted], instances, [route(OLD)], host=HOST)
    assert routing.routed == (route(OLD),)
    routing = compute_routing(
        [wanted], [row(OLD, since=9), row(NEW, port=2)], [route(OLD)], host=HOST
    )
    assert routing.routed == (route(NEW, generation=2, port=2),)
    assert routing.routes[0].endpoints == (Endpoint(HOST, 2),)


def test_an_older_revision_never_passes_for_the_newest_ask() -> None:
    routing = compute_routing([deployment(NEW, generation=2)], [row(OLD)], [], host=HOST)
    assert routing.routed[0].generation == 0


def test_a_new_ask_for_what_runs_already_is_routed_at_once() -> None:
    routing = compute_routing([deployment(OLD, generation=2)], [row(OLD)], [route(OLD)], host=HOST)
    assert routing.routed == (route(OLD, generation=2),)


def test_a_function_with_nothing_ready_is_known_and_goes_nowhere() -> None:
    routing = compute_routing([deployment(OLD)], [row(OLD, CRASHED)], [route(OLD)], host=HOST)
    assert routing.routed == ()
    assert routing.routes[0].endpoints == ()
