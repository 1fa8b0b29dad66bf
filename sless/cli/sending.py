"""A folder or zip on its way to the API: for which function, packed and sent."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sless.cli.folder import check_path, name_for
from sless.cli.options import NAME, namespace_option
from sless.cli.output import Json
from sless.cli.reporter import Reporter
from sless.cli.texts import size
from sless.model.function import FunctionRef

if TYPE_CHECKING:
    from sless.archive.pack import PackResult
    from sless.cli.api import Api


@dataclass(frozen=True, slots=True)
class Source:
    """What the command line says about the code."""

    path: Path
    name: str | None
    namespace: str
    runtime: str | None


@dataclass(frozen=True, slots=True)
class Code:
    """A folder or zip, and what it is for."""

    path: Path
    ref: FunctionRef
    runtime: str


def source_options(command: Callable[..., None]) -> Callable[..., None]:
    """PATH, `--name`, `--runtime` and `--namespace`, handed over as one `source`."""

    @wraps(command)
    def gathered(
        *args: object,
        path: Path,
        name: str | None,
        namespace: str,
        runtime: str | None,
        **others: object,
    ) -> None:
        command(*args, source=Source(path, name, namespace, runtime), **others)

    for option in (namespace_option, _runtime_option, _name_option, _path_argument):
        gathered = option(gathered)
    return gathered


_path_argument = click.argument("path", type=click.Path(path_type=Path))
_name_option = click.option(
    "--name", type=NAME, help="Name of the function.  [default: the folder's]"
)
_runtime_option = click.option(
    "--runtime",
    help="Such as python3.11 or node20.  [default: the function's, or the newest that fits]",
)


def choose_ref(source: Source, reporter: Reporter) -> FunctionRef:
    """The function that the code is for; raises `Stop` where it can be none's."""
    check_path(source.path)
    return FunctionRef(source.namespace, source.name or _choose_name(source.path, reporter))


def send(
    api: "Api", code: Code, *, reporter: Reporter, settings: Json | None = None, deploy: bool = True
) -> Json:
    """Packs and uploads; what the API answers. Raises `BadArchive`, `Stop`."""
    from sless.cli.body import make_body

    params = {"runtime": code.runtime} | ({} if deploy else {"deploy": "false"})
    with tempfile.TemporaryDirectory(prefix="sless-") as folder:
        packed = _pack(code, Path(folder), reporter)
        body = make_body(packed, settings or {})
        with packed.path.open("rb") as file:
            sent = body.send(file, reporter.upload)
            return api.upload(code.ref, params=params, body=sent, headers=body.headers)


def _choose_name(path: Path, reporter: Reporter) -> str:
    name = name_for(path)
    own = path.resolve().stem if path.is_file() else path.resolve().name
    if name != own:
        reporter.note(f"Named it {name}, since {own!r} cannot be a function's name.")
    return name


def _pack(code: Code, folder: Path, reporter: Reporter) -> "PackResult":
    from sless.archive.pack import pack

    packed = pack(code.path, folder / "code.zip")
    for warning in packed.warnings:
        reporter.note(f"Warning: {warning}")
    files = "1 file" if packed.files == 1 else f"{packed.files} files"
    reporter.note(f"Packed {files} for {code.runtime}, {size(packed.size)}")
    return packed
