import json
from pathlib import Path
from typing import Any

import pytest

from sless.errors import CancelTooLate, ManagedElsewhere, NothingToDo
from sless.naming import build_id
from tests.component.cli.conftest import Cli
from tests.component.cli.scripted_api import ScriptedApi, problem

KEY = f"functions/default/hello/{'0' * 64}-python3.11.zip"
BUILD = build_id(KEY)
FUNCTION = "/v1/namespaces/default/functions/hello"


@pytest.fixture
def deployed(api: ScriptedApi) -> dict[str, Any]:
    """The manifest of a function that is Ready."""
    env = [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]
    api.ask("default", "hello", s3Key=KEY, env=env)
    manifest = api.functions["default", "hello"]
    manifest["status"] |= {"phase": "Ready", "observedGeneration": 1, "servingGeneration": 1}
    api._ahead.clear()
    api.builds = [_build(1)]
    return manifest


def _build(generation: int, **others: str) -> dict[str, Any]:
    return {
        "id": BUILD,
        "generation": generation,
        "phase": "Ready",
        "reason": "Ready",
        "runtime": "python3.11",
        "startedAt": "2026-01-02T03:04:05Z",
        "endedAt": "2026-01-02T03:04:17.5Z",
        "temporalUrl": "http://127.0.0.1:8233/namespaces/default/workflows/build%2Fx",
        **others,
    }


def test_list_shows_every_page(sless: Cli, api: ScriptedApi) -> None:
    for name in "abcde":
        api.ask("default", name)
    done = sless("list")
    lines = done.text.splitlines()
    assert done.code == 0
    assert lines[0].split() == ["NAME", "NAMESPACE", "PHASE", "RUNTIME", "URL", "AGE"]
    assert [line.split()[0] for line in lines[1:]] == list("abcde")
    assert lines[1].split()[2:5] == ["Pending", "python3.11", f"{api.url}/fn/default/a"]
    items = json.loads(sless("list", "-o", "json").out)["items"]
    assert [item["metadata"]["name"] for item in items] == list("abcde")


def test_an_empty_list_says_what_to_do_and_prints_nothing(sless: Cli) -> None:
    done = sless("list", "-n", "team-a")
    assert (done.code, done.out) == (0, b"")
    assert done.err == "No functions in team-a: `sless deploy PATH` makes one.\n"
    assert json.loads(sless("list", "-o", "json").out) == {"items": []}


def test_get_tells_in_plain_words(sless: Cli, deployed: dict[str, Any]) -> None:
    deployed["metadata"]["generation"] = 2
    deployed["status"] |= {
        "phase": "Failed",
        "reason": "HandlerImportFailed",
        "message": "ImportError: no\nmodule",
        "observedGeneration": 2,
        "conditions": [
            {"type": "Built", "status": "True", "reason": "Built", "message": "It is there."},
            {"type": "Ready", "status": "False", "reason": "HandlerImportFailed"},
            {
                "type": "Deployed",
                "status": "False",
                "reason": "HandlerImportFailed",
                "message": "ImportError: no\nmodule",
            },
        ],
    }
    done = sless("get", "hello")
    assert done.code == 0
    lines = done.text.splitlines()
    assert "Message      ImportError: no module" in lines
    assert "Environment  A=1, B=2" in lines
    assert "Generation   2, while 1 is serving" in lines
    assert "The newest ask is not served; the last good version goes on answering." in lines
    assert "Built: yes, for - (It is there.)" in lines
    assert "Ready: no, for - (HandlerImportFailed)" in lines
    assert "Deployed: no, for - (HandlerImportFailed)" in lines
    assert any(line.startswith(BUILD) and "12.5s" in line for line in lines)
    assert json.loads(sless("get", "hello", "-o", "json").out) == deployed


def test_builds_and_revisions_are_tables_or_json(
    sless: Cli, api: ScriptedApi, deployed: dict[str, Any]
) -> None:
    del deployed
    api.builds = [_build(2, phase="Failed", reason="OutOfMemory"), _build(1)]
    api.revisions = [{"build": BUILD, "revision": "ab", "generation": 1, "serving": True}]
    rows = [line.split() for line in sless("builds", "hello").text.splitlines()]
    assert rows[1][:4] == [BUILD, "2", "Failed", "OutOfMemory"]
    assert rows[2][:4] == [BUILD, "1", "Ready", "-"]
    assert json.loads(sless("builds", "hello", "-o", "json").out) == {"items": api.builds}
    assert sless("revisions", "hello").text.splitlines()[1].split()[-1] == "yes"
    assert json.loads(sless("revisions", "hello", "-o", "json").out) == {"items": api.revisions}


