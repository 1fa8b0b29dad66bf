"""Cases B2 and B3: each way to declare Python packages works or says what does not."""

import pytest

from sless.dependencies import Dependencies, DependencyKind, Language, find_dependencies
from sless.errors import DependencyFileInvalid, DependencyUnsupported, SlessError


def find(files: dict[str, str | bytes]) -> Dependencies:
    data = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}
    return find_dependencies(data, Language.PYTHON)


def text_of(found: Dependencies, path: str = "requirements.txt") -> str:
    return next(file.text for file in found.files if file.path == path)


def refuse(files: dict[str, str | bytes], error: type[SlessError]) -> str:
    with pytest.raises(SlessError) as caught:
        find(files)
    assert type(caught.value) is error
    assert caught.value.message.endswith(".")
    assert "\n" not in caught.value.message
    return caught.value.message


@pytest.mark.parametrize(
    "data",
    [
        b"six\nidna==3\n",
        b"six\r\nidna==3\r\n",
        b"six\ridna==3\r",
        b"\xef\xbb\xbfsix\nidna==3\n",
        "six\r\nidna==3\r\n".encode("utf-16"),
        "six\nidna==3\n".encode("utf-16-le"),
        "six\nidna==3\n".encode("utf-16-be"),
    ],
)
def test_whichever_editor_wrote_requirements_they_read_the_same(data: bytes) -> None:
    found = find({"requirements.txt": data})
    assert found.kind is DependencyKind.REQUIREMENTS
    assert text_of(found) == "six\nidna==3\n"


@pytest.mark.parametrize(
    "line",
    [
        "six",
        "requests[socks]>=2,<3 ; python_version >= '3.9'  # why",
        "idna==3.7 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb",
        "pip @ https://files.example/pip-24.0-py3-none-any.whl",
        "https://files.example/pip-24.0-py3-none-any.whl",
        "--index-url https://pypi.example/simple\nsix",
        "-i https://pypi.example/simple\nsix",
        "--extra-index-url=https://pypi.example/simple\nsix",
        "--only-binary :all:\nsix",
        "six # -e .",
    ],
)
def test_requirements_that_work(line: str) -> None:
    found = find({"requirements.txt": line})
    assert found.kind is DependencyKind.REQUIREMENTS
    assert text_of(found) == line


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n", "--index-url https://x.example/\n"])
def test_requirements_that_require_nothing_install_nothing(text: str) -> None:
    assert find({"requirements.txt": text}) == Dependencies()


def test_no_file_at_all_installs_nothing() -> None:
    assert find({"handler.py": ""}) == Dependencies()


def test_included_files_are_found_below_their_includer() -> None:
    files: dict[str, str | bytes] = {
        "requirements.txt": "-r req/base.txt\n-cconstraints.txt\n",
        "req/base.txt": "--requirement=more.txt\r\nsix\r\n-r ../requirements.txt",
        "req/more.txt": "idna",
        "constraints.txt": "six<2",
    }
    found = find(files)
    assert found.paths == ("constraints.txt", "req/base.txt", "req/more.txt", "requirements.txt")
    assert text_of(found, "req/base.txt").startswith("--requirement=more.txt\nsix\n")


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("-r ../other.txt", "outside"),
        ("-r /etc/passwd", "outside"),
        ("-r https://example.org/r.txt", "outside"),
        ("-e .", "take the line out"),
        ("-e git+https://example.org/x.git#egg=x", "git"),
        (".", "take the line out"),
        ("./wheels/x.whl", "local"),
        ("wheels/x-1-py3-none-any.whl", "local"),
        ("x @ file:///wheels/x.whl", "local"),
        ("file:x.whl", "local"),
        ("git+https://example.org/x.git@main", "archive"),
        ("git+ssh://git@example.org/x.git", "archive"),
        ("x @ git+https://example.org/x.git", "archive"),
        ("hg+https://example.org/x", "archive"),
        ("--find-links ./wheels", "local"),
        ("--no-index", "--no-index"),
        ("--use-feature=x", "--use-feature"),
        ("--index-url https://${TOKEN}@example.org/", "environment"),
    ],
)
def test_what_a_build_cannot_fetch_says_so_with_its_line(line: str, word: str) -> None:
    message = refuse({"requirements.txt": f"six\n\n{line}\n"}, DependencyUnsupported)
    assert message.startswith("requirements.txt, line 3: ")
    assert word in message


@pytest.mark.parametrize(
    "line",
    [
        "--index-url https://user:hunter2@example.org/simple",
        "--extra-index-url https://hunter2@example.org/simple",
        "https://user:hunter2@example.org/x.whl",
        "x @ https://user:hunter2@example.org/x.whl",
        "git+https://hunter2@example.org/x.git",
    ],
)
def test_a_password_is_refused_and_never_repeated(line: str) -> None:
    assert "hunter2" not in refuse({"requirements.txt": line}, DependencyUnsupported)


@pytest.mark.parametrize(
    ("data", "word"),
    [
        ("six\nidna ~~ 3", "line 2"),
        ("six six", "line 1"),
        ("six\n-r missing.txt", "'missing.txt'"),
        (b"caf\xe9", "byte 3"),
        (b"\xff\xfe\x00\xd8", "UTF-16"),
        (b"six\n\x00\x00", "binary"),
        ("<html>", "line 1"),
    ],
)
def test_requirements_that_cannot_be_read_say_where(data: str | bytes, word: str) -> None:
    assert word in refuse({"requirements.txt": data}, DependencyFileInvalid)


