"""Every setting of the product, read from the environment once, in a composition root.

`SLESS_<NAME>` or `SLESS_<GROUP>__<NAME>`, two underscores between group and name; tuples and
mappings are JSON. Temporal's address and S3's credentials keep the names that their own tools read:
`TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, `AWS_ACCESS_KEY_ID` and so on.
"""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PositiveFloat,
    PositiveInt,
    ValidationError,
    field_validator,
)
from pydantic_settings import BaseSettings, SettingsConfigDict, SettingsError

from sless.errors import InvalidSetting
from sless.issuers import IssuerSettings

PREFIX = "SLESS_"
DELIMITER = "__"

MIB = 1024 * 1024

_ADDRESS = r"^([A-Za-z0-9.-]+(:[0-9]+)?)?$"
"""A registry's, without scheme and path; or empty."""
_REPOSITORY = r"^[a-z0-9]+([._/-][a-z0-9]+)*$"
_BUCKET = r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$"
"""As S3 has them."""

Port = Annotated[int, Field(ge=0, le=65535)]


class _Group(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", use_attribute_docstrings=True, validate_default=True
    )


class StorageSettings(_Group):
    """S3: zips, contexts, logs and outcomes in one bucket."""

    endpoint: str = ""
    """URL of the S3 endpoint; empty for the provider's own."""
    bucket: Annotated[str, Field(pattern=_BUCKET)] = "sless"
    """Bucket, made at the start when it is absent."""
    region: str = "us-east-1"
    """Region that requests are signed for."""
    path_style: bool = True
    """Bucket in the path instead of the host name, as most stores but AWS need."""


class ApiSettings(_Group):
    """The HTTP API that `sless` and people talk to."""

    host: str = "127.0.0.1"
    """Address to listen on."""
    port: Port = 8081
    """TCP port to listen on."""
    url: str = "http://127.0.0.1:8081"
    """How the outside reaches the API: log addresses start with it."""
    drain_seconds: PositiveFloat = 10.0
    """Requests under way at SIGTERM may go on for so long."""


class GatewaySettings(_Group):
    """Envoy, which carries the calls of functions."""

    host: str = "127.0.0.1"
    """Address to listen on."""
    port: Port = 8080
    """TCP port to listen on."""
    url: str = "http://127.0.0.1:8080"
    """How the outside reaches the gateway: addresses of functions start with it."""
    stream_idle_seconds: PositiveFloat = 300.0
    """A call in which no byte moves for so long, in either direction, is ended."""
    leave_seconds: Annotated[float, Field(ge=0)] = 0.0
    """Kubernetes: new calls are taken for so long after SIGTERM, until nobody sends any more."""
    drain_seconds: PositiveFloat = 10.0
    """Calls under way at SIGTERM, or at the end of that, may go on for so long."""
    trusted_hops: Annotated[int, Field(ge=0)] = 0
    """Proxies of the operator's own before the gateway, whose X-Forwarded-* are believed."""
    pass_token: bool = False
    """Pass the platform's own tokens on to functions."""
    folder: Path | None = None
    """Kubernetes: folder that Envoy and its writer share, with a path of at most 96 bytes."""
    concurrency: Annotated[int, Field(ge=0)] = 0
    """Envoy's threads, each some 3 MiB for 1 000 functions; 0 is one per processor."""
    tell_port: Port = 8090
    """Kubernetes: port on which a gateway tells what it routes, and whether it is ready."""
    service: str = "sless-gateway"
    """Kubernetes: Service of the gateways, by which the watcher finds them."""
    namespace: str = "sless-system"
    """Kubernetes: namespace of that Service."""


class TemporalSettings(_Group):
    """What Temporal's own variables do not say."""

    ui_url: str = "http://127.0.0.1:8233"
    """How people reach Temporal UI: links to builds start with it."""
    task_queue: str = "sless"
    """Queue that the worker listens on."""


class RuntimesSettings(_Group):
    """What functions may be written in: an open list of versioned names."""

    offered: tuple[str, ...] = ("python3.11", "python3.12", "python3.13", "node20", "node22")
    """Runtimes that an upload may name."""
    default: str = "python3.11"
    """Runtime of an upload that names none."""
    interpreters: dict[str, Path] = Field(default_factory=dict)
    """Embedded: interpreter by runtime, where the one found on the PATH is not the wanted one."""
    base_images: dict[str, str] = Field(default_factory=dict)
    """Kubernetes: base image by runtime, where it is another than Docker Hub's own."""
    index_url: str = ""
    """Package index for Python builds; empty for the installer's own."""
    npm_registry: str = ""
    """Registry for Node builds; empty for npm's own."""


