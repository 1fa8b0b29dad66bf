"""Every move that anybody can make in the small world: one external call each."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sless.decide import next_step as decide
from sless.decide.next_step import Child, ChildState, Heard, Seen
from sless.decide.rollout import (
    AwaitForeign,
    Create,
    Judged,
    RolloutGoal,
    Served,
    Stop,
    Swap,
    Wait,
    put_back_step,
    rollout_step,
)
from sless.model.deployment import Availability, Deployment, Progress
from sless.model.function import Ask, FunctionRef
from sless.model.outcome import Outcome
from sless.model.phase import Phase
from sless.naming import build_id
from sless.ports.runs import Run, RunState
from sless.watcher.reconcile import Act, Sight, act_for
from tests.model.world import (
    BUILDS,
    KEYS,
    Building,
    Running,
    Spec,
    Turn,
    World,
    counted,
    function_of,
    image_of,
    outcome_of,
)

Move = tuple[str, World]
REF = FunctionRef("n", "f")


@dataclass(frozen=True)
class Rules:
    """What goes wrong by itself, and what people may do."""

    failing: frozenset[str] = frozenset()
    """Keys whose Jobs fail."""
    bad: frozenset[str] = frozenset()
    """Keys whose revisions never become available."""
    acts: frozenset[str] = frozenset({"upload A", "upload B", "cancel"})


def moves(world: World, rules: Rules) -> Iterator[Move]:
    """All of them, by name."""
    yield from _people(world, rules)
    yield from _signals(world)
    yield from _watcher(world)
    yield from _runner(world, rules)
    if world.run is not None:
        yield from _run(world, world.run)
    if world.building is not None:
        yield from _build(world, world.building, rules)
    if world.zombie is not None:
        yield from (
            (f"zombie {name}", after if turn is None else replace(after, zombie=turn))
            for name, after, turn, _ in _turn(world, world.zombie, "zombie")
        )


# People.


def _people(world: World, rules: Rules) -> Iterator[Move]:  # noqa: C901, PLR0912  # a case per act
    if not world.acts:
        return
    rest = replace(world, acts=world.acts - 1)
    spec = world.spec
    for act in sorted(rules.acts):
        match act.split():
            case ["upload", key]:
                yield act, _written(rest, key=key, config=spec.config if spec else 0)
            case ["retry"] if spec:
                yield act, _written(rest, key=spec.key, config=spec.config)
            case ["configure"] if spec:
                yield act, _written(rest, key=spec.key, config=spec.config + 1)
            case ["cancel"] if spec and world.outcome(spec.ask) is None:
                after = replace(rest, spec=replace(spec, cancel=spec.generation))
                yield act, replace(after, looks=1, cancellable=spec.ask)
            case ["cancel-run"] if world.run and not world.run.spent and spec:
                yield act, replace(rest, run=_cancel_heard(world.run), cancellable=spec.ask)
            case ["cancel-build"] if world.building and not world.building.cancelled and spec:
                building = replace(world.building, cancelled="person")
                yield act, replace(rest, building=building, cancellable=spec.ask)
            case ["terminate"] if world.run and spec:
                yield act, replace(_terminated(rest, world.run), cancellable=spec.ask)
            case ["delete"] if spec:
                deployment = world.deployment
                owned = deployment is not None and deployment.ask.uid == spec.uid
                yield (
                    act,
                    replace(rest, spec=None, deployment=None if owned else deployment, looks=1),
                )
            case ["drop-deployment"] if world.deployment:
                yield act, replace(rest, deployment=None, lost=True)
            case ["hide"] if world.deployment:
                hidden = replace(world.deployment, exposed=False)
                yield act, replace(rest, deployment=hidden)
            case ["drop-image"] if world.images:
                yield act, replace(rest, images=frozenset(), lost=True)


def _written(world: World, *, key: str, config: int) -> World:
    spec, wanted = world.spec, counted(world.wanted, key)
    if spec is None:
        uid = f"u{world.next_uid}"
        made = Spec(uid, 1, key, config)
        return replace(world, spec=made, next_uid=world.next_uid + 1, looks=1, wanted=wanted)
    newer = replace(spec, generation=spec.generation + 1, key=key, config=config)
    return replace(world, spec=newer, looks=1, wanted=wanted)


def _cancel_heard(run: Running) -> Running:
    ask = run.read.ask if run.read is not None else run.order_ask
    return replace(run, spent=True, cancelled=ask, pinned=run.read)


def _terminated(world: World, run: Running) -> World:
    memo = run.read.ask if run.read is not None else run.order_ask
    building = world.building
    if building is not None:
        building = replace(building, cancelled=building.cancelled or "person", orphan=True)
    zombie = run.turn or world.zombie
    return replace(world, run=None, building=building, terminated=memo, zombie=zombie)


# Signals and the watcher.


def _signals(world: World) -> Iterator[Move]:
    if world.looks:
        yield "api look", _looked(replace(world, looks=0))


def _looked(world: World) -> World:
    if world.run is not None:
        return replace(world, run=replace(world.run, looked=True))
    ask = world.spec.ask if world.spec is not None else None
    return replace(world, run=Running(order_ask=ask, looked=True), terminated=None)


def _watcher(world: World) -> Iterator[Move]:
    if world.watcher is not None:
        after = replace(world, watcher=None)
        yield "watcher writes Terminated", _recorded(after, world.watcher, Phase.CANCELLED)
        return
    if world.run is not None:
        return
    if world.spec is None:
        # The run of a Function that is gone; or what it deployed, which is deleted with it.
        if world.building is not None and world.building.orphan is False:
            yield "watcher look", _looked(world)
        return
    act = act_for(_sight(world, world.spec))
    if act is Act.LOOK:
        yield "watcher look", _looked(world)
    elif act is Act.RECORD_TERMINATED:
        yield "watcher saw Terminated", replace(world, watcher=world.spec.ask)


def _sight(world: World, spec: Spec) -> Sight:
    last = None
    if world.terminated is not None:
        last = Run("function/n/f", "r", RunState.TERMINATED, REF, ask=world.terminated)
    outcome = _outcome(world, spec)
    return Sight(
        function=function_of(spec),
        outcome=outcome,
        repair=outcome if spec.ask in world.repairs else None,
        deployment=world.deployment,
        last_run=last,
    )


def _outcome(world: World, spec: Spec) -> Outcome | None:
    phase = world.outcome(spec.ask)
    image = image_of(spec.key) if phase is Phase.READY else ""
    return outcome_of(spec.ask, phase, phase.value, spec.key, image) if phase else None


def _recorded(world: World, ask: Ask, phase: Phase) -> World:
    if world.outcome(ask) is not None:
        return world
    return replace(world, outcomes=(*world.outcomes, (ask, phase)))


# The home that judges revisions.


def _runner(world: World, rules: Rules) -> Iterator[Move]:
    deployment = world.deployment
    if deployment is None or deployment.availability.progress is not Progress.PROGRESSING:
        return
    key = BUILDS[deployment.revision.build]
    progress = Progress.FAILED if key in rules.bad else Progress.AVAILABLE
    reason = "FunctionCrashed" if key in rules.bad else ""
    judged = replace(deployment, availability=Availability(progress, reason))
    yield f"{key} is {progress}", replace(world, deployment=judged)


# A roll_out activity: (name, world after, turn after, how it ended).

TurnMove = tuple[str, World, Turn | None, Ask | str | None]


def _turn(world: World, turn: Turn, who: str) -> Iterator[TurnMove]:
    if turn.at == "function":
        yield "reads function", world, replace(turn, at="deployment", spec=world.spec), None
    elif turn.at == "deployment":
        yield _decided(world, turn, who)
    else:
        after, _ = _written_deployment(world, turn.step)
        yield "writes", after, Turn(turn.uid, turn.key), None


def _decided(world: World, turn: Turn, who: str) -> TurnMove:
    goal = RolloutGoal(turn.uid, KEYS[turn.key], build_id(KEYS[turn.key]), image_of(turn.key))
    function = function_of(turn.spec) if turn.spec is not None else None
    step = rollout_step(goal, function=function, deployment=world.deployment)
    ended = replace(world, zombie=None) if who == "zombie" else world
    match step:
        case Served(ask):
            return "served", ended, None, ask
        case Judged(note):
            return "judged", ended, None, note.reason
        case Stop(reason):
            return "stopped", ended, None, reason
        case Wait():
            return "waits", world, Turn(turn.uid, turn.key), None
        case _:
            return "decides", world, replace(turn, at="write", step=step), None


def _written_deployment(world: World, step: object) -> tuple[World, bool]:
    present = world.deployment
    match step:
        case Create(deployment):
            if present is not None or world.spec is None or world.spec.uid != deployment.ask.uid:
                return world, False
            made = world.deployments_made + 1
            fresh = replace(deployment, uid=f"d{made}", resource_version="1")
            return replace(world, deployment=fresh, deployments_made=made), True
        case Swap(deployment):
            if present is None or (present.uid, present.resource_version) != (
                deployment.uid,
                deployment.resource_version,
            ):
                return world, False
            return replace(world, deployment=_swapped(present, deployment)), True
        case AwaitForeign(deployment):
            gone = present is not None and present.uid == deployment.uid
            return (replace(world, deployment=None) if gone else world), True
        case _:
            raise AssertionError(step)


def _swapped(present: Deployment, wanted: Deployment) -> Deployment:
    if wanted.ask.generation < present.ask.generation:
        raise AssertionError(f"the annotation went backwards: {present.ask} to {wanted.ask}")
    availability = (
        present.availability
        if wanted.revision.instance == present.revision.instance
        else Availability()
    )
    if wanted.revision == wanted.good:
        availability = Availability(Progress.AVAILABLE)
    version = str(int(present.resource_version) + 1)
    return replace(wanted, availability=availability, exposed=True, resource_version=version)


# The build.


def _build(world: World, building: Building, rules: Rules) -> Iterator[Move]:
    if building.cancelled:
        yield "build ends cancelled", _build_ended(world, building, ChildState.CANCELLED)
        if building.turn is not None and world.zombies_left and world.zombie is None:
            haunted = replace(world, zombie=building.turn, zombies_left=world.zombies_left - 1)
            yield "build leaves a zombie", _build_ended(haunted, building, ChildState.CANCELLED)
        return
    key = building.key
    if building.at == "find":
        turn = Turn(building.uid, key)
        found = replace(building, at="rollout", turn=turn)
        there = key in world.images
        yield (
            "build looks",
            replace(world, building=found if there else replace(building, at="job")),
        )
    elif building.at == "job":
        if key in rules.failing:
            failed = replace(world, failures=counted(world.failures, key))
            yield "job fails", _build_ended(failed, building, ChildState.FAILED, "BuildFailed")
        else:
            turn = Turn(building.uid, key)
            images = world.images | {key}
            yield (
                "job succeeds",
                replace(world, images=images, building=replace(building, at="rollout", turn=turn)),
            )
    elif building.turn is not None:
        yield from _build_turn(world, building, building.turn)


def _build_turn(world: World, building: Building, turn: Turn) -> Iterator[Move]:
    for name, after, later, end in _turn(world, turn, "build"):
        if later is not None:
            yield f"build {name}", replace(after, building=replace(building, turn=later))
        elif isinstance(end, Ask):
            yield f"build {name}", _build_ended(after, building, ChildState.SUCCEEDED)
        else:
            yield f"build {name}", _build_ended(after, building, ChildState.FAILED, end or "")
    if turn.at == "write" and world.zombies_left and world.zombie is None:
        fresh = replace(building, turn=Turn(building.uid, building.key))
        yield (
            "build's attempt is taken for dead",
            replace(world, zombie=turn, zombies_left=world.zombies_left - 1, building=fresh),
        )


def _build_ended(world: World, building: Building, state: ChildState, reason: str = "") -> World:
    after, run = replace(world, building=None), world.run
    if building.orphan or run is None or run.child is None:
        return after
    return replace(after, run=replace(run, child=replace(run.child, state=state, reason=reason)))


# The function workflow, as in workflows/function.py.


def _run(world: World, run: Running) -> Iterator[Move]:
    match run.at:
        case "look":
            fresh = run.pinned or world.spec
            later = replace(run, at="look more", looked=False, fresh=fresh, step=run.pinned)
            yield "run reads function", replace(world, run=later)
        case "look more":
            yield "run sees", _decide(world, run)
        case "await":
            if run.looked or run.pinned or _ended(run):
                yield "run wakes", replace(world, run=_woken(run))
        case "stopping":
            if _ended(run):
                yield "run's build has ended", replace(world, run=_stopped(run))
        case "rollout":
            yield from _run_rollout(world, run)
        case _:
            yield from _do(world, run)


def _ended(run: Running) -> bool:
    return run.child is not None and run.child.state is not ChildState.RUNNING


def _woken(run: Running) -> Running:
    child, read = run.child, run.read
    answered = child is not None and read is not None and decide.answers(child, read.ask)
    return replace(run, at="look", pinned=(run.pinned or run.read) if answered else run.pinned)


def _stopped(run: Running) -> Running:
    if run.step == decide.StopBuild("Cancelled"):
        return replace(run, at="look", pinned=run.pinned or run.read)
    return replace(run, at="look", child=None)


def _decide(world: World, run: Running) -> World:
    if run.pinned is not run.step:
        # Something was heard while it looked.
        return replace(world, run=replace(run, at="look"))
    spec = run.fresh
    cancelled = run.cancelled if spec is not None and spec.ask == run.cancelled else None
    run = replace(run, read=spec, has_read=True, cancelled=cancelled, fresh=None)
    step = decide.next_step(_seen(world, spec), child=run.child, heard=Heard(cancelled))
    if isinstance(step, decide.Finish) and not run.looked and run.pinned is None:
        return replace(world, run=None, terminated=None)
    if isinstance(step, decide.Finish):
        forgotten = replace(run, at="look", step=None, pinned=None, cancelled=None)
        return replace(world, run=forgotten)
    if run.spent and run.child is None and run.pinned is None and run.cancelled is None:
        return replace(world, run=Running())
    return replace(world, run=replace(run, at="do", step=step))


def _seen(world: World, spec: Spec | None) -> Seen:
    if spec is None:
        return Seen(None, deployment=world.deployment)
    return Seen(
        function=function_of(spec),
        outcome=_outcome(world, spec),
        image=image_of(spec.key) if spec.key in world.images else None,
        deployment=world.deployment,
        repair_failed=spec.ask in world.repairs,
    )


def _do(world: World, run: Running) -> Iterator[Move]:  # noqa: C901  # a case per step
    spec, again = run.read, replace(run, at="look", step=None)
    match run.step:
        case decide.Build() if spec is not None:
            yield "run builds", _start_build(world, run, spec)
        case decide.AwaitBuild():
            yield "run awaits", replace(world, run=replace(run, at="await"))
        case decide.StopBuild(reason):
            building = world.building
            if building is not None and not building.cancelled:
                world = replace(world, building=replace(building, cancelled=reason))
            yield f"run stops the build: {reason}", replace(world, run=replace(run, at="stopping"))
        case decide.RollOut() if spec is not None:
            turn = Turn(spec.uid, spec.key)
            yield "run rolls out", replace(world, run=replace(run, at="rollout", turn=turn))
        case decide.PutBack(reason, message) if spec is not None:
            yield from _put_back(world, run, spec, reason=reason, message=message)
        case decide.Record(phase):
            if spec is None:
                raise AssertionError("a record for nobody")
            done = replace(again, child=None, pinned=None, cancelled=None)
            yield f"run records {phase}", replace(_recorded(world, spec.ask, phase), run=done)
        case decide.NoteRepairFailed() if spec is not None:
            done = replace(again, child=None, pinned=None, cancelled=None)
            yield (
                "run notes the repair",
                replace(world, repairs=world.repairs | {spec.ask}, run=done),
            )
        case decide.CleanUp(deployment):
            present = world.deployment
            gone = present is not None and present.uid == deployment.uid
            yield "run cleans up", replace(world, deployment=None if gone else present, run=again)
        case _:
            raise AssertionError(run.step)


def _start_build(world: World, run: Running, spec: Spec) -> World:
    if world.building is not None:
        # One of that id, or of another: ours ended, so it is a terminated run's, being cancelled.
        return world
    child = Child(spec.uid, spec.generation, KEYS[spec.key], ChildState.RUNNING)
    building = Building(spec.uid, spec.key)
    return replace(world, building=building, run=replace(run, at="look", step=None, child=child))


def _put_back(
    world: World, run: Running, spec: Spec, *, reason: str, message: str
) -> Iterator[Move]:
    if run.turn is None:
        step = put_back_step(spec.ask, reason=reason, message=message, deployment=world.deployment)
        if step is None:
            yield "run has put back", replace(world, run=replace(run, at="look", step=None))
        else:
            turn = Turn(spec.uid, spec.key, at="write", step=step)
            yield "run is to put back", replace(world, run=replace(run, turn=turn))
    else:
        after, _ = _written_deployment(world, run.turn.step)
        yield "run puts back", replace(after, run=replace(run, turn=None))


def _run_rollout(world: World, run: Running) -> Iterator[Move]:
    turn = run.turn
    if turn is None:
        raise AssertionError("a rollout without its activity")
    if run.pinned is not None:
        done = replace(run, at="look", turn=None, step=None)
        yield "run cancels its rollout", replace(world, run=done)
        return
    for name, after, later, end in _turn(world, turn, "run"):
        moved = (
            replace(run, turn=later)
            if end is None
            else replace(run, at="look", turn=None, step=None)
        )
        yield f"run {name}", replace(after, run=moved)
    if turn.at == "write" and world.zombies_left and world.zombie is None:
        fresh = replace(run, turn=Turn(turn.uid, turn.key))
        yield (
            "run's attempt is taken for dead",
            replace(world, zombie=turn, zombies_left=world.zombies_left - 1, run=fresh),
        )
