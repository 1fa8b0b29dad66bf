"""What runs: revisions, and the Deployment that carries one, its notes and its judgement."""

import hashlib
import json
from dataclasses import dataclass, field
from enum import StrEnum

from sless.model.function import Ask, EnvVar, Function


@dataclass(frozen=True, slots=True)
class Revision:
    """An image plus configuration; it succeeds or fails whole."""

    image: str
    """By digest: `<repository>@sha256:<hex>`."""
    build: str
    """The build id that made the image."""
    runtime: str
    handler: str | None = None
    command: tuple[str, ...] = ()
    env: tuple[EnvVar, ...] = ()
    retry: int = 0
    """The generation that asked for a failed revision once more, so that it starts anew."""

    @property
    def hash(self) -> str:
        """12 hexadecimal digits, equal for equal image and configuration, `retry` aside."""
        env = [(variable.name, variable.value) for variable in self.env]
        content = (self.image, self.build, self.runtime, self.handler, self.command, env)
        text = json.dumps(content, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def instance(self) -> str:
        """Likewise, a retry told apart: what a ReplicaSet or a process is named by."""
        return f"{self.hash}-{self.retry}" if self.retry else self.hash


@dataclass(frozen=True, slots=True)
class FailedNote:
    """Says on a Deployment which ask's revision failed, and why."""

    ask: Ask
    hash: str
    reason: str
    message: str


class Progress(StrEnum):
    """How the newest revision of a Deployment fares."""

    PROGRESSING = "Progressing"
    AVAILABLE = "Available"
    FAILED = "Failed"


@dataclass(frozen=True, slots=True)
class Availability:
    """The home's own judgement of the Deployment's present revision."""

    progress: Progress = Progress.PROGRESSING
    reason: str = ""
    """A leaf of the error tree when it failed, or while it struggles."""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Deployment:
    """A function's Deployment; `uid` and `resource_version` are empty before it is created."""

    namespace: str
    name: str
    """The function's name; the object's own name is the adapter's matter."""
    ask: Ask
    """Of the Function's uid: the newest ask that wrote it. Never goes backwards."""
    revision: Revision
    good: Revision | None = None
    """The revision last marked good: what is put back when a newer one fails."""
    good_generation: int = 0
    """The newest generation that the good revision served; 0 without one."""
    failed: FailedNote | None = None
    uid: str = ""
    resource_version: str = ""
    availability: Availability = field(default_factory=Availability)
    exposed: bool = True
    """Whether calls find it, on Kubernetes by its Service, and whoever looks for what is the
    Function's, by label and owner; the home's own judgement likewise."""

    @property
    def is_good(self) -> bool:
        """Whether the present revision was marked good."""
        return self.good is not None and self.good.instance == self.revision.instance

    @property
    def is_settled(self) -> bool:
        """Whether nothing is to be put back: it is good, or failed with nothing good before it."""
        noted = self.failed is not None and self.failed.ask == self.ask
        return self.is_good or (self.good is None and noted)


def wanted_revision(function: Function, *, image: str, build: str) -> Revision:
    """The revision that a Function asks for, given its build's image."""
    spec = function.spec
    return Revision(
        image=image,
        build=build,
        runtime=spec.runtime,
        handler=spec.handler,
        command=spec.command,
        env=spec.env,
    )