class RegistrySettings(_Group):
    """Kubernetes: the registry that images are pushed to; see docs/builders.md."""

    push: Annotated[str, Field(pattern=_ADDRESS)] = ""
    """Address to push to and to ask, `host[:port]`."""
    pull: Annotated[str, Field(pattern=_ADDRESS)] = ""
    """Address that nodes pull from; empty where it is the same."""
    prefix: Annotated[str, Field(pattern=_REPOSITORY)] = "sless"
    """What every repository starts with; with flat names, their owner."""
    flat: bool = False
    """Whether the registry knows `owner/name` only."""
    plain_http: tuple[str, ...] = ()
    """Addresses spoken with without TLS, those of base images included."""
    credentials: Path | None = None
    """The worker's Docker config.json; none for a registry that asks nobody."""
    ca_file: Path | None = None
    """Certificates, in PEM, that the worker trusts besides the system's."""
    request_seconds: PositiveFloat = 10.0
    """How long one answer may take."""
    busy_seconds: PositiveFloat = 30.0
    """How long one that says it is busy is waited for, at a time."""


class BuilderSettings(_Group):
    """Kubernetes: the Jobs that build images; see docs/builders.md."""

    kind: Literal["kaniko", "buildah"] = "kaniko"
    """Which program builds."""
    namespace: str = "sless-builds"
    """Namespace of the Jobs: the platform's own, in which no tenant may create pods."""
    fetch_image: str = "python:3.12-slim"
    """Image that fetches the context: any with Python 3.9 or newer."""
    build_image: str = ""
    """Image that builds: Kaniko's executor, or one with buildah; pin it by digest."""
    push_image: str = ""
    """Image that pushes: one with skopeo; pin it by digest."""
    push_secret: str = ""
    """Secret of that namespace (kubernetes.io/dockerconfigjson) that may push."""
    pull_secret: str = ""
    """Likewise, for pulling the three images above."""
    base_secret: str = ""
    """Likewise, for base images that not everyone may pull."""
    ca_config_map: str = ""
    """ConfigMap of that namespace whose `ca.crt` a build trusts, as a company's proxy needs."""
    https_proxy: str = ""
    """Proxy of all that a build fetches."""
    no_proxy: str = ""
    """What is reached without it: S3, the registry."""
    cpu_request: str = "500m"
    """Processor that a build is sure of."""
    cpu_limit: str = ""
    """The most processor that it gets; empty for what the node has."""
    memory_request: str = "512Mi"
    """Memory that a build is sure of; its limit is SLESS_LIMITS__BUILD_MEMORY_BYTES."""
    storage: str = "10Gi"
    """The most that a build's files may take, its base image included."""
    user_namespaces: bool = True
    """Whether a pod that got no user namespace of its own is refused."""
    keep_seconds: PositiveInt = 86_400
    """How long an ended Job stays to be looked at."""
    unschedulable_seconds: PositiveFloat = 600.0
    """A pod without a node before its build has failed: an autoscaler may be adding one."""
    start_seconds: PositiveFloat = 120.0
    """A pod that cannot pull or mount something before its build has failed."""


class PodsSettings(_Group):
    """Kubernetes: the pods of functions; quantities as Kubernetes writes them."""

    cpu_request: str = "50m"
    """Processor that a function is sure of."""
    cpu_limit: str = ""
    """The most processor that it gets; empty for what the node has."""
    memory_request: str = "64Mi"
    """Memory that a function is sure of."""
    memory_limit: str = "512Mi"
    """The most memory that it gets."""
    storage: str = "512Mi"
    """The most that /tmp, the one folder that it may write, may take."""
    pull_secret: str = ""
    """Secret (kubernetes.io/dockerconfigjson) in each function's namespace that may pull images."""


class TokensSettings(_Group):
    """Tokens that the API takes beside those of the home's own key; see docs/auth.md."""

    issuers: tuple[IssuerSettings, ...] = ()
    """Issuers that are trusted, each a JSON object as below."""
    leeway_seconds: Annotated[float, Field(ge=0, le=300)] = 5.0
    """How far an issuer's clock and ours may differ."""
    max_bytes: Annotated[int, Field(ge=1024, le=48 * 1024)] = 16 * 1024
    """A longer token is refused unread; a request's head may have 64 KiB in all."""
    refresh_seconds: PositiveFloat = 300.0
    """Age at which an issuer's keys are fetched again; at twice that nothing is read before."""
    stale_seconds: PositiveFloat = 86_400.0
    """So long known keys go on being believed while their issuer does not answer."""
    cool_down_seconds: PositiveFloat = 5.0
    """Least time between two fetches for keys that were not found, or that failed."""
    fetch_seconds: PositiveFloat = 5.0
    """How long an issuer may take to give its keys."""

    @field_validator("issuers")
    @classmethod
    def _check_issuers(cls, issuers: tuple[IssuerSettings, ...]) -> tuple[IssuerSettings, ...]:
        if len({issuer.url for issuer in issuers}) != len(issuers):
            raise ValueError("an issuer may be named only once")
        return issuers


