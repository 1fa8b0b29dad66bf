"""What the runtime reads of a function's files and of its settings, without running anything."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sless import errors
from sless.dependencies import Language
from sless.runtime import ENTRIES, runtime_files
from sless.runtime.python._sless_runtime.command import (
    find_command,
    find_web_line,
    render_arguments,
    render_line,
)
from sless.runtime.python._sless_runtime.failure import StartFailed, describe
from sless.runtime.python._sless_runtime.framework import _functions
from sless.runtime.python._sless_runtime.loading import parse_target
from sless.runtime.python._sless_runtime.offers import list_offers, read_offers
from sless.runtime.python._sless_runtime.search import choose_candidate
from sless.runtime.python._sless_runtime.settings import OWN_NAMES, parse_settings

MODULE = """
import os as system, json
from elsewhere import handler, other as renamed
try:
    import fast
except ImportError:
    fast = None
    def slow(): ...
if json:
    async def later(): ...
else:
    app = make()
with open("x") as f:
    first, second = pair()
for each in ():
    hidden = 1
def made(): inner = 1
class Kind:
    def method(self): ...
_private = make()
typed: int = make()
short = lambda: 1
"""


def test_the_files_are_what_the_function_needs_and_no_more() -> None:
    files = runtime_files(Language.PYTHON)
    assert list(files) == sorted(files)
    entry = ENTRIES[Language.PYTHON]
    assert entry in files
    assert "_sless_runtime/start.py" in files
    assert all(name == entry or name.startswith("_sless_runtime/") for name in files)
    assert all(name.endswith(".py") and content for name, content in files.items())


def test_the_runtime_imports_nothing_of_the_product() -> None:
    for name, content in runtime_files(Language.PYTHON).items():
        lines = content.decode().splitlines()
        imports = [
            line.split()[1] for line in lines if line.lstrip().startswith(("from ", "import "))
        ]
        own = {"sless", "api", "activities", "workflows"}
        assert not own & {each.partition(".")[0] for each in imports}, name


def test_every_reason_is_one_of_the_products() -> None:
    reasons = {leaf.reason for leaf in errors.leaves()}
    text = "".join(content.decode() for content in runtime_files(Language.PYTHON).values())
    used = {word for word in reasons if f'"{word}"' in text}
    assert used == {"HandlerNotFound", "HandlerImportFailed", "FunctionCrashed"}


def test_offers_are_the_names_at_the_top(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(MODULE)
    offer = read_offers(tmp_path)["m"]
    assert offer.callables == (
        "slow",
        "later",
        "app",
        "first",
        "second",
        "made",
        "typed",
        "short",
    )
    assert {"system", "json", "handler", "renamed", "fast", "Kind", "_private"} <= offer.names
    assert not {"inner", "method", "os", "other"} & offer.names
    assert not offer.open_ended
    assert not offer.broken


@pytest.mark.parametrize(
    ("text", "may_have"),
    [
        ("from x import *", True),
        ("def __getattr__(name): ...", True),
        ("def broken(", True),
        ("\0", True),
        ("x = 1", False),
        ("", False),
    ],
)
def test_a_module_whose_names_are_unknown_is_worth_importing(
    tmp_path: Path, text: str, *, may_have: bool
) -> None:
    (tmp_path / "m.py").write_text(text)
    assert read_offers(tmp_path)["m"].may_have("handler") is may_have


def test_offers_are_told_in_sentences(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def one(): ...\ndef two(): ...")
    (tmp_path / "b.py").write_text("(")
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "__init__.py").write_text("x = 1")
    (tmp_path / "not-a-name.py").write_text("def no(): ...")
    told = "a.py offers: one, two. b.py is no valid Python. c/__init__.py offers nothing callable."
    assert list_offers(read_offers(tmp_path)) == told


def test_many_offers_are_cut(tmp_path: Path) -> None:
    for number in range(11):
        (tmp_path / f"m{number:02}.py").write_text("\n".join(f"def f{n}(): ..." for n in range(20)))
    told = list_offers(read_offers(tmp_path))
    assert told.startswith("m00.py offers: f0, f1,")
    assert "f11, …." in told
    assert told.endswith("And 3 more files.")


def test_candidates_are_taken_in_order(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("app = make()")
    assert choose_candidate(read_offers(tmp_path), code=tmp_path) == ("app", "app")
    (tmp_path / "main.py").write_text("from x import app")
    assert choose_candidate(read_offers(tmp_path), code=tmp_path) == ("main", "app")
    (tmp_path / "handler.py").write_text("def handler(request): ...")
    assert choose_candidate(read_offers(tmp_path), code=tmp_path) == ("handler", "handler")


@pytest.mark.parametrize(
    ("text", "parsed"),
    [("a:b", ("a", "b")), ("a.b.c:d.e", ("a.b.c", "d.e")), ("größe:ä", ("größe", "ä"))],
)
def test_a_target_is_module_and_attribute(text: str, parsed: tuple[str, str]) -> None:
    assert parse_target(text) == parsed


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("main.handle", ", perhaps main:handle."),
        ("main.py:handle", ", perhaps main:handle."),
        ("src/main.py:handle", ", perhaps src.main:handle."),
        ("main", ", perhaps main:handler."),
        ("main.py", ", perhaps main:handler."),
        ("src/main.py", ", perhaps src.main:handler."),
        ("a:b()", "attribute."),
        ("a b", "attribute."),
        (":", "attribute."),
    ],
)
def test_what_is_no_target_is_refused_with_a_hint(text: str, hint: str) -> None:
    with pytest.raises(StartFailed) as failed:
        parse_target(text)
    assert failed.value.message.endswith(hint)


@given(st.text())
def test_a_target_is_parsed_or_refused(text: str) -> None:
    with suppress(StartFailed):
        assert ":".join(parse_target(text)) == text


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("bad"), "ValueError: bad"),
        (ValueError(), "ValueError"),
        (KeyError("a"), "KeyError: 'a'"),
        (ValueError("a\n  b\n\nc"), "ValueError: a; b; c"),
        (
            json.JSONDecodeError("no", "x", 0),
            "json.decoder.JSONDecodeError: no: line 1 column 1 (char 0)",
        ),
        (SyntaxError("bad", ("f.py", 3, 1, "x")), "SyntaxError: bad (f.py, line 3)"),
    ],
)
def test_an_exception_is_told_in_one_line(error: Exception, line: str) -> None:
    assert describe(error) == line


def test_a_note_is_no_part_of_that_line() -> None:
    error = ValueError("bad")
    error.add_note("see there")
    assert describe(error) == "ValueError: bad"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("web: a b", "a b"),
        ("web:a", "a"),
        ("release: x\nweb: a\nworker: y", "a"),
        ("\ufeffweb: a\r\n", "a"),
        ("web:", None),
        ("website: a", None),
        ("# web: a", None),
        ("", None),
    ],
)
def test_the_web_line_of_a_procfile(tmp_path: Path, text: str, line: str | None) -> None:
    (tmp_path / "Procfile").write_bytes(text.encode())
    assert find_web_line(tmp_path) == line


@pytest.mark.parametrize(
    ("line", "rendered"),
    [
        ("python a.py $PORT", "exec python a.py $PORT"),
        ("A=1 B='2 3' python a.py", "exec env A=1 B='2 3' python a.py"),
        ("a && b", "a && b"),
        ("a; b", "a; b"),
        ("cd x", "cd x"),
        ("exec a", "exec a"),
        ("(a)", "(a)"),
    ],
)
def test_a_plain_line_replaces_its_shell(line: str, rendered: str) -> None:
    assert render_line(line) == rendered


def test_only_port_and_host_are_filled_in() -> None:
    environ = {"PORT": "1", "HOST": "h", "HOME": "no"}
    words = ("$PORT", "${HOST}:$(PORT)", "$PORTS", "$HOME", "$$", "$PORT/$PORT")
    assert render_arguments(words, environ) == ["1", "h:1", "$PORTS", "$HOME", "$$", "1/1"]


@pytest.mark.parametrize(
    ("environ", "command"),
    [
        ({"SLESS_COMMAND": "a b", "SLESS_HANDLER": "x:y"}, "a b"),
        ({"SLESS_COMMAND": '["a", "b"]'}, ("a", "b")),
        ({"SLESS_COMMAND": "[ -f x ] && y"}, "[ -f x ] && y"),
        ({"SLESS_HANDLER": "x:y"}, None),
        ({"SLESS_COMMAND": " ", "SLESS_HANDLER": " "}, "from the Procfile"),
    ],
)
def test_the_command_comes_before_the_handler_and_that_before_the_procfile(
    tmp_path: Path, environ: dict[str, str], command: str | tuple[str, ...] | None
) -> None:
    (tmp_path / "Procfile").write_text("web: from the Procfile")
    settings = parse_settings({"SLESS_CODE": str(tmp_path), **environ})
    assert find_command(settings) == command


def test_settings_have_defaults(tmp_path: Path) -> None:
    settings = parse_settings({"SLESS_CODE": str(tmp_path), "SLESS_SITE": str(tmp_path / "absent")})
    assert (settings.host, settings.port, settings.drain_seconds) == ("0.0.0.0", 8080, 10)
    assert settings.site is None
    assert settings.handler is None


@pytest.mark.parametrize(
    "environ",
    [{"PORT": "0"}, {"PORT": "65536"}, {"PORT": "x"}, {"PORT": "٣"}, {"SLESS_DRAIN_SECONDS": "x"}],
)
def test_a_setting_that_cannot_be_is_refused(environ: dict[str, str]) -> None:
    with pytest.raises(StartFailed):
        parse_settings(environ)


def test_the_runtimes_variables_are_known() -> None:
    text = "".join(content.decode() for content in runtime_files(Language.PYTHON).values())
    assert {f"SLESS_{word}" for word in ("CODE", "SITE", "HOST", "RUNTIME_SITE")} <= OWN_NAMES
    assert all(name.removeprefix("SLESS_") in text for name in OWN_NAMES)


def test_functions_marked_for_the_framework_are_seen(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(
        "import functions_framework as ff\n"
        "from functions_framework import http as web, aio\n"
        "from other import http\n"
        "@ff.http\ndef a(r): ...\n"
        "@web\ndef b(r): ...\n"
        "@aio.cloud_event\nasync def c(e): ...\n"
        "@ff.typed(dict)\ndef d(x): ...\n"
        "@http\ndef e(r): ...\n"
        "def f(r): ...\n"
    )
    marked = {"a": True, "b": True, "c": True, "d": True, "e": False, "f": False}
    assert _functions(tmp_path, "main") == marked
    assert _functions(tmp_path, "absent") == {}
