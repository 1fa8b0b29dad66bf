"""`sless upload`."""

import click

from sless.cli.command import ServerCommand
from sless.cli.options import connect
from sless.cli.output import Json, say, say_json
from sless.cli.reporter import open_reporter
from sless.cli.runtime import choose_runtime
from sless.cli.sending import Code, Source, choose_ref, send, source_options
from sless.cli.shapes import text_at


@click.command(
    cls=ServerCommand,
    examples=(
        "sless upload examples/hello",
        "sless upload examples/hello -n shop -o manifest | kubectl apply -f -",
    ),
)
@source_options
@click.option(
    "-o",
    "--output",
    type=click.Choice(["text", "json", "manifest"]),
    default="text",
    help="The s3Key, the API's answer, or a Function's manifest.  [default: text]",
)
@click.pass_context
def upload(ctx: click.Context, *, source: Source, output: str) -> None:
    """Store a folder or a zip and deploy nothing, for kubectl or GitOps.

    Prints on stdout the s3Key that a Function's manifest names, or such a manifest.
    """
    reporter = open_reporter()
    ref = choose_ref(source, reporter)
    api = connect(ctx)
    with reporter:
        runtime = choose_runtime(api, source, api.find_function(ref), reporter)
        code = Code(source.path, ref, runtime)
        stored = send(api, code, reporter=reporter, deploy=False)
        if stored.get("created") is False:
            build = text_at(stored, "build")
            reporter.note(f"The code is unchanged: this zip was there already (build {build}).")
    if output == "text":
        say(text_at(stored, "s3Key"))
    else:
        say_json(stored if output == "json" else render_manifest(stored, code.runtime))


def render_manifest(stored: Json, runtime: str) -> Json:
    """The Function of a zip that the API stored for that runtime; JSON is YAML too."""
    from sless.manifests import API_VERSION, KIND, render_spec
    from sless.model.function import FunctionSpec

    spec = FunctionSpec(s3_key=text_at(stored, "s3Key"), runtime=runtime)
    metadata = {name: text_at(stored, name) for name in ("name", "namespace")}
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": metadata,
        "spec": render_spec(spec),
    }
