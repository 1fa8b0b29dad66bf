"""The small world that the exhaustive model explores: values only, compact so that they hash fast.

Two keys, A and B, are their own build ids and images. A configuration is a number.
"""

from dataclasses import dataclass, replace
from functools import cache, cached_property

from sless.decide.next_step import Child, ChildState
from sless.model.deployment import (
    Availability,
    Deployment,
    FailedNote,
    Progress,
    Revision,
    wanted_revision,
)
from sless.model.function import Ask, EnvVar, Function, FunctionSpec
from sless.model.outcome import Outcome
from sless.model.phase import Phase
from sless.naming import S3Key, build_id

KEYS = {letter: str(S3Key("n", "f", letter.lower() * 64, "python3.11")) for letter in ("A", "B")}
LETTERS = {key: letter for letter, key in KEYS.items()}
BUILDS = {build_id(key): letter for letter, key in KEYS.items()}


@dataclass(frozen=True, slots=True)
class Spec:
    """The Function."""

    uid: str
    generation: int
    key: str
    config: int = 0
    cancel: int = 0
    """The annotation."""

    @property
    def ask(self) -> Ask:
        return Ask(self.uid, self.generation)


@cache
def function_of(spec: Spec) -> Function:
    env = (EnvVar("C", str(spec.config)),) if spec.config else ()
    return Function(
        namespace="n",
        name="f",
        uid=spec.uid,
        generation=spec.generation,
        resource_version="",
        spec=FunctionSpec(s3_key=KEYS[spec.key], runtime="python3.11", env=env),
        annotations={"sless.io/cancel": str(spec.cancel)} if spec.cancel else {},
    )


@cache
def image_of(key: str) -> str:
    return f"r/n/f@sha256:{key}"


@cache
def revision_of(spec: Spec) -> Revision:
    return wanted_revision(
        function_of(spec), image=image_of(spec.key), build=build_id(KEYS[spec.key])
    )


@cache
def outcome_of(ask: Ask, phase: Phase, reason: str, key: str, image: str) -> Outcome:
    return Outcome(
        namespace="n",
        name="f",
        ask=ask,
        phase=phase,
        reason=reason,
        message="",
        s3_key=KEYS[key],
        build=build_id(KEYS[key]),
        runtime="python3.11",
        image=image,
    )


class Hashed:
    """Hashes once: a world is looked up many times, and shares most of it with the one before."""

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(vars(self).values()))

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True)
class Turn(Hashed):
    """A `roll_out` activity between two external calls."""

    __hash__ = Hashed.__hash__

    uid: str
    key: str
    at: str = "function"
    """Reads the `function` next, the `deployment`, or is about to `write`."""
    spec: Spec | None = None
    read: Deployment | None = None
    step: object = None


@dataclass(frozen=True)
class Building(Hashed):
    """A BuildWorkflow."""

    __hash__ = Hashed.__hash__

    uid: str
    key: str
    at: str = "find"
    """find, job, promote, rollout."""
    turn: Turn | None = None
    cancelled: str = ""
    """Why its cancellation was requested; empty while it was not."""
    orphan: bool = False
    """Its parent was terminated: nobody hears of its end."""


@dataclass(frozen=True)
class Running(Hashed):
    """A FunctionWorkflow between two external calls."""

    __hash__ = Hashed.__hash__

    at: str = "look"
    """look, look more, do (a step), await, stopping, rollout, done."""
    order_ask: Ask | None = None
    read: Spec | None = None
    fresh: Spec | None = None
    """What `look` has just read, before it has read the rest."""
    has_read: bool = False
    step: object = None
    looked: bool = False
    pinned: Spec | None = None
    cancelled: Ask | None = None
    spent: bool = False
    child: Child | None = None
    turn: Turn | None = None


@dataclass(frozen=True)
class World(Hashed):
    __hash__ = Hashed.__hash__

    acts: int
    """How many acts people have left."""
    spec: Spec | None = None
    next_uid: int = 1
    images: frozenset[str] = frozenset()
    outcomes: tuple[tuple[Ask, Phase], ...] = ()
    repairs: frozenset[Ask] = frozenset()
    deployment: Deployment | None = None
    deployments_made: int = 0
    run: Running | None = None
    building: Building | None = None
    zombie: Turn | None = None
    zombies_left: int = 0
    looks: int = 0
    """Looks that the API has still to send."""
    terminated: Ask | None = None
    """What the memo of the newest run says, if that was terminated."""
    watcher: Ask | None = None
    """The ask for which the watcher is about to write Terminated."""
    wanted: tuple[tuple[str, int], ...] = ()
    """How many asks wanted each key."""
    failures: tuple[tuple[str, int], ...] = ()
    """How many Jobs of each key failed."""
    cancellable: Ask | None = None
    """The newest ask at the time of the last cancel or terminate."""
    lost: bool = False
    """Whether a person deleted an image or a Deployment by hand."""

    def outcome(self, ask: Ask) -> Phase | None:
        return dict(self.outcomes).get(ask)


def counted(counts: tuple[tuple[str, int], ...], key: str) -> tuple[tuple[str, int], ...]:
    table = dict(counts)
    table[key] = table.get(key, 0) + 1
    return tuple(sorted(table.items()))


__all__ = [
    "BUILDS",
    "KEYS",
    "LETTERS",
    "Availability",
    "Building",
    "Child",
    "ChildState",
    "FailedNote",
    "Progress",
    "Running",
    "Spec",
    "Turn",
    "World",
    "counted",
    "function_of",
    "image_of",
    "outcome_of",
    "replace",
    "revision_of",
]
