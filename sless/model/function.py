"""A Function, its spec, and the ask that one write of the spec makes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

CANCEL_ANNOTATION = "sless.io/cancel"
"""Names the generation whose ask a person cancels; it may stay."""


@dataclass(frozen=True, slots=True)
class FunctionRef:
    """A function by its name."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class Ask:
    """One write of a Function's spec; within a UID, the higher generation is the newer."""

    uid: str
    generation: int

    def __str__(self) -> str:
        return f"{self.uid}/{self.generation}"


@dataclass(frozen=True, slots=True)
class EnvVar:
    """One variable; `$(OTHER)` in a value refers to a variable before it."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class FunctionSpec:
    """What a person wants."""

    s3_key: str
    runtime: str
    handler: str | None = None
    """`module:attribute`, or none: the runtime looks for it."""
    command: tuple[str, ...] = ()
    """Starts any HTTP server on `$PORT`, instead of a handler."""
    env: tuple[EnvVar, ...] = ()
    request: str | None = None
    """A fresh token makes the same settings a new ask."""


@dataclass(frozen=True, slots=True)
class Function:
    """A Function as the store holds it, without its status."""

    namespace: str
    name: str
    uid: str
    generation: int
    resource_version: str
    spec: FunctionSpec
    annotations: Mapping[str, str] = field(default_factory=dict)

    @property
    def ref(self) -> FunctionRef:
        """Its name."""
        return FunctionRef(self.namespace, self.name)

    @property
    def ask(self) -> Ask:
        """The ask of its newest spec."""
        return Ask(self.uid, self.generation)

    @property
    def cancel_wanted(self) -> bool:
        """Whether the cancel annotation names this generation."""
        return self.annotations.get(CANCEL_ANNOTATION) == str(self.generation)
