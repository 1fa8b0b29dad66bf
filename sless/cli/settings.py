"""Settings as the command line gives them, and as the API takes them."""

from collections.abc import Collection, Sequence

from sless.cli.exits import Exit, Stop
from sless.cli.output import Json
from sless.cli.shapes import objects_at, text_at
from sless.model.function import EnvVar


def merge_env(
    manifest: Json | None, *, put: Sequence[EnvVar], unset: Collection[str] = ()
) -> list[Json]:
    """The manifest's variables with those put and without those unset; the order stays."""
    env = {text_at(item, "name"): item for item in objects_at(manifest, "spec", "env")}
    for name in unset:
        if env.pop(name, None) is None:
            raise Stop(f"There is no variable {name!r} to unset: check its name.", Exit.USAGE)
    return list((env | {var.name: {"name": var.name, "value": var.value} for var in put}).values())
