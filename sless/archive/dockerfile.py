"""The Dockerfile of a function's image; no text of the user's gets into it."""

from sless.archive.runtimes import Runtime
from sless.dependencies import Dependencies, DependencyKind, Language

CODE = "code"
"""Where the function's own files lie in a context, so that none can pass for one of ours."""
DEPENDENCIES = "dependencies"
"""Where what the installer reads lies in a context: a change of code alone keeps that layer."""
RUNTIME = "runtime"
"""Where the launcher lies in a context."""

BUILD_ENVIRONMENT = "/sless/build/environment"
"""What a builder may mount while it builds: a shell's exports, such as a package index's address.

A `RUN` reads it there, so that it gets into no layer and into no history, as an `ARG` would.
"""
APP_FOLDER = "/app"
"""The function's folder in the image, and its working directory."""
RUNTIME_FOLDER = "/sless/runtime"
RUNTIME_SITE = "site"
"""Below it, where a context has them: the packages that Python's launcher runs on."""
SITE_FOLDER = "/sless/site"
"""Where a Python function's packages lie: the launcher looks at none that the interpreter has."""
ENTRYPOINTS = {
    Language.PYTHON: ("python", f"{RUNTIME_FOLDER}/launch.py"),
    Language.NODE: ("node", f"{RUNTIME_FOLDER}/launch.mjs"),
}
"""What an image starts; handler, command and environment come from the Deployment."""
PORT = 8080
USER = "65532:65532"
"""Numeric, so that `runAsNonRoot` can be verified; the number distroless images use."""

_READ_ENVIRONMENT = f"{{ [ ! -e {BUILD_ENVIRONMENT} ] || . {BUILD_ENVIRONMENT}; }}"
_UV = (
    "python -m pip install --no-cache-dir --disable-pip-version-check --root-user-action ignore uv"
)
_UV_INSTALL = f"uv pip install --system --target {SITE_FOLDER} --no-cache --compile-bytecode"
_UV_REMOVE = "python -m pip uninstall --yes --root-user-action ignore uv"
_UV_EXPORT = "uv export --quiet --no-cache --frozen --no-dev --no-emit-project --no-header"
_NPM_OPTIONS = "--omit=dev --no-audit --no-fund --no-update-notifier --cache /sless/npm"

_INSTALL = {
    DependencyKind.REQUIREMENTS: (f"{_UV_INSTALL} --requirements requirements.txt",),
    DependencyKind.PYLOCK: (f"{_UV_INSTALL} --requirements pylock.toml",),
    DependencyKind.PYPROJECT: (f"{_UV_INSTALL} --requirements pyproject.toml",),
    DependencyKind.UV_LOCK: (
        f"{_UV_EXPORT} --output-file locked.txt",
        f"{_UV_INSTALL} --require-hashes --requirements locked.txt",
    ),
    DependencyKind.NPM_CI: (f"npm ci {_NPM_OPTIONS}",),
    DependencyKind.NPM_INSTALL: (f"npm install {_NPM_OPTIONS}",),
}

_ENVIRONMENT = {
    Language.PYTHON: (
        "PYTHONUNBUFFERED=1",
        "PYTHONDONTWRITEBYTECODE=1",
        f"SLESS_RUNTIME_SITE={RUNTIME_FOLDER}/{RUNTIME_SITE}",
        f"SLESS_SITE={SITE_FOLDER}",
    ),
    Language.NODE: ("NODE_ENV=production",),
}


def render_dockerfile(runtime: Runtime, dependencies: Dependencies) -> str:
    """The Dockerfile: dependencies before code, so that a change of code keeps their layer."""
    blocks = [
        f"FROM {runtime.base_image}",
        _render_environment(runtime.language),
        *_render_install(runtime.language, dependencies.kind),
        f"COPY {CODE}/ {APP_FOLDER}/",
        f"COPY {RUNTIME}/ {RUNTIME_FOLDER}/",
        f"WORKDIR {APP_FOLDER}",
        f"USER {USER}",
        f"ENTRYPOINT {_render_list(ENTRYPOINTS[runtime.language])}",
    ]
    return "\n".join(blocks) + "\n"


def _render_environment(language: Language) -> str:
    # A number without a name in /etc/passwd has no home; /tmp is the one writable folder.
    return " ".join(["ENV", f"PORT={PORT}", "HOME=/tmp", *_ENVIRONMENT[language]])


def _render_install(language: Language, kind: DependencyKind) -> list[str]:
    if kind is DependencyKind.NONE:
        return []
    if language is Language.PYTHON:
        folder = "/sless/dependencies"
        commands = [_UV, f"cd {folder}", *_INSTALL[kind], _UV_REMOVE]
    else:
        folder = APP_FOLDER
        commands = [f"cd {folder}", *_INSTALL[kind], "rm -rf /sless/npm"]
    steps = " \\\n && ".join([_READ_ENVIRONMENT, *commands])
    return [f"COPY {DEPENDENCIES}/ {folder}/", f"RUN {steps}"]


def _render_list(words: tuple[str, ...]) -> str:
    return "[" + ", ".join(f'"{word}"' for word in words) + "]"
