"""The runtimes a function can be written for: an open list, by versioned name."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sless.dependencies import Language
from sless.errors import InvalidSetting, RuntimeUnsupported
from sless.naming import is_runtime_name

_IMAGE = re.compile(r"[\w.:/@-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Runtime:
    """One runtime on offer; raises `InvalidSetting` for a name or image that cannot be one."""

    name: str
    """Such as `python3.11`."""
    language: Language
    base_image: str
    """What its images start from; a tag or, better, a digest."""

    def __post_init__(self) -> None:
        if not is_runtime_name(self.name):
            raise InvalidSetting(
                f"{self.name!r} cannot be a runtime's name; use letters and a version, such as "
                "python3.11."
            )
        # It becomes a line of a Dockerfile.
        if not _IMAGE.fullmatch(self.base_image):
            raise InvalidSetting(
                f"{self.base_image!r} cannot be the base image of {self.name}; name an image."
            )


def runtimes_by_name(runtimes: Iterable[Runtime]) -> Mapping[str, Runtime]:
    """Those runtimes, for looking up."""
    return MappingProxyType({runtime.name: runtime for runtime in runtimes})


DEFAULT_RUNTIMES = runtimes_by_name(
    [
        *(
            Runtime(f"python{version}", Language.PYTHON, f"python:{version}-slim")
            for version in ("3.11", "3.12", "3.13")
        ),
        *(
            Runtime(f"node{version}", Language.NODE, f"node:{version}-slim")
            for version in ("20", "22")
        ),
    ]
)


def get_runtime(name: str, runtimes: Mapping[str, Runtime] = DEFAULT_RUNTIMES) -> Runtime:
    """The runtime of that name; raises `RuntimeUnsupported`, naming those on offer."""
    runtime = runtimes.get(name)
    if runtime is None:
        raise RuntimeUnsupported(
            f"Runtime {name[:80]!r} is not offered; use one of {', '.join(sorted(runtimes))}."
        )
    return runtime
