"""Every interleaving of people, API, watcher, workflows and zombies in a small world."""

from collections import deque
from itertools import pairwise

import pytest

from sless.model.phase import Phase
from tests.model.moves import Rules, moves
from tests.model.world import World, revision_of

pytestmark = pytest.mark.timeout(1800)
"""The largest worlds take half a minute alone, and far longer where many things run at once."""

STATES_MAX = 600_000


def explore(start: World, rules: Rules) -> tuple[dict[World, World | None], dict[World, str], int]:
    """Every reachable world with the one before it; fails on a dead end that is not sound."""
    before: dict[World, World | None] = {start: None}
    by: dict[World, str] = {start: "start"}
    after: dict[World, list[World]] = {}
    todo = deque([start])
    ends: list[World] = []
    while todo:
        world = todo.popleft()
        after[world] = []
        for name, found in moves(world, rules):
            after[world].append(found)
            if found not in before:
                before[found], by[found] = world, name
                todo.append(found)
        if not after[world]:
            ends.append(world)
        assert len(before) < STATES_MAX, "the world has grown too large to explore"
    for end in ends:
        wrong = complaint(end)
        assert not wrong, f"{wrong}\n{story(end, before, by)}"
    stuck = before.keys() - reaching(ends, after)
    assert not stuck, (
        f"livelock\n{story(min(stuck, key=lambda w: len(path(w, before))), before, by)}"
    )
    return before, by, len(ends)


def reaching(ends: list[World], after: dict[World, list[World]]) -> set[World]:
    """Worlds from which some end can be reached."""
    sources: dict[World, list[World]] = {}
    for world, found in after.items():
        for each in found:
            sources.setdefault(each, []).append(world)
    seen, todo = set(ends), deque(ends)
    while todo:
        for source in sources.get(todo.popleft(), ()):
            if source not in seen:
                seen.add(source)
                todo.append(source)
    return seen


def path(world: World, before: dict[World, World | None]) -> list[World]:
    found: list[World] = []
    at: World | None = world
    while at is not None:
        found.append(at)
        at = before[at]
    return found[::-1]


def story(world: World, before: dict[World, World | None], by: dict[World, str]) -> str:
    steps = [by[each] for _, each in pairwise([world, *path(world, before)])]
    return "\n".join([*steps, str(world)])


def complaint(world: World) -> str:  # noqa: C901, PLR0912  # a list of invariants
    """What is wrong with a world in which nothing moves any more; empty if nothing is."""
    spec, deployment = world.spec, world.deployment
    if world.run is not None or world.building is not None:
        return "something runs and cannot move"
    if spec is None:
        return "something survived the deletion" if deployment is not None else ""
    phase = world.outcome(spec.ask)
    if phase is None:
        return "the newest ask has no outcome"
    if deployment is not None and not deployment.exposed:
        return f"{phase}, but no call finds what serves"
    if phase is Phase.READY:
        noted = deployment is not None and deployment.failed is not None
        repair = spec.ask in world.repairs
        if not (world.lost and (noted or repair)):
            if deployment is None:
                return "Ready, but nothing is deployed"
            if not deployment.is_good or deployment.revision.hash != revision_of(spec).hash:
                return "Ready, but it does not serve this ask"
            if not world.lost and spec.key not in world.images:
                return "Ready without an image"
    elif deployment is not None and not deployment.is_good:
        bare = deployment.good is None and deployment.failed is not None
        if not bare:
            return f"{phase}, but not the last good revision serves"
    wanted, lost = dict(world.wanted), 1 if world.lost else 0
    for key, count in world.failures:
        if count > wanted.get(key, 0) + lost:
            return f"the failed build of {key} ran {count} times"
    for ask, answer in world.outcomes:
        if answer is Phase.CANCELLED and _after_cancel(world, ask.uid, ask.generation):
            return f"{ask} was answered Cancelled by an earlier cancel"
    return ""


def _after_cancel(world: World, uid: str, generation: int) -> bool:
    latest = world.cancellable
    return latest is None or (latest.uid == uid and generation > latest.generation)


UPLOADS = frozenset({"upload A", "upload B"})


@pytest.mark.parametrize(
    ("acts", "rules"),
    [
        pytest.param(3, Rules(acts=UPLOADS | {"cancel"}), id="uploads and cancel"),
        pytest.param(
            3, Rules(acts=UPLOADS | {"cancel"}, failing=frozenset("A")), id="A does not build"
        ),
        pytest.param(3, Rules(acts=UPLOADS | {"cancel"}, bad=frozenset("B")), id="B crashes"),
        pytest.param(
            3,
            Rules(acts=frozenset({"upload A", "retry", "cancel"}), bad=frozenset("A")),
            id="A crashes",
        ),
        pytest.param(3, Rules(acts=UPLOADS | {"cancel-run"}), id="the run is cancelled"),
        pytest.param(
            3, Rules(acts=UPLOADS | {"cancel-run"}, bad=frozenset("B")), id="cancelled, B crashes"
        ),
        pytest.param(3, Rules(acts=UPLOADS | {"cancel-build"}), id="the build is cancelled"),
        pytest.param(3, Rules(acts=UPLOADS | {"terminate"}), id="the run is terminated"),
        pytest.param(3, Rules(acts=UPLOADS | {"delete"}), id="deleted and made again"),
        pytest.param(3, Rules(acts=frozenset({"upload A", "configure", "retry"})), id="configured"),
        pytest.param(
            3,
            Rules(acts=frozenset({"upload A", "configure", "retry"}), failing=frozenset("A")),
            id="configured, A does not build",
        ),
        pytest.param(
            2, Rules(acts=frozenset({"upload A", "drop-image", "drop-deployment"})), id="drift"
        ),
        pytest.param(
            3,
            Rules(acts=frozenset({"upload A", "drop-image", "drop-deployment"})),
            id="both lost",
        ),
        pytest.param(3, Rules(acts=frozenset({"upload A", "cancel", "hide"})), id="hidden"),
        pytest.param(3, Rules(acts=UPLOADS | {"hide"}, bad=frozenset("B")), id="hidden, B crashes"),
        pytest.param(
            3,
            Rules(acts=frozenset({"upload A", "hide", "drop-image", "drop-deployment"})),
            id="hidden and lost",
        ),
    ],
)
def test_every_interleaving_ends_well(acts: int, rules: Rules) -> None:
    before, _, ends = explore(World(acts=acts), rules)
    assert ends
    assert len(before) > 100


@pytest.mark.parametrize(
    ("acts", "rules"),
    [
        pytest.param(2, Rules(acts=UPLOADS), id="two uploads"),
        pytest.param(2, Rules(acts=UPLOADS, bad=frozenset("B")), id="B crashes"),
        pytest.param(2, Rules(acts=frozenset({"upload A", "cancel"})), id="cancel"),
        pytest.param(3, Rules(acts=frozenset({"upload A", "delete"})), id="deleted and made again"),
        pytest.param(2, Rules(acts=frozenset({"upload A", "configure"})), id="configured"),
    ],
)
def test_with_a_zombie_attempt(acts: int, rules: Rules) -> None:
    _, by, ends = explore(World(acts=acts, zombies_left=1), rules)
    assert ends
    assert any(name.startswith("zombie writes") for name in by.values())
