"""Bundles made with the real uv from the real index: what is installed, and when it is not."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from uv import find_uv_bin

from sless.adapters.bundles.bundle import Bundle
from sless.adapters.bundles.installer import Command
from sless.adapters.bundles.interpreters import find_interpreter
from sless.adapters.bundles.make import BundleMaker, BundleOrder
from sless.adapters.bundles.resolutions import Resolutions
from sless.adapters.bundles.trees import Trees
from sless.adapters.bundles.verdict import Finished
from sless.errors import DependencyInstallFailed, DependencyUnsupported
from sless.model.function import FunctionRef
from tests.component.contexts import HELLO
from tests.component.deploying import execute

pytestmark = pytest.mark.real

INTERPRETER = find_interpreter("python3.11", configured={})
PYPROJECT = (
    '[project]\nname = "f"\nversion = "1"\nrequires-python = ">=3.11"\n'
    'dependencies = ["six==1.16.0"]\n'
)
SIX_HASH = "sha256:8abb2f1d86890a2dfb989f9a77cfcfd3e47c2a354b01111771326f8aa26e0254"


@dataclass
class Workshop:
    """Makes bundles in a folder, and counts what uv is asked to do."""

    folder: Path
    uv: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    @property
    def trees(self) -> Trees:
        return Trees(self.folder / "images")

    def make(
        self, files: Mapping[str, str | bytes], *, name: str = "f", rebuild: int = 0
    ) -> Bundle:
        with self.trees.temporary() as context:
            _write(context / "runtime/launch.py", "")
            _write(context / "code/handler.py", HELLO)
            for path, content in files.items():
                _write(context / "code" / path, content)
            order = BundleOrder(
                FunctionRef("team", name), "python3.11", rebuild, INTERPRETER, context
            )
            return BundleMaker(
                trees=self.trees,
                resolutions=Resolutions(self.folder / "resolutions"),
                execute=self._execute,
                say=self.said.append,
            ).make(order)

    def installed(self, bundle: Bundle) -> set[str]:
        """Names of the installed distributions, with versions."""
        site = self.trees.path(bundle.dependencies)
        return {path.name.removesuffix(".dist-info") for path in site.glob("*.dist-info")}

    def _execute(self, command: Command) -> Finished:
        if Path(command.arguments[0]).name == "uv":
            self.uv.append(" ".join(command.arguments[1:3]))
        return execute(command)


def _write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


@pytest.fixture(scope="module")
def locks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A uv.lock and a pylock.toml of `PYPROJECT`, as uv writes them here."""
    folder = tmp_path_factory.mktemp("locks")
    (folder / "pyproject.toml").write_text(PYPROJECT)
    python = ("--quiet", "--python", str(INTERPRETER.path))
    for arguments in (
        ("lock",),
        ("pip", "compile", "pyproject.toml", "--output-file", "pylock.toml"),
    ):
        done = execute(Command((find_uv_bin(), *arguments, *python), folder))
        assert done.code == 0, done.output
    return {name: (folder / name).read_text() for name in ("uv.lock", "pylock.toml")}


@pytest.mark.parametrize(
    "files",
    [
        {"requirements.txt": "six==1.16.0\n"},
        {"requirements.txt": b"\xef\xbb\xbfsix==1.16.0\r\n"},
        {"requirements.txt": "six==1.16.0\n".encode("utf-16")},
        {"requirements.txt": "-r more/other.txt\n", "more/other.txt": "six==1.16.0"},
        {"requirements.txt": "six\n-c pins.txt\n", "pins.txt": "six==1.16.0"},
        {
            "requirements.txt": (
                "six==1.16.0; python_version >= '3'\nidna; sys_platform == 'win32'\n"
            )
        },
        {"requirements.txt": f"six==1.16.0 --hash={SIX_HASH}\n"},
        {"pyproject.toml": PYPROJECT},
    ],
    ids=[
        "plain",
        "bom",
        "utf16",
        "include",
        "constraint",
        "markers",
        "hash",
        "pyproject",
    ],
)
def test_every_way_to_declare_installs(workshop: Workshop, files: dict[str, str | bytes]) -> None:
    assert workshop.installed(workshop.make(files)) == {"six-1.16.0"}


