"""The build context of a function: a checked zip in, a deterministic tar.gz out."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from sless.archive.contents import Contents, ZipFiles, find_contents
from sless.archive.dockerfile import CODE, DEPENDENCIES, RUNTIME, render_dockerfile
from sless.archive.limits import DEFAULT_LIMITS, ArchiveLimits
from sless.archive.paths import parents
from sless.archive.reader import ZipReader
from sless.archive.runtimes import DEFAULT_RUNTIMES, Runtime, get_runtime
from sless.archive.tarball import Tarball
from sless.archive.tree import Kind
from sless.files import replacing

DOCKERFILE = "Dockerfile"


@dataclass(frozen=True, slots=True)
class Context:
    """A context that was written."""

    sha256: str
    """Of the tar.gz: the same files give the same."""
    size: int
    """Of the tar.gz, in bytes."""
    entries: int
    """In the tar.gz, folders included."""
    contents: Contents

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences for whoever deploys."""
        return self.contents.warnings


def prepare_context(  # noqa: PLR0913 - what it takes besides the zip all has defaults
    zip_path: Path,
    runtime: str,
    out_path: Path,
    *,
    extra_files: Mapping[str, bytes] = MappingProxyType({}),
    runtimes: Mapping[str, Runtime] = DEFAULT_RUNTIMES,
    limits: ArchiveLimits = DEFAULT_LIMITS,
) -> Context:
    """Writes the context of the function in that zip to `out_path`, the Dockerfile first.

    `extra_files` are put below `runtime/`, by their path there: the launcher. Memory stays flat,
    whatever the zip holds. On any error nothing is left at `out_path`.

    Raises:
        RuntimeUnsupported: the runtime is not among `runtimes`.
        BadArchive: one of its leaves, naming the entry and the cure.
        BadDependencies: `DependencyFileInvalid` or `DependencyUnsupported`.
    """
    chosen = get_runtime(runtime, runtimes)
    with ZipReader(zip_path, limits) as reader:
        paths = [node.path for node in reader.tree if node.kind is not Kind.FOLDER]
        contents = find_contents(ZipFiles(reader, limits), paths, chosen.language)
        with replacing(out_path) as file, Tarball(file) as tarball:
            _add_data(tarball, DOCKERFILE, render_dockerfile(chosen, contents.dependencies))
            _add_code(tarball, reader)
            texts = {one.path: one.text.encode() for one in contents.dependencies.files}
            _add_folder(tarball, DEPENDENCIES, texts)
            _add_folder(tarball, RUNTIME, extra_files)
            tarball.finish()
    return Context(
        sha256=tarball.sha256, size=tarball.size, entries=tarball.entries, contents=contents
    )


def check_zip(zip_path: Path, limits: ArchiveLimits = DEFAULT_LIMITS) -> None:
    """Raises the leaf of `BadArchive` for which `prepare_context` would refuse that zip.

    Every file is inflated, and nothing is written.
    """
    with ZipReader(zip_path, limits) as reader:
        reader.check_data()


def _add_code(tarball: Tarball, reader: ZipReader) -> None:
    tarball.add_folder(CODE)
    for node in reader.tree:
        path = f"{CODE}/{node.path}"
        match node.kind:
            case Kind.FOLDER:
                tarball.add_folder(path)
            case Kind.LINK:
                tarball.add_link(path, node.target)
            case Kind.FILE:
                tarball.add_file(
                    path, reader.chunks(node), size=node.size, executable=node.executable
                )


def _add_folder(tarball: Tarball, folder: str, files: Mapping[str, bytes]) -> None:
    """A folder of ours with those files, and the folders they lie in."""
    tarball.add_folder(folder)
    folders = {parent for path in files for parent in parents(path)}
    for path in sorted({*files, *folders}):
        if path in files:
            _add_data(tarball, f"{folder}/{path}", files[path])
        else:
            tarball.add_folder(f"{folder}/{path}")


def _add_data(tarball: Tarball, path: str, data: bytes | str) -> None:
    content = data.encode() if isinstance(data, str) else data
    tarball.add_file(path, [content], size=len(content))
