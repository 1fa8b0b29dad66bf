"""What the API answers, as types; the raw JSON stays for `-o json`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from sless.cli.output import Json
from sless.model.phase import Phase


def dig(content: object, *path: str) -> object:
    """What lies at that path of nested objects, or none."""
    for key in path:
        content = content.get(key) if isinstance(content, Mapping) else None
    return content


def text_at(content: object, *path: str) -> str:
    """The text at that path, empty where there is none."""
    found = dig(content, *path)
    return "" if found is None or isinstance(found, dict | list) else str(found)


def number_at(content: object, *path: str) -> int:
    """The integer at that path, 0 where there is none."""
    found = dig(content, *path)
    return found if isinstance(found, int) else 0


def objects_at(content: object, *path: str) -> list[Json]:
    """The objects in the list at that path."""
    found = dig(content, *path)
    if not isinstance(found, Sequence) or isinstance(found, str):
        return []
    return [cast("Json", item) for item in found if isinstance(item, dict)]


def texts_at(content: object, *path: str) -> list[str]:
    """The texts in the list at that path."""
    found = dig(content, *path)
    return [str(item) for item in found] if isinstance(found, list) else []


@dataclass(frozen=True, slots=True)
class AskReply:
    """The 202 that every act is answered with."""

    namespace: str
    name: str
    uid: str
    generation: int
    build: str
    s3_key: str
    url: str
    log_url: str
    temporal_url: str
    warnings: tuple[str, ...]


def parse_ask(content: Json) -> AskReply:
    """An ask's 202."""
    return AskReply(
        namespace=text_at(content, "namespace"),
        name=text_at(content, "name"),
        uid=text_at(content, "uid"),
        generation=number_at(content, "generation"),
        build=text_at(content, "build"),
        s3_key=text_at(content, "s3Key"),
        url=text_at(content, "url"),
        log_url=text_at(content, "logUrl"),
        temporal_url=text_at(content, "temporalUrl"),
        warnings=tuple(texts_at(content, "warnings")),
    )


@dataclass(frozen=True, slots=True)
class FunctionState:
    """What a Function's manifest says about the ask that its status is about."""

    uid: str
    generation: int
    """Of the newest spec."""
    observed: int
    """The generation that the status is about."""
    phase: str
    reason: str
    message: str
    build: str
    url: str

    def answers(self, generation: int) -> bool:
        """Whether the status is the end of that ask."""
        return self.observed == generation and self.phase in _ENDED


_ENDED = {phase.value for phase in Phase if phase.ended}


def parse_state(manifest: Json) -> FunctionState:
    """The state in a manifest."""
    return FunctionState(
        uid=text_at(manifest, "metadata", "uid"),
        generation=number_at(manifest, "metadata", "generation"),
        observed=number_at(manifest, "status", "observedGeneration"),
        phase=text_at(manifest, "status", "phase"),
        reason=text_at(manifest, "status", "reason"),
        message=text_at(manifest, "status", "message"),
        build=text_at(manifest, "status", "build"),
        url=text_at(manifest, "status", "url"),
    )