class LimitsSettings(_Group):
    """What is bounded, and where."""

    packed_bytes: PositiveInt = 512 * MIB
    """An upload's zip."""
    inflated_bytes: PositiveInt = 512 * MIB
    """What a zip inflates to."""
    entries: PositiveInt = 20_000
    """Entries in a zip."""
    request_bytes: PositiveInt = MIB
    """A request's JSON body: settings with hundreds of variables stay far below."""
    builds: PositiveInt = 2
    """Embedded: builds at the same time, one per processor of a small machine."""
    build_memory_bytes: PositiveInt = 2048 * MIB
    """What a build's processes may take together."""
    log_bytes: PositiveInt = 16 * MIB
    """A build's log; what comes after is dropped, and the log says so."""
    file_log_bytes: PositiveInt = 8 * MIB
    """Embedded: a part's log file before it is rotated; one older file is kept."""


class DeadlinesSettings(_Group):
    """How long things may take, in seconds, before they have failed."""

    build: PositiveInt = 900
    """A build's Job: the slowest dependency trees compile for minutes."""
    progress: PositiveInt = 60
    """A new revision until it answers its readiness probe."""
    drain: PositiveInt = 10
    """An old revision's requests under way once nothing new is routed to it."""
    start: PositiveInt = 60
    """Each part of the embedded home until it is ready; S3 and Temporal, whenever a part starts."""
    stop: PositiveInt = 15
    """Embedded: each part of the home after SIGTERM, before it is killed."""


class Settings(BaseSettings):
    """All of them."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter=DELIMITER,
        frozen=True,
        use_attribute_docstrings=True,
        validate_default=True,
    )

    home: Literal["embedded", "kubernetes"] = "embedded"
    """Which adapters the roots choose."""
    data: Path | None = None
    """Embedded: the data folder; `sless up` names it to every part."""
    ready_file: Path | None = None
    """File that a process makes once it is ready, and removes when it starts."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Least severe log line that is written."""
    log_format: Literal["json", "text"] = "json"
    """One JSON object per line, or text for people."""
    storage: StorageSettings = StorageSettings()
    api: ApiSettings = ApiSettings()
    gateway: GatewaySettings = GatewaySettings()
    temporal: TemporalSettings = TemporalSettings()
    runtimes: RuntimesSettings = RuntimesSettings()
    registry: RegistrySettings = RegistrySettings()
    builder: BuilderSettings = BuilderSettings()
    pods: PodsSettings = PodsSettings()
    tokens: TokensSettings = TokensSettings()
    limits: LimitsSettings = LimitsSettings()
    deadlines: DeadlinesSettings = DeadlinesSettings()


def read_settings() -> Settings:
    """The settings in the environment; raises `InvalidSetting`, naming the variable."""
    _check_names(os.environ)
    try:
        return Settings()
    except ValidationError as error:
        raise InvalidSetting(_sentence(error)) from error
    except SettingsError as error:
        named = re.search(r'field "(\w+)"', str(error))
        variable = PREFIX + (named[1].upper() if named else "")
        raise InvalidSetting(
            f'{variable}…: lists and mappings are JSON, such as ["python3.11"].'
        ) from error


def _check_names(environment: Mapping[str, str]) -> None:
    """Raises for what looks like a setting of a group and would be read by nobody."""
    groups = {
        name: field.annotation.model_fields
        for name, field in Settings.model_fields.items()
        if isinstance(field.annotation, type) and issubclass(field.annotation, _Group)
    }
    nearly = {
        f"{PREFIX}{group}_{inner}".upper(): f"{PREFIX}{group}{DELIMITER}{inner}".upper()
        for group, fields in groups.items()
        for inner in fields
    }
    for name, value in environment.items():
        # A Service called sless-api gives each pod beside it a SLESS_API_PORT.
        if name in nearly and not value.startswith("tcp://"):
            raise InvalidSetting(f"{name} is no setting: write {nearly[name]}, two underscores.")
        group, delimiter, _ = name.removeprefix(PREFIX).partition(DELIMITER)
        if name.startswith(PREFIX) and delimiter and group.lower() not in groups:
            raise InvalidSetting(f"{name} is no setting; docs/settings.md lists them.")


def _sentence(error: ValidationError) -> str:
    first = error.errors()[0]
    variable = _place(first["loc"])
    if first["type"] == "extra_forbidden":
        return f"{variable} is no setting; docs/settings.md lists them."
    if first["type"] == "missing":
        return f"{variable} is missing; docs/settings.md lists what is needed."
    said = first["msg"].removeprefix("Value error, ").replace("valid tuple", "JSON list")
    return f"{variable} is {first['input']!r}: {said[:1].lower()}{said[1:]}."


def _place(location: Sequence[int | str]) -> str:
    """The variable, and the way into its JSON: `SLESS_TOKENS__ISSUERS[0].url`."""
    depth = next((at for at, part in enumerate(location) if isinstance(part, int)), len(location))
    variable = PREFIX + DELIMITER.join(str(part) for part in location[:depth]).upper()
    inner = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in location[depth:])
    return variable + "".join(inner)
