"""What an operator settles about build Jobs, as the renderer takes it: pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from sless.adapters.registry.place import RegistryPlace
from sless.errors import InvalidSetting


class BuilderKind(StrEnum):
    """Which program builds; all else of a Job is the same."""

    KANIKO = "kaniko"
    BUILDAH = "buildah"


@dataclass(frozen=True, slots=True)
class BuildImages:
    """The images of a Job's three containers."""

    fetch: str
    """Any with `python3`, 3.9 or newer."""
    build: str
    """Kaniko's executor, or one with `buildah` and `sh`."""
    push: str
    """One with `skopeo`."""


@dataclass(frozen=True, slots=True)
class Resources:
    """A container's bounds, as Kubernetes writes quantities."""

    cpu_request: str
    memory_request: str
    memory_limit: str
    cpu_limit: str = ""
    """None where empty."""


SMALL = Resources("50m", "64Mi", "512Mi")
"""For what fetches and pushes: streams, and a little for compression."""


@dataclass(frozen=True, slots=True)
class JobOptions:
    """One value for all Jobs of an installation."""

    place: RegistryPlace
    images: BuildImages
    kind: BuilderKind = BuilderKind.KANIKO
    namespace: str = "sless-builds"
    """The platform's own: whoever may create pods in it could mount the push secret."""
    push_secret: str = ""
    """A Secret of type kubernetes.io/dockerconfigjson there; none for an open registry."""
    pull_secret: str = ""
    """Likewise, for the images of the containers; the node uses it, no container sees it."""
    base_secret: str = ""
    """Likewise, for base images: a container before the one that builds fetches them with it."""
    base_images: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """By runtime; needed with `base_secret` only."""
    ca_config_map: str = ""
    """A ConfigMap there whose `ca.crt` is trusted besides the usual certificates."""
    environment: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """What installers read while an image is built: a package index, a proxy. No secret."""
    build: Resources = field(default_factory=lambda: Resources("500m", "512Mi", "2Gi"))
    storage: str = "10Gi"
    """The most that a build's files may take, its base image included."""
    user_namespaces: bool = True
    """Whether a Job without a user namespace of its own is refused."""
    keep_seconds: int = 86_400
    """How long an ended Job stays for people to look at."""
    slack_seconds: int = 900
    """What a Job gets on top of its build's deadline, to be scheduled and to pull its images."""

    def __post_init__(self) -> None:
        if self.kind is BuilderKind.BUILDAH and not self.user_namespaces:
            raise InvalidSetting(
                "SLESS_BUILDER__USER_NAMESPACES=false cannot go with the builder buildah, which "
                "would have SYS_ADMIN on the node: use kaniko."
            )