def test_logs_are_passed_on_as_they_are(
    sless: Cli, api: ScriptedApi, deployed: dict[str, Any]
) -> None:
    del deployed
    api.log = [("1", "a\x1b[31mred\x1b[0m\r\n"), ("2", "no end")]
    assert sless("logs", "hello").out == b"a\x1b[31mred\x1b[0m\r\nno end\n"
    assert json.loads(sless("logs", "hello", "-o", "json").out) == {
        "build": BUILD,
        "log": "a\x1b[31mred\x1b[0m\r\nno end",
    }


def test_logs_follow_to_the_end_of_the_build(
    sless: Cli, api: ScriptedApi, deployed: dict[str, Any]
) -> None:
    del deployed
    api.cut_after = 2
    done = sless("logs", "hello", "-f", "--build", BUILD)
    assert (done.code, done.text) == (0, "Collecting lib\nInstalled 1\n")
    api.log_end = {"phase": "Failed", "reason": "BuildFailed", "message": "It did not."}
    done = sless("logs", "hello", "-f", "-o", "json")
    events = [json.loads(line) for line in done.text.splitlines()]
    assert "".join(event.get("text", "") for event in events) == "Collecting lib\nInstalled 1\n"
    assert events[-1] == {"event": "end", **api.log_end}
    assert done.code == 1
    assert f"Error: Build {BUILD} failed: It did not [BuildFailed]." in done.err


def test_set_keeps_what_is_not_named(
    sless: Cli, api: ScriptedApi, deployed: dict[str, Any]
) -> None:
    assert sless("set", "hello", "-e", "C=3", "--unset", "A", "--handler", "").code == 0
    assert deployed["spec"]["env"] == [
        {"name": "B", "value": "2"},
        {"name": "C", "value": "3"},
    ]
    assert deployed["spec"]["handler"] is None
    assert deployed["spec"]["command"] == []
    wrong = sless("set", "hello", "--unset", "NO")
    assert (wrong.code, "There is no variable 'NO' to unset" in wrong.err) == (2, True)
    nothing = sless("set", "hello")
    assert (nothing.code, "Nothing to set" in nothing.err) == (2, True)
    api.overrides[f"PATCH {FUNCTION}"] = lambda _: problem(ManagedElsewhere("managed by flux."))
    assert sless("set", "hello", "-e", "C=4").err == "Error: managed by flux. [ManagedElsewhere]\n"


@pytest.mark.parametrize(
    ("words", "body"),
    [
        (["retry", "hello"], b""),
        (["rebuild", "hello"], b""),
        (
            ["rollback", "hello", BUILD],
            json.dumps({"build": BUILD}, separators=(",", ":")).encode(),
        ),
    ],
)
def test_an_act_is_an_ask_and_waits_for_its_end(
    sless: Cli, api: ScriptedApi, deployed: dict[str, Any], *, words: list[str], body: bytes
) -> None:
    done = sless(*words)
    assert (done.code, done.text) == (0, f"{api.url}/fn/default/hello\n")
    assert api.bodies == [body]
    assert deployed["metadata"]["generation"] == 2
    api.overrides[f"POST {FUNCTION}/{words[0]}"] = lambda _: problem(NothingToDo("Nothing there."))
    refused = sless(*words)
    assert (refused.code, refused.err) == (1, "Error: Nothing there. [NothingToDo]\n")


def test_a_retry_shows_its_own_log_alone(
    sless: Cli, api: ScriptedApi, deployed: dict[str, Any]
) -> None:
    deployed["status"] |= {"phase": "Failed"}
    api.log = [("n1/build/4", "old\n")]
    api.before_act = lambda: api.log.append(("n1/build/4,n2/build/4", "new\n"))
    done = sless("retry", "hello")
    assert [line for line in done.err.splitlines() if line.startswith("|")] == ["| new"]


def test_set_never_undoes_what_somebody_else_set_meanwhile(
    sless: Cli, api: ScriptedApi, deployed: dict[str, Any]
) -> None:
    del deployed
    api.before_act = lambda: api.functions["default", "hello"]["metadata"].update(
        resourceVersion="77"
    )
    done = sless("set", "hello", "-e", "A=2")
    assert (done.code, done.err) == (1, "Error: It changed meanwhile. [VersionConflict]\n")


