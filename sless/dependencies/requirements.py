"""requirements.txt: what it includes, and whether a build can install it."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from packaging.requirements import InvalidRequirement, Requirement

from sless.dependencies.text import read_text
from sless.errors import DependencyFileInvalid, DependencyUnsupported

_COMMENT = re.compile(r"(^|\s)#.*$")
_OPTION = re.compile(r"(--[a-z-]+|-[a-zA-Z])(?:\s*=\s*|\s+)?(.*)")
_PER_REQUIREMENT = re.compile(r"\s--?[a-z]")
_VARIABLE = re.compile(r"\$\{[A-Z0-9_]+\}")
_VCS = re.compile(r"(git|hg|svn|bzr)\+", re.IGNORECASE)
_INCLUDES = frozenset({"-r", "--requirement", "-c", "--constraint"})
_EDITABLE = frozenset({"-e", "--editable"})
_INDEXES = frozenset({"-i", "--index-url", "--extra-index-url", "-f", "--find-links"})
_HARMLESS = frozenset(
    {
        "--no-binary",
        "--only-binary",
        "--pre",
        "--prefer-binary",
        "--require-hashes",
        "--trusted-host",
    }
)


def collect_requirements(files: Mapping[str, bytes], path: str) -> tuple[dict[str, str], int]:
    """The texts of that file and of all it includes, by path, and how many requirements they hold.

    Raises `DependencyFileInvalid` or `DependencyUnsupported`, naming file and line.
    """
    texts: dict[str, str] = {}
    ahead = [path]
    count = 0
    while ahead:
        here = ahead.pop()
        if here in texts:
            continue
        texts[here] = read_text(files, here)
        for where, line in _lines(texts[here], here):
            included = _check_line(line, here=here, where=where, files=files)
            if included is None:
                count += not line.startswith("-")
            else:
                ahead.append(included)
    return texts, count


def _lines(text: str, path: str) -> Iterator[tuple[str, str]]:
    """Each logical line that says something, with where it starts."""
    start, held = 0, ""
    for number, line in enumerate(text.split("\n"), 1):
        start = start or number
        held += _COMMENT.sub("", line)
        if held.endswith("\\"):
            held = f"{held[:-1]} "
            continue
        if held.strip():
            yield f"{path}, line {start}", held.strip()
        start, held = 0, ""
    if held.strip():
        yield f"{path}, line {start}", held.strip()


def _check_line(line: str, *, here: str, where: str, files: Mapping[str, bytes]) -> str | None:
    """The path of the file that a line includes, if it does."""
    if _VARIABLE.search(line):
        raise DependencyUnsupported(
            f"{where}: builds have no environment variables to put in; write the value."
        )
    if not line.startswith("-"):
        check_requirement(line, where=where)
        return None
    option = _OPTION.fullmatch(line)
    name, value = (option[1], option[2].strip()) if option else (line, "")
    if name in _INCLUDES:
        return _included(value, here=here, where=where, files=files)
    _check_option(name, value, where=where)
    return None


def _included(value: str, *, here: str, where: str, files: Mapping[str, bytes]) -> str:
    path = posixpath.normpath(posixpath.join(posixpath.dirname(here), value))
    if "://" in value or path.startswith(("/", "../")) or path == "..":
        raise DependencyUnsupported(
            f"{where}: {value!r} lies outside of the function's folder; copy it in."
        )
    if path not in files:
        raise DependencyFileInvalid(
            f"{where}: the included {path!r} is not in the function's folder; add it."
        )
    return path


def _check_option(name: str, value: str, *, where: str) -> None:
    if name in _EDITABLE:
        check_requirement(value, where=where)
        raise _local(where)
    if name in _INDEXES:
        check_url(value, where=where)
        return
    if name not in _HARMLESS:
        raise DependencyUnsupported(f"{where}: the option {name} is not supported; take it out.")


def check_requirement(text: str, *, where: str) -> None:
    """Raises `DependencyUnsupported` for what a build cannot fetch, `DependencyFileInvalid` else.

    `text` is one requirement, with pip's options such as `--hash` behind it or not.
    """
    bare = _PER_REQUIREMENT.split(text, maxsplit=1)[0].strip()
    if _VCS.match(bare) or "://" in bare.split("@", maxsplit=1)[0].split(";", maxsplit=1)[0]:
        check_url(bare, where=where)
        return
    if bare.startswith((".", "/", "~", "file:")) or _is_path(bare):
        raise _local(where)
    try:
        url = Requirement(bare).url
    except InvalidRequirement as error:
        raise DependencyFileInvalid(
            f"{where}: {bare[:80]!r} is no requirement: {str(error).splitlines()[0]}."
        ) from error
    if url is not None:
        check_url(url, where=where)


def _is_path(bare: str) -> bool:
    r"""A path such as `wheels/a.whl` or `C:\\a.whl`, which no name of a package looks like."""
    head = re.split(r"[@;\[<>=!~ ]", bare, maxsplit=1)[0]
    return "/" in head or "\\" in head or head.endswith((".whl", ".tar.gz", ".zip"))


def check_url(url: str, *, where: str) -> None:
    """Raises `DependencyUnsupported` unless it is plain http(s) without a password.

    The message never repeats the URL: it may hold a secret.
    """
    if _VCS.match(url):
        raise DependencyUnsupported(
            f"{where}: builds have no git or other version control; name a released version, or "
            "the https URL of an archive of that commit."
        )
    try:
        parts = urlsplit(url)
        secret = "@" in parts.netloc
    except ValueError as error:
        raise DependencyFileInvalid(f"{where}: the URL cannot be read.") from error
    if parts.scheme not in {"http", "https"}:
        raise _local(where)
    if secret:
        raise DependencyUnsupported(
            f"{where}: the URL carries a user name or password, which would end up in the image; "
            "use an index that needs none."
        )


def _local(where: str) -> DependencyUnsupported:
    return DependencyUnsupported(
        f"{where}: local projects and wheels are not installed; the function's own folder can be "
        "imported as it is, so take the line out, and name what it depends on instead."
    )