PROJECT = "[project]\nname = 'x'\nversion = '1'\ndependencies = ['six']\n"
UV_LOCK = """version = 1
[[package]]
name = "six"
source = { registry = "https://index.example/simple" }
[[package]]
name = "x"
source = { virtual = "." }
"""
PYLOCK = (
    "lock-version = '1.0'\n[[packages]]\nname = 'six'\nindex = 'https://index.example/simple'\n"
)


def test_only_a_pyproject_installs_what_it_lists() -> None:
    assert find({"pyproject.toml": PROJECT}).kind is DependencyKind.PYPROJECT


@pytest.mark.parametrize(
    "text", ["[tool.ruff]\n", "[project]\nname = 'x'\n", "[project]\ndependencies = []\n"]
)
def test_a_pyproject_that_lists_nothing_installs_nothing(text: str) -> None:
    assert find({"pyproject.toml": text}) == Dependencies()


def test_a_uv_lock_comes_with_its_pyproject() -> None:
    found = find({"pyproject.toml": PROJECT, "uv.lock": UV_LOCK})
    assert found.kind is DependencyKind.UV_LOCK
    assert found.paths == ("pyproject.toml", "uv.lock")
    assert "pyproject.toml" in refuse({"uv.lock": UV_LOCK}, DependencyFileInvalid)


def test_a_pylock_works() -> None:
    assert find({"pylock.toml": PYLOCK, "pyproject.toml": PROJECT}).kind is DependencyKind.PYLOCK


def test_of_several_files_the_lock_wins_and_a_warning_says_so() -> None:
    files: dict[str, str | bytes] = {
        "requirements.txt": "six",
        "pyproject.toml": PROJECT,
        "uv.lock": UV_LOCK,
    }
    found = find(files)
    assert found.kind is DependencyKind.UV_LOCK
    assert found.warnings == ("uv.lock decides what is installed; requirements.txt is left aside.",)


@pytest.mark.parametrize(
    ("files", "word"),
    [
        ({"pyproject.toml": "[project]\ndynamic = ['dependencies']\n"}, "dynamic"),
        ({"pyproject.toml": "[tool.poetry.dependencies]\nsix = '1'\n"}, "poetry export"),
        ({"pyproject.toml": PROJECT.replace("six", "x @ git+https://e.org/x")}, "archive"),
        ({"pyproject.toml": PROJECT + "[tool.uv.sources]\nsix = {git = 'https://e'}\n"}, "'six'"),
        ({"pyproject.toml": PROJECT + "[tool.uv.sources]\nsix = [{path = 'x'}]\n"}, "'six'"),
        ({"pyproject.toml": PROJECT, "uv.lock": UV_LOCK.replace('"."', '"libs/x"')}, "'x'"),
        ({"pylock.toml": PYLOCK + "[packages.vcs]\ntype = 'git'\n"}, "'six'"),
        ({"pylock.toml": PYLOCK + "archive = {path = 'x.whl'}\n"}, "'six'"),
        ({"pylock.toml": PYLOCK.replace("index.example", "a:b@index.example")}, "password"),
        ({"pylock.toml": "lock-version = '2.0'"}, "lock-version"),
        ({"Pipfile.lock": "{}", "Pipfile": ""}, "pipenv requirements"),
        ({"Pipfile": ""}, "pipenv requirements"),
        ({"poetry.lock": ""}, "poetry export"),
        ({"environment.yml": ""}, "pip freeze"),
    ],
)
def test_what_is_not_supported_names_the_cure(files: dict[str, str | bytes], word: str) -> None:
    assert word in refuse(files, DependencyUnsupported)


@pytest.mark.parametrize(
    ("files", "word"),
    [
        ({"pyproject.toml": "[project\n"}, "line 1"),
        ({"pyproject.toml": "[project]\ndependencies = 'six'\n"}, "list of strings"),
        ({"pyproject.toml": "[project]\ndependencies = ['!']\n"}, "'!'"),
        ({"uv.lock": "x", "pyproject.toml": PROJECT}, "uv.lock"),
        ({"pylock.toml": "lock-version = '1.0'\npackages = 3\n"}, "'packages'"),
        ({"pylock.toml": b"\x80"}, "byte 0"),
    ],
)
def test_a_file_that_is_no_toml_or_an_odd_one_says_so(
    files: dict[str, str | bytes], word: str
) -> None:
    assert word in refuse(files, DependencyFileInvalid)


def test_a_setup_py_alone_is_a_warning() -> None:
    found = find({"setup.py": ""})
    assert found.kind is DependencyKind.NONE
    assert "requirements.txt" in found.warnings[0]


def test_the_sum_of_dependencies_is_that_of_kind_and_files() -> None:
    one, other = find({"requirements.txt": "six"}), find({"requirements.txt": b"\xef\xbb\xbfsix"})
    assert one.sha256 == other.sha256
    assert one.sha256 != find({"requirements.txt": "idna"}).sha256
    assert one.sha256 != Dependencies(DependencyKind.PYLOCK, one.files).sha256
