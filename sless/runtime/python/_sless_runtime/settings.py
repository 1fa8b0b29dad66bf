"""What the environment tells the runtime."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .failure import StartFailed

DRAIN_SECONDS = 10.0
"""How long running requests may take after SIGTERM, unless told otherwise."""

OWN_NAMES = frozenset(
    f"SLESS_{name}"
    for name in (
        "CODE",
        "SITE",
        "RUNTIME_SITE",
        "HANDLER",
        "COMMAND",
        "TERMINATION_LOG",
        "DRAIN_SECONDS",
        "HOST",
    )
)
"""The variables that are the runtime's and not the function's."""


@dataclass(frozen=True, slots=True)
class Settings:
    """One function's start."""

    host: str
    port: int
    code: Path
    site: Path | None
    """The function's own packages; None when it has none."""
    handler: str | None
    command: str | tuple[str, ...] | None
    """A line for the shell, or a program and its arguments."""
    drain_seconds: float


def parse_settings(environ: Mapping[str, str]) -> Settings:
    """The settings in those variables; raises `StartFailed`."""
    site = environ.get("SLESS_SITE")
    return Settings(
        host=environ.get("SLESS_HOST") or "0.0.0.0",  # noqa: S104 - a pod's only address
        port=_parse_port(environ.get("PORT", "8080")),
        code=Path(environ.get("SLESS_CODE") or ".").resolve(),
        site=Path(site).resolve() if site and Path(site).is_dir() else None,
        handler=environ.get("SLESS_HANDLER", "").strip() or None,
        command=_parse_command(environ.get("SLESS_COMMAND", "")),
        drain_seconds=_parse_seconds(environ.get("SLESS_DRAIN_SECONDS")),
    )


def _parse_port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 2**16:
        raise StartFailed("FunctionCrashed", f"PORT is {text!r}; it must be 1 to 65535.")
    return int(text)


def _parse_seconds(text: str | None) -> float:
    try:
        return max(float(text), 0.0) if text else DRAIN_SECONDS
    except ValueError:
        raise StartFailed(
            "FunctionCrashed", f"SLESS_DRAIN_SECONDS is {text!r}; it must be a number of seconds."
        ) from None


def _parse_command(text: str) -> str | tuple[str, ...] | None:
    text = text.strip()
    if not text.startswith("["):
        return text or None
    try:
        words = json.loads(text)
    except ValueError:
        return text  # `[ -f x ] && …` is a line for the shell, too
    if not words or not all(isinstance(word, str) for word in words):
        raise StartFailed(
            "HandlerNotFound", f"The command {text} must be a list of strings, program first."
        )
    return tuple(words)
