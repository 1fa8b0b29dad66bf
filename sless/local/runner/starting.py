"""Starts the process of a revision."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sless.adapters.bundles.images import BundleImages
from sless.adapters.sqlite.database import Database
from sless.dependencies import Language
from sless.errors import ImageMissing
from sless.local.layout import Layout
from sless.local.runner.child import Child, start_child
from sless.local.runner.function_logs import FunctionLogs
from sless.local.runner.function_process import (
    TERMINATION_LOG,
    FunctionProcess,
    render_process,
    render_programs,
)
from sless.local.runner.interpreters import Interpreters
from sless.local.runner.settings import RunnerSettings
from sless.model.deployment import Deployment, Revision


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What all instances of a home share."""

    database: Database
    images: BundleImages
    interpreters: Interpreters
    settings: RunnerSettings
    logs: FunctionLogs
    starts: asyncio.Semaphore
    """Processes that may start at the same time: each takes all the processor it gets."""

    def folder(self, deployment: Deployment) -> Path:
        """The instance's own: its HOME, its temporary files and its termination log."""
        top = Layout(self.settings.data).functions / deployment.namespace / deployment.name
        return top / f"{deployment.uid[:8]}-{deployment.revision.instance}"


async def start_revision(
    revision: Revision,
    *,
    around: Surroundings,
    folder: Path,
    port: int,
    write: Callable[[bytes], None],
) -> Child:
    """Starts a process of that revision, to listen on that port, in its folder.

    Raises `ImageMissing` without its image, `RuntimeUnavailable`, `RegistryUnavailable` or OSError.
    """
    _clean(folder)
    interpreter = await around.interpreters.get(revision.runtime)
    _link(render_programs(interpreter, folder))
    process = _render(
        revision, around=around, language=interpreter.language, folder=folder, port=port
    )
    return start_child(
        process.command,
        environ=process.environ,
        folder=process.folder,
        mark=around.settings.mark("function", *folder.parts[-3:]),
        write=write,
    )


def _clean(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (folder / TERMINATION_LOG).unlink(missing_ok=True)


def _link(links: Mapping[Path, Path]) -> None:
    for link, target in links.items():
        link.parent.mkdir(exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(target)


def _render(
    revision: Revision, *, around: Surroundings, language: Language, folder: Path, port: int
) -> FunctionProcess:
    bundle = around.images.find_bundle(revision.image)
    if bundle is None:
        raise ImageMissing(f"The image {revision.image} is not there any more.")
    return render_process(
        revision,
        bundle=bundle,
        trees=around.images.trees,
        language=language,
        folder=folder,
        port=port,
        drain_seconds=around.settings.drain_seconds,
    )
