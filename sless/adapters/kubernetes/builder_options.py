"""From an operator's settings to what builders, the registry and contexts take: pure."""

from collections.abc import Mapping

from sless.adapters.kubernetes.job_options import (
    BuilderKind,
    BuildImages,
    JobOptions,
    Resources,
)
from sless.adapters.kubernetes.slow_start import Graces
from sless.adapters.registry.place import RegistryPlace
from sless.archive import DEFAULT_RUNTIMES, Runtime
from sless.archive.runtimes import runtimes_by_name
from sless.dependencies import Language
from sless.errors import InvalidSetting
from sless.settings import (
    MIB,
    BuilderSettings,
    RegistrySettings,
    RuntimesSettings,
    Settings,
)

_SCHEDULING_SLACK_SECONDS = 300
"""On top of the grace for being scheduled: pulling images, and what a Job's controller takes."""


def place_of(settings: RegistrySettings) -> RegistryPlace:
    """Where images lie; raises `InvalidSetting` when no registry is named."""
    if not settings.push:
        raise InvalidSetting("SLESS_REGISTRY__PUSH must name the registry, as host[:port].")
    return RegistryPlace(
        push=settings.push,
        pull=settings.pull,
        prefix=settings.prefix,
        flat=settings.flat,
        plain_http=frozenset(settings.plain_http),
    )


def job_options_of(settings: Settings) -> JobOptions:
    """How builds run; raises `InvalidSetting` for what is missing or does not go together."""
    builder = settings.builder
    return JobOptions(
        place=place_of(settings.registry),
        images=_images(builder),
        kind=BuilderKind(builder.kind),
        namespace=builder.namespace,
        push_secret=builder.push_secret,
        pull_secret=builder.pull_secret,
        base_secret=builder.base_secret,
        base_images={
            name: each.base_image for name, each in runtimes_of(settings.runtimes).items()
        },
        ca_config_map=builder.ca_config_map,
        environment=_environment(builder, settings.runtimes),
        build=Resources(
            cpu_request=builder.cpu_request,
            memory_request=builder.memory_request,
            memory_limit=_quantity(settings.limits.build_memory_bytes),
            cpu_limit=builder.cpu_limit,
        ),
        storage=builder.storage,
        user_namespaces=builder.user_namespaces,
        keep_seconds=builder.keep_seconds,
        slack_seconds=int(builder.unschedulable_seconds) + _SCHEDULING_SLACK_SECONDS,
    )


def graces_of(settings: BuilderSettings) -> Graces:
    """How long a pod may fail to start."""
    return Graces(unschedulable=settings.unschedulable_seconds, other=settings.start_seconds)


def runtimes_of(settings: RuntimesSettings) -> Mapping[str, Runtime]:
    """The runtimes on offer with their base images; raises `InvalidSetting` without one."""
    return runtimes_by_name(_runtime(name, settings.base_images) for name in settings.offered)


def _runtime(name: str, base_images: Mapping[str, str]) -> Runtime:
    usual = DEFAULT_RUNTIMES.get(name)
    image = base_images.get(name) or (usual.base_image if usual else "")
    if not image:
        raise InvalidSetting(f"SLESS_RUNTIMES__BASE_IMAGES lacks the base image of {name}.")
    language = next((each for each in Language if name.startswith(each.value)), None)
    if language is None:
        raise InvalidSetting(f"SLESS_RUNTIMES__OFFERED: nothing here can build for {name}.")
    return Runtime(name, language, image)


def _images(builder: BuilderSettings) -> BuildImages:
    for name, image in {
        "FETCH_IMAGE": builder.fetch_image,
        "BUILD_IMAGE": builder.build_image,
        "PUSH_IMAGE": builder.push_image,
    }.items():
        if not image:
            raise InvalidSetting(f"SLESS_BUILDER__{name} must name an image; see docs/builders.md.")
    return BuildImages(builder.fetch_image, builder.build_image, builder.push_image)


def _environment(builder: BuilderSettings, runtimes: RuntimesSettings) -> dict[str, str]:
    """Each installer by its own names; lower case too, since some programs know no other."""
    values = {
        "UV_DEFAULT_INDEX": runtimes.index_url,
        "PIP_INDEX_URL": runtimes.index_url,
        "npm_config_registry": runtimes.npm_registry,
        "HTTP_PROXY": builder.https_proxy,
        "HTTPS_PROXY": builder.https_proxy,
        "https_proxy": builder.https_proxy,
        "NO_PROXY": builder.no_proxy,
        "no_proxy": builder.no_proxy,
    }
    return {name: value for name, value in values.items() if value}


def _quantity(size: int) -> str:
    """Bytes as people write them to Kubernetes."""
    return str(size) if size % MIB else f"{size // MIB}Mi"
