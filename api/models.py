"""The bodies that cross HTTP: what clients send and what they get, camelCase on the wire."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag
from pydantic.alias_generators import to_camel


class Sent(BaseModel):
    """A body that clients send: an unknown field is a mistake, never ignored."""

    model_config = ConfigDict(
        alias_generator=to_camel, extra="forbid", frozen=True, validate_by_name=True
    )


class Answered(BaseModel):
    """A body that clients get: they ignore what they do not know."""

    model_config = ConfigDict(
        alias_generator=to_camel, extra="ignore", frozen=True, validate_by_name=True
    )


class EnvEntry(Sent):
    """One variable; `$(OTHER)` in a value refers to a variable before it."""

    name: str = Field(examples=["GREETING"])
    value: str = Field(examples=["Hello"])


def _form_of_env(value: object) -> str:
    """Decides by the form alone, so that an error speaks of the form that was sent."""
    return "mapping" if isinstance(value, dict) else "list"


SentEnv = Annotated[
    Annotated[list[EnvEntry], Tag("list")] | Annotated[dict[str, str], Tag("mapping")],
    Discriminator(_form_of_env),
]
"""A list keeps its order; a mapping is sorted by name."""


class Settings(Sent):
    """What may be set beside the code. A field left out keeps its value; null removes it."""

    handler: str | None = Field(default=None, examples=["main:handler"])
    command: list[str] | None = None
    env: SentEnv | None = None


class SpecPatch(Settings):
    """Settings, and for GitOps the key of a zip stored with `deploy=false`."""

    s3_key: str | None = None


class FunctionPatch(Sent):
    """A JSON merge patch (RFC 7396) of a Function: its spec alone may be patched."""

    spec: SpecPatch


class RollbackTarget(Sent):
    """The build to go back to."""

    build: str = Field(examples=["0123456789ab"], json_schema_extra={"pattern": "^[0-9a-f]{12}$"})


class AskAccepted(Answered):
    """An ask was written: it will end with one outcome, whatever crashes in between."""

    namespace: str
    name: str
    uid: str
    generation: int
    s3_key: str
    build: str
    workflow_id: str
    """The build's workflow; it runs only when the image is not there yet."""
    function_workflow_id: str
    log_url: str
    temporal_url: str
    url: str
    """Where the function answers once it serves."""
    warnings: list[str] = []


class UploadStored(Answered):
    """The zip is stored and nothing was asked (`deploy=false`)."""

    namespace: str
    name: str
    s3_key: str
    build: str
    sha256: str
    size: int
    """Of the zip, in bytes."""
    created: bool
    """False when the same zip was there already."""


class Metadata(Answered):
    """A Function's identity and versions."""

    namespace: str
    name: str
    uid: str
    generation: int
    resource_version: str
    creation_timestamp: str = ""
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}


class Spec(Answered):
    """What a person wants of a Function."""

    s3_key: str
    runtime: str
    handler: str | None = None
    command: list[str] = []
    env: list[EnvEntry] = []
    request: str | None = None


class Condition(Answered):
    """One aspect of a Function's state."""

    type: str
    status: str
    reason: str = ""
    message: str = ""
    observed_generation: int = 0
    last_transition_time: str = ""


class Status(Answered):
    """What the watcher last saw; empty until it looked."""

    observed_generation: int = 0
    phase: str = ""
    reason: str = ""
    message: str = ""
    build: str = ""
    image: str = ""
    revision: str = ""
    url: str = ""
    serving_generation: int = 0
    conditions: list[Condition] = []


class FunctionBody(Answered):
    """A Function as `kubectl get -o json` shows it."""

    api_version: str
    kind: str
    metadata: Metadata
    spec: Spec
    status: Status = Status()


class WarningBody(Answered):
    """Something that went wrong with what carries a function, or with the Jobs of its build."""

    about: str = Field(examples=["pod fn-hello-5d4c8f7b9-x2x4z"])
    reason: str = Field(examples=["FailedScheduling"])
    """The home's own word, or a reason of a problem."""
    message: str
    count: int
    """How often it was seen."""
    last_seen: str
    """RFC 3339 in UTC."""


class FunctionDetail(FunctionBody):
    """A Function, and what its home warns of."""

    warnings: list[WarningBody] | None
    """Of the last hour, the newest first, at most ten; null when the home could not be asked."""


class FunctionList(Answered):
    """A page of Functions by name."""

    items: list[FunctionBody]
    next: str = ""
    """What `after` takes for the next page; empty at the end."""


class StepBody(Answered):
    """One step of a build or rollout; times are RFC 3339 in UTC."""

    name: str
    started_at: str
    ended_at: str = ""
    reason: str = ""


class BuildBody(Answered):
    """How one ask was or is being answered."""

    id: str
    generation: int
    phase: str
    reason: str = ""
    message: str = ""
    attempts: int = 0
    steps: list[StepBody] = []
    image: str = ""
    s3_key: str
    runtime: str
    workflow_id: str
    run_id: str = ""
    temporal_url: str
    started_at: str = ""
    ended_at: str = ""


class BuildList(Answered):
    """A page of builds, the newest generation first."""

    items: list[BuildBody]
    next: str = ""


class RevisionBody(Answered):
    """A revision that became ready once."""

    revision: str
    build: str
    image: str
    generation: int
    ready_at: str
    serving: bool = False


class RevisionList(Answered):
    """A page of revisions, the newest generation first."""

    items: list[RevisionBody]
    next: str = ""


class RuntimeBody(Answered):
    """A runtime on offer."""

    name: str = Field(examples=["python3.11"])
    missing: str = ""
    """What the machine lacks to run it, with the cure; empty when an upload may name it now."""


class RuntimeList(Answered):
    """Every runtime on offer, in the order of the settings."""

    items: list[RuntimeBody]


class Problem(Answered):
    """Why a request was not fulfilled (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    """One sentence that names the thing and the cure."""
    reason: str
    """A stable word, the same in the API, the Function's status, Temporal and the CLI."""
    instance: str
    request_id: str


class Readiness(Answered):
    """Whether requests can be served, and what is in the way."""

    ready: bool
    checks: dict[str, str]
    """`ok`, or what is wrong, by the part's name."""
