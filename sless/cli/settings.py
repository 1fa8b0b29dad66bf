"""Settings as the command line gives them, and as the API takes them."""

import shlex
from collections.abc import Collection, Sequence

from sless.cli.exits import Exit, Stop
from sless.cli.output import Json
from sless.cli.shapes import objects_at, text_at
from sless.model.function import EnvVar


def split_command(words: str) -> list[str]:
    """A command in a shell's words; empty for none. Raises `Stop`."""
    try:
        return shlex.split(words)
    except ValueError as error:
        raise Stop(
            f"--command {words!r} cannot be split into words ({error}): check its quotes.",
            Exit.USAGE,
        ) from error


def merge_env(
    manifest: Json | None, *, set_: Sequence[EnvVar], unset: Collection[str] = ()
) -> list[Json]:
    """The manifest's variables with those set and without those unset; the order stays."""
    _check_twice(set_)
    env = {text_at(item, "name"): item for item in objects_at(manifest, "spec", "env")}
    for name in unset:
        if env.pop(name, None) is None:
            raise Stop(f"There is no variable {name!r} to unset: check its name.", Exit.USAGE)
    return list((env | {var.name: {"name": var.name, "value": var.value} for var in set_}).values())


def _check_twice(env: Sequence[EnvVar]) -> None:
    names = [var.name for var in env]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise Stop(f"Variable {twice!r} is given twice: give it once.", Exit.USAGE)
