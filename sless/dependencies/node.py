"""How a Node function declares its dependencies."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from sless.dependencies.model import (
    NO_DEPENDENCIES,
    Dependencies,
    DependencyKind,
    make_dependencies,
)
from sless.dependencies.text import parse_json, read_text
from sless.errors import DependencyFileInvalid, DependencyUnsupported

PACKAGE = "package.json"
NPMRC = ".npmrc"
_LOCKS = ("npm-shrinkwrap.json", "package-lock.json")
"""npm's own order."""
_FOREIGN_LOCKS = ("yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb")
_GROUPS = ("dependencies", "optionalDependencies", "peerDependencies")
_SCRIPTS = ("preinstall", "install", "postinstall", "prepublish", "prepare")
"""Those that npm runs for the function itself when it installs its dependencies."""
_LOCAL = re.compile(r"(file|link|workspace|portal):|\.{0,2}/|~/")
_GIT = re.compile(r"git[+:@]|git(hub|lab)?:|bitbucket:|gist:|[\w.-]+/[\w.-]+(#.*)?$|.+\.git(#.*)?$")
_SECRET = re.compile(r"^\s*([^#;=]*:)?(_auth|_authToken|_password)\s*=", re.MULTILINE)


def find_node_dependencies(files: Mapping[str, bytes]) -> Dependencies:
    """What to install; raises `DependencyFileInvalid` or `DependencyUnsupported`."""
    lock = next((path for path in _LOCKS if path in files), None)
    if PACKAGE not in files:
        if lock is not None:
            raise DependencyFileInvalid(f"{lock} needs its {PACKAGE}; add it.")
        return NO_DEPENDENCIES
    content = parse_json(read_text(files, PACKAGE), PACKAGE)
    _check_package(content)
    texts = {PACKAGE: _render_package(content, locked=lock is not None)}
    if NPMRC in files:
        texts[NPMRC] = _read_npmrc(files)
    if lock is None:
        _check_no_foreign_lock(files)
        if not any(content.get(group) for group in _GROUPS):
            return NO_DEPENDENCIES
    else:
        texts[lock] = read_text(files, lock)
        parse_json(texts[lock], lock)
    kind = DependencyKind.NPM_CI if lock else DependencyKind.NPM_INSTALL
    return make_dependencies(kind, texts, warnings=tuple(_warn_of_scripts(content)))


def _render_package(content: Mapping[str, Any], *, locked: bool) -> str:
    """What npm is given to install from: without what would need the code, which is not there yet.

    So a changed script installs nothing anew. A lock covers what only development needs, too; one
    that npm is to make has nothing in it that is this function's alone, its name included.
    """
    left_out = {"scripts"} if locked else {"scripts", "devDependencies", "name", "version"}
    kept = {name: value for name, value in content.items() if name not in left_out}
    if not locked:
        kept["name"] = "function"
    return json.dumps(kept, indent=2, ensure_ascii=False) + "\n"


def _warn_of_scripts(content: Mapping[str, Any]) -> Iterator[str]:
    scripts = content.get("scripts")
    found = [name for name in _SCRIPTS if isinstance(scripts, Mapping) and name in scripts]
    if found:
        yield (
            f"{PACKAGE}: the function's own script {found[0]!r} is not run: its code is not there "
            "yet when packages are installed. Run it before you deploy."
        )


def _check_package(content: Mapping[str, Any]) -> None:
    if "workspaces" in content:
        raise DependencyUnsupported(
            f"{PACKAGE} has workspaces, which are not supported; deploy one package."
        )
    for group in _GROUPS:
        wanted = content.get(group, {})
        if not isinstance(wanted, dict):
            raise DependencyFileInvalid(f"{PACKAGE}: '{group}' must be an object.")
        for name, version in wanted.items():
            _check_version(name, version)


def _check_version(name: str, version: object) -> None:
    if not isinstance(version, str):
        raise DependencyFileInvalid(f"{PACKAGE}: the version of {name!r} must be a string.")
    if _LOCAL.match(version):
        raise DependencyUnsupported(
            f"{PACKAGE}: {name!r} is a local package, which is not there when packages are "
            "installed; publish it, or import it by its path."
        )
    if _GIT.match(version):
        raise DependencyUnsupported(
            f"{PACKAGE}: {name!r} comes from git, which builds do not have; name a released "
            "version, or the https URL of an archive of that commit."
        )


def _check_no_foreign_lock(files: Mapping[str, bytes]) -> None:
    for path in _FOREIGN_LOCKS:
        if path in files:
            raise DependencyUnsupported(
                f"{path} is not supported; run 'npm install --package-lock-only' and deploy again."
            )


def _read_npmrc(files: Mapping[str, bytes]) -> str:
    text = read_text(files, NPMRC)
    if _SECRET.search(text):
        raise DependencyUnsupported(
            f"{NPMRC} carries a token or password, which would end up in the image; use a registry "
            "that needs none, and take it out."
        )
    return text