def test_cancel_takes_the_newest_build(
    sless: Cli, api: ScriptedApi, deployed: dict[str, Any]
) -> None:
    del deployed
    done = sless("cancel", "hello")
    assert (done.code, done.text) == (0, f"Cancelling build {BUILD} of default/hello.\n")
    assert json.loads(sless("cancel", "hello", BUILD, "-o", "json").out)["build"] == BUILD
    late = problem(CancelTooLate("It has its outcome."))
    api.overrides[f"POST {FUNCTION}/builds/{BUILD}/cancel"] = lambda _: late
    assert sless("cancel", "hello").code == 1


def test_an_empty_log_is_told(sless: Cli, api: ScriptedApi, deployed: dict[str, Any]) -> None:
    del deployed
    api.log = []
    done = sless("logs", "hello")
    assert (done.code, done.out, done.err) == (0, b"", f"The log of build {BUILD} is empty.\n")


def test_delete_asks_or_is_told(sless: Cli, api: ScriptedApi, deployed: dict[str, Any]) -> None:
    del deployed
    unasked = sless("delete", "hello")
    assert (unasked.code, "add --yes" in unasked.err) == (2, True)
    assert len(api.functions) == 1
    done = sless("delete", "hello", "--yes")
    assert (done.code, done.text) == (0, "Deleted default/hello.\n")
    gone = sless("delete", "hello", "--yes", "-o", "json")
    assert (gone.code, gone.out) == (1, b"")
    assert gone.err == "Error: There is no function default/hello. [FunctionNotFound]\n"


def test_open_prints_the_address_where_nothing_can_be_shown(
    sless: Cli, api: ScriptedApi, deployed: dict[str, Any]
) -> None:
    del deployed
    done = sless("open", "hello", DISPLAY=":0")
    assert (done.code, done.text) == (0, api.builds[0]["temporalUrl"] + "\n")
    api.builds = []
    assert sless("open", "hello").code == 1


def test_invoke_is_byte_for_byte(
    sless: Cli, api: ScriptedApi, deployed: dict[str, Any], tmp_path: Path
) -> None:
    del deployed
    sent = bytes(range(256)) * 1000
    (tmp_path / "body.bin").write_bytes(sent)
    assert sless("invoke", "hello").out == b"\x00\xff\n"
    assert sless("invoke", "hello", "-d", "@body.bin").out == sent
    assert sless("invoke", "hello", "-d", "-", stdin=sent).out == sent
    done = sless("invoke", "hello", "-d", '{"a": 1}', "-i", "--path", "/x%2Fy?b=c", "-H", "X-A: 1")
    head, _, body = done.out.partition(b"\r\n\r\n")
    assert body == b'{"a": 1}'
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"x-query: b=c" in head.lower()
    method, headers = api.requests[-1]
    assert method == "POST /fn/default/hello/x/y"
    assert (headers["content-type"], headers["x-a"]) == ("application/json", "1")
    assert "authorization" not in headers


def test_invoke_passes_the_status_on(
    sless: Cli, api: ScriptedApi, deployed: dict[str, Any]
) -> None:
    del api, deployed
    done = sless("invoke", "hello", "--path", "?status=404")
    assert (done.code, done.out) == (1, b"so it is")
    assert "Error: default/hello answered 404 Not Found" in done.err
    shown = json.loads(sless("invoke", "hello", "-o", "json").out)
    assert (shown["status"], shown["body"], shown["bodyEncoding"]) == (200, "AP8K", "base64")
    wrong = sless("invoke", "hello", "-H", "nonsense")
    assert (wrong.code, "write 'Name: value'" in wrong.err) == (2, True)
    assert sless("invoke", "hello", "-d", "@nowhere").code == 2
    assert sless("invoke", "hello", "-X", "GE T").code == 2


def test_invoke_sends_headers_as_they_are_given(
    sless: Cli, api: ScriptedApi, deployed: dict[str, Any]
) -> None:
    del deployed
    words = ["-H", "X-A: 1", "-H", "X-A: 2", "-H", "Content-Type: a/b", "-H", "X-U: ü", "-d", "{}"]
    assert sless("invoke", "hello", "-X", "put", *words).code == 0
    method, headers = api.requests[-1]
    assert method.startswith("PUT ")
    assert (headers["content-type"], headers["x-u"].encode("latin-1")) == ("a/b", "ü".encode())


def test_a_name_that_cannot_be_is_wrong_use(sless: Cli, api: ScriptedApi) -> None:
    done = sless("get", "../x")
    assert (done.code, api.requests) == (2, [])
    assert sless("get", "x", "-n", "A").code == 2
    assert sless("rollback", "x", "latest").code == 2
