"""`sless get`: one function, in plain words."""

from typing import TYPE_CHECKING

import click

from sless.cli.command import ServerCommand
from sless.cli.exits import Stop
from sless.cli.options import (
    connect,
    function_argument,
    output_option,
)
from sless.cli.output import Json, say, say_fields, say_json, say_table
from sless.cli.shapes import objects_at, text_at, texts_at
from sless.cli.show import BUILD_HEADER, build_row, own_reason
from sless.cli.texts import age, sentence
from sless.cli.warned import say_warnings
from sless.model.function import FunctionRef
from sless.model.phase import Phase

if TYPE_CHECKING:
    from sless.cli.api import Api

_BUILDS = 5


@click.command(
    cls=ServerCommand,
    examples=("sless get hello", "sless get hello -o json"),
)
@function_argument
@output_option
@click.pass_context
def get(ctx: click.Context, *, ref: FunctionRef, output: str) -> None:
    """Show a function: what is wanted, how it is doing, its warnings and last builds."""
    api = connect(ctx)
    manifest = api.function(ref)
    if output == "json":
        say_json(manifest)
        return
    log = api.connection.server.function_log(ref)
    say_fields([*_fields(ref, manifest), ("Log", str(log or ""))])
    for line in _warnings(manifest):
        say(f"\n{line}")
    _say_conditions(manifest)
    say_warnings(manifest)
    _say_builds(api, ref)


def _fields(ref: FunctionRef, manifest: Json) -> list[tuple[str, str]]:
    env = [
        f"{text_at(v, 'name')}={text_at(v, 'value')}" for v in objects_at(manifest, "spec", "env")
    ]
    phase = text_at(manifest, "status", "phase") or Phase.PENDING.value
    return [
        ("Function", str(ref)),
        ("URL", text_at(manifest, "status", "url")),
        ("Phase", phase),
        ("Reason", own_reason(manifest.get("status"))),
        ("Message", sentence(text_at(manifest, "status", "message"))),
        ("Runtime", text_at(manifest, "spec", "runtime")),
        ("Handler", text_at(manifest, "spec", "handler")),
        ("Command", " ".join(texts_at(manifest, "spec", "command"))),
        ("Environment", ", ".join(env)),
        ("Build", text_at(manifest, "status", "build")),
        ("Image", text_at(manifest, "status", "image")),
        ("Generation", _generation(manifest)),
        ("Age", age(text_at(manifest, "metadata", "creationTimestamp"))),
    ]


def _generation(manifest: Json) -> str:
    wanted = text_at(manifest, "metadata", "generation")
    serving = text_at(manifest, "status", "servingGeneration")
    if serving in {"", "0"}:
        return f"{wanted}, and none is serving"
    return wanted if serving == wanted else f"{wanted}, while {serving} is serving"


def _warnings(manifest: Json) -> list[str]:
    phase = text_at(manifest, "status", "phase")
    serving = text_at(manifest, "status", "servingGeneration")
    wanted = text_at(manifest, "metadata", "generation")
    lines = []
    if text_at(manifest, "status", "observedGeneration") not in {"", wanted}:
        lines.append("A newer ask is not looked at yet; what is shown is about the one before.")
    if phase in {Phase.FAILED, Phase.CANCELLED} and serving not in {"", "0", wanted}:
        lines.append("The newest ask is not served; the last good version goes on answering.")
    return lines


def _say_conditions(manifest: Json) -> None:
    conditions = objects_at(manifest, "status", "conditions")
    if not conditions:
        return
    say("")
    told = text_at(manifest, "status", "message")
    for condition in conditions:
        say(_condition_line(condition, told=told))


def _condition_line(condition: Json, *, told: str) -> str:
    """Its reason, and its message unless that was told above as the whole function's."""
    kind, reason = text_at(condition, "type"), text_at(condition, "reason")
    said = {"True": "yes", "False": "no"}.get(text_at(condition, "status"), "unknown")
    message = text_at(condition, "message")
    more = "" if reason and message == told else sentence(message)
    why = ": ".join(part for part in (reason, more) if part and part != kind)
    since = age(text_at(condition, "lastTransitionTime"))
    line = f"{kind}: {said}, for {since}"
    return f"{line} ({why})" if why else line


def _say_builds(api: "Api", ref: FunctionRef) -> None:
    try:
        builds = api.some_builds(ref, _BUILDS)
    except Stop as stop:
        say(f"\nIts builds cannot be listed just now: {stop.sentence}")
        return
    if builds:
        say("")
        say_table(BUILD_HEADER, [build_row(build) for build in builds])
