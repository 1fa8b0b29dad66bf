"""Commands that list: functions, builds, revisions."""

import click

from sless.cli.command import ServerCommand
from sless.cli.options import (
    connect,
    function_argument,
    namespace_option,
    output_option,
)
from sless.cli.output import Json, say_json, say_table, tell
from sless.cli.shapes import number_at, text_at
from sless.cli.texts import age, command, took, words
from sless.model.function import FunctionRef


@click.command(
    "list",
    cls=ServerCommand,
    examples=("sless list -n team-a", "sless list -o json | jq -r '.items[].status.url'"),
)
@namespace_option
@output_option
@click.pass_context
def list_functions(ctx: click.Context, *, namespace: str, output: str) -> None:
    """List the functions in a namespace."""
    items = connect(ctx).functions(namespace)
    if output == "json":
        say_json({"items": items})
    elif not items:
        tell(f"No functions in {namespace}: {command('deploy', 'PATH')} makes one.")
    else:
        say_table(
            ("NAME", "NAMESPACE", "PHASE", "RUNTIME", "URL", "AGE"),
            [_function_row(i) for i in items],
        )


@click.command(
    cls=ServerCommand,
    examples=("sless builds hello",),
)
@function_argument
@output_option
@click.pass_context
def builds(ctx: click.Context, *, ref: FunctionRef, output: str) -> None:
    """List how each upload, retry, rollback and change was answered, the newest first."""
    items = connect(ctx).builds(ref)
    if output == "json":
        say_json({"items": items})
    elif not items:
        tell(f"No builds of {ref} yet: {command('get', *words(ref))} shows why.")
    else:
        say_table(BUILD_HEADER, [build_row(item) for item in items])


@click.command(
    cls=ServerCommand,
    examples=("sless revisions hello",),
)
@function_argument
@output_option
@click.pass_context
def revisions(ctx: click.Context, *, ref: FunctionRef, output: str) -> None:
    """List what was ready once: where `sless rollback` can go back to."""
    items = connect(ctx).revisions(ref)
    if output == "json":
        say_json({"items": items})
    elif not items:
        tell(f"{ref} was never ready: {command('get', *words(ref))} shows why.")
    else:
        header = ("BUILD", "REVISION", "GENERATION", "READY", "SERVING")
        say_table(header, [_revision_row(item) for item in items])


BUILD_HEADER = ("BUILD", "GENERATION", "PHASE", "REASON", "RUNTIME", "TOOK", "AGE")


def build_row(build: Json) -> tuple[str, ...]:
    """A build below `BUILD_HEADER`."""
    started, ended = text_at(build, "startedAt"), text_at(build, "endedAt")
    return (
        text_at(build, "id"),
        str(number_at(build, "generation")),
        text_at(build, "phase"),
        own_reason(build) or "-",
        text_at(build, "runtime"),
        took(started, ended),
        age(started or ended),
    )


def own_reason(state: object) -> str:
    """The reason, where it says more than the phase beside it."""
    reason = text_at(state, "reason")
    return "" if reason == text_at(state, "phase") else reason


def _function_row(manifest: Json) -> tuple[str, ...]:
    return (
        text_at(manifest, "metadata", "name"),
        text_at(manifest, "metadata", "namespace"),
        text_at(manifest, "status", "phase") or "Pending",
        text_at(manifest, "spec", "runtime"),
        text_at(manifest, "status", "url") or "-",
        age(text_at(manifest, "metadata", "creationTimestamp")),
    )


def _revision_row(revision: Json) -> tuple[str, ...]:
    return (
        text_at(revision, "build"),
        text_at(revision, "revision"),
        str(number_at(revision, "generation")),
        f"{age(text_at(revision, 'readyAt'))} ago",
        "yes" if revision.get("serving") is True else "",
    )