def test_locks_install(workshop: Workshop, locks: dict[str, str]) -> None:
    pylock = workshop.make({"pylock.toml": locks["pylock.toml"]})
    uv_lock = workshop.make({"pyproject.toml": PYPROJECT, "uv.lock": locks["uv.lock"]})
    assert workshop.installed(pylock) == workshop.installed(uv_lock) == {"six-1.16.0"}


def test_a_function_without_dependencies_runs_no_installer(workshop: Workshop) -> None:
    assert workshop.make({}).dependencies == ""
    assert workshop.make({"requirements.txt": "# nothing yet\n"}).dependencies == ""
    assert workshop.uv == []


def test_changed_code_alone_neither_resolves_nor_installs(workshop: Workshop) -> None:
    first = workshop.make({"requirements.txt": "six"})
    assert workshop.uv == ["pip compile", "pip install"]
    second = workshop.make({"requirements.txt": "six", "handler.py": HELLO + "# changed\n"})
    assert workshop.uv == ["pip compile", "pip install"]
    assert second.dependencies == first.dependencies
    assert second.code != first.code


def test_a_rebuild_resolves_again_and_later_uploads_keep_its_answer(workshop: Workshop) -> None:
    workshop.make({"requirements.txt": "six"})
    workshop.make({"requirements.txt": "six"}, rebuild=1)
    assert workshop.uv == ["pip compile", "pip install", "pip compile"]
    workshop.make({"requirements.txt": "six"}, rebuild=1)
    workshop.make({"requirements.txt": "six"})
    assert len(workshop.uv) == 3


def test_functions_with_one_lock_share_what_is_installed(workshop: Workshop) -> None:
    first = workshop.make({"requirements.txt": "six==1.16.0"}, name="a")
    second = workshop.make({"requirements.txt": "six == 1.16.0  # why"}, name="b")
    assert workshop.uv == ["pip compile", "pip install", "pip compile"]
    assert first.dependencies == second.dependencies


def test_equal_files_make_an_equal_bundle(workshop: Workshop, tmp_path: Path) -> None:
    files = {"requirements.txt": "six==1.16.0"}
    (tmp_path / "other").mkdir()
    assert workshop.make(files).digest == Workshop(tmp_path / "other").make(files).digest


@pytest.mark.parametrize(
    ("requirements", "told"),
    [
        ("six>=99", "six>=99"),
        ("flask<1\nwerkzeug>3\nflask>2", "flask"),
        (f"six==1.17.0 --hash={SIX_HASH}", "Hash mismatch"),
        ("no-such-package-of-anybody", "no-such-package-of-anybody was not found"),
    ],
)
def test_what_the_installer_refuses_is_told_in_its_own_words(
    workshop: Workshop, requirements: str, told: str
) -> None:
    with pytest.raises(DependencyInstallFailed, match=told):
        workshop.make({"requirements.txt": requirements})
    assert list((workshop.folder / "images/temporary").iterdir()) == []


def test_a_stale_lock_is_refused(workshop: Workshop, locks: dict[str, str]) -> None:
    newer = PYPROJECT.replace("1.16.0", "1.17.0")
    stale = {"pyproject.toml": newer, "uv.lock": locks["uv.lock"]}
    with pytest.raises(DependencyInstallFailed, match=r"uv\.lock.* needs to be updated"):
        workshop.make(stale)


@pytest.mark.parametrize("requirements", ["-e .", "git+https://example.com/a.git", "./a.whl"])
def test_what_cannot_be_fetched_is_refused_before_anything_runs(
    workshop: Workshop, requirements: str
) -> None:
    with pytest.raises(DependencyUnsupported):
        workshop.make({"requirements.txt": requirements})
    assert workshop.uv == []


def test_a_crash_leaves_only_what_the_next_start_sweeps(workshop: Workshop) -> None:
    leftover = workshop.trees.path("x").parent.parent / "temporary" / "left"
    _write(leftover / "deep/file", "half")
    (leftover / "deep").chmod(0o555)
    workshop.trees.sweep()
    assert not leftover.exists()


def test_kept_trees_are_read_only(workshop: Workshop) -> None:
    bundle = workshop.make({"requirements.txt": "six==1.16.0"})
    for key in bundle.trees:
        root = workshop.trees.path(key)
        assert not [path for path in (root, *root.rglob("*")) if path.stat().st_mode & 0o222]
