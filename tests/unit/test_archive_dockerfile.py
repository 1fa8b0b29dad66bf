"""The Dockerfile of each kind of function."""

import subprocess
from pathlib import Path

import pytest

from sless.archive import DEFAULT_RUNTIMES, Runtime, get_runtime, render_dockerfile
from sless.archive.dockerfile import BUILD_ENVIRONMENT
from sless.dependencies import Dependencies, DependencyKind, Language
from sless.errors import InvalidSetting, RuntimeUnsupported

PYTHON = DEFAULT_RUNTIMES["python3.12"]
NODE = DEFAULT_RUNTIMES["node22"]


def render(runtime: Runtime, kind: DependencyKind = DependencyKind.NONE) -> list[str]:
    return render_dockerfile(runtime, Dependencies(kind)).splitlines()


def test_python_without_dependencies_installs_nothing() -> None:
    assert render(PYTHON) == [
        "FROM python:3.12-slim",
        (
            "ENV PORT=8080 HOME=/tmp PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 "
            "SLESS_RUNTIME_SITE=/sless/runtime/site SLESS_SITE=/sless/site"
        ),
        "COPY code/ /app/",
        "COPY runtime/ /sless/runtime/",
        "WORKDIR /app",
        "USER 65532:65532",
        'ENTRYPOINT ["python", "/sless/runtime/launch.py"]',
    ]


def test_node_without_dependencies_installs_nothing() -> None:
    lines = render(NODE)
    assert lines[0] == "FROM node:22-slim"
    assert lines[-1] == 'ENTRYPOINT ["node", "/sless/runtime/launch.mjs"]'
    assert not [line for line in lines if line.startswith("RUN")]


@pytest.mark.parametrize(
    ("runtime", "kind", "command"),
    [
        (PYTHON, DependencyKind.REQUIREMENTS, "--requirements requirements.txt"),
        (PYTHON, DependencyKind.PYLOCK, "--requirements pylock.toml"),
        (PYTHON, DependencyKind.PYPROJECT, "--requirements pyproject.toml"),
        (PYTHON, DependencyKind.UV_LOCK, "uv export --quiet --no-cache --frozen"),
        (NODE, DependencyKind.NPM_CI, "npm ci --omit=dev"),
        (NODE, DependencyKind.NPM_INSTALL, "npm install --omit=dev"),
    ],
)
def test_dependencies_are_installed_before_the_code_is_copied(
    runtime: Runtime, kind: DependencyKind, command: str
) -> None:
    text = "\n".join(render(runtime, kind))
    assert command in text
    order = ["FROM", "COPY dependencies/", "RUN ", command, "COPY code/", "COPY runtime/", "USER"]
    assert sorted(order, key=text.index) == order


@pytest.mark.parametrize(
    "kind",
    [kind for kind in DependencyKind if "npm" not in kind and kind is not DependencyKind.NONE],
)
def test_packages_are_installed_where_the_launcher_looks(kind: DependencyKind) -> None:
    """It looks at none of the interpreter's own."""
    lines = render(PYTHON, kind)
    told = dict(word.split("=") for word in lines[1].removeprefix("ENV ").split())
    [install] = [line for line in lines if "uv pip install" in line]
    assert f" --target {told['SLESS_SITE']} " in install


@pytest.mark.parametrize("kind", [kind for kind in DependencyKind if "npm" not in kind])
def test_no_python_image_touches_tmp_or_keeps_a_cache(kind: DependencyKind) -> None:
    """Case A9: /tmp stays as the base image has it."""
    lines = render(PYTHON, kind)
    assert not [line for line in lines if "/tmp" in line and not line.startswith("ENV")]  # noqa: S108 - the point
    for line in lines:
        assert ("pip install" in line) <= ("--no-cache" in line)


@pytest.mark.parametrize("mounted", [False, True])
def test_an_install_reads_the_builders_environment_if_there_is_one(
    mounted: bool,  # noqa: FBT001 - a case
    tmp_path: Path,
) -> None:
    text = render_dockerfile(NODE, Dependencies(DependencyKind.NPM_CI))
    run = text.partition("RUN ")[2].partition(" \\\n")[0]
    path = tmp_path / "environment"
    if mounted:
        path.write_text("export WHERE='over there'\n")
    shell = f'{run.replace(BUILD_ENVIRONMENT, str(path))} && echo "at ${{WHERE-nowhere}}"'
    shown = subprocess.run(["sh", "-euc", shell], check=True, capture_output=True, text=True)
    assert shown.stdout == ("at over there\n" if mounted else "at nowhere\n")


def test_a_runtime_not_on_offer_names_those_that_are() -> None:
    with pytest.raises(
        RuntimeUnsupported, match=r"'cobol74'.*node20, node22, python3\.11"
    ) as caught:
        get_runtime("cobol74")
    assert caught.value.message.endswith("python3.13.")


def test_the_list_of_runtimes_is_open() -> None:
    own = {"python3.14": Runtime("python3.14", Language.PYTHON, "registry.local:5000/py@sha256:ab")}
    assert get_runtime("python3.14", own).base_image == "registry.local:5000/py@sha256:ab"
    with pytest.raises(RuntimeUnsupported, match=r"use one of python3\.14\."):
        get_runtime("python3.11", own)


@pytest.mark.parametrize("image", ["", "python:3.11\nRUN evil", "a b", "$X"])
def test_a_base_image_cannot_bring_lines_of_its_own(image: str) -> None:
    with pytest.raises(InvalidSetting):
        Runtime("python3.11", Language.PYTHON, image)
