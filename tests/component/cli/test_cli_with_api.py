"""The command line against the real API, on a real SQLite store."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from sless.model.phase import Phase
from sless.naming import build_id, parse_s3_key
from tests.component.api.rig import ApiRig, make_rig
from tests.component.cli.conftest import Cli
from tests.component.cli.scripted_api import RunningServer
from tests.fixtures.waiting import until


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[ApiRig]:
    (tmp_path / "api").mkdir()
    rig = make_rig(tmp_path / "api")
    yield rig
    rig.database.close()


@pytest.fixture
def sless(offline: Cli, rig: ApiRig) -> Iterator[Cli]:
    server = RunningServer(rig.app)
    offline.env |= {"SLESS_SERVER": server.url, "SLESS_TOKEN": rig.token()}
    yield offline
    server.stop()


@pytest.fixture
def deploy(hello: Path) -> tuple[str, ...]:
    return ("deploy", str(hello), "--name", "hello", "--no-wait", "-o", "json")


async def test_an_upload_arrives_whole_with_its_settings(
    sless: Cli, rig: ApiRig, deploy: tuple[str, ...]
) -> None:
    done = sless(*deploy, "-e", "B=2", "-e", "A=$(B)", "--handler", "handler:handler")
    assert (done.code, json.loads(done.out)["generation"]) == (0, 1)
    spec = (await rig.stored()).function.spec
    assert (spec.runtime, spec.handler) == ("python3.11", "handler:handler")
    assert [(var.name, var.value) for var in spec.env] == [("B", "2"), ("A", "$(B)")]
    assert await rig.objects.exists(spec.s3_key)
    again = sless(*deploy, "-e", "C=3", "--handler", "")
    assert "The code is unchanged" in again.err
    spec = (await rig.stored()).function.spec
    assert spec.handler is None
    assert [var.name for var in spec.env] == ["B", "A", "C"]


async def test_a_refused_setting_is_one_sentence(sless: Cli, deploy: tuple[str, ...]) -> None:
    done = sless(*deploy, "--runtime", "cobol85")
    assert (done.code, done.out) == (2, b"")
    assert done.err.splitlines()[-1] == (
        "Error: There is no runtime 'cobol85' here; use one of python3.11, python3.1, node20. "
        "[RuntimeUnsupported]"
    )


async def test_what_is_offered_is_chosen_from(
    sless: Cli, rig: ApiRig, deploy: tuple[str, ...], hello: Path
) -> None:
    items = json.loads(sless("runtimes", "-o", "json").out)["items"]
    assert [item["name"] for item in items] == list(rig.options.runtimes)
    assert sless(*deploy).code == 0
    assert (await rig.stored()).function.spec.runtime == "python3.11"
    (hello / ".python-version").write_text("3.1.2")
    assert sless(*deploy).code == 0
    assert (await rig.stored()).function.spec.runtime == "python3.1"


async def test_settings_change_under_the_version_that_was_read(
    sless: Cli, rig: ApiRig, deploy: tuple[str, ...]
) -> None:
    assert sless(*deploy, "-e", "A=1").code == 0
    done = sless("set", "hello", "-e", "B=2", "--unset", "A", "--no-wait")
    assert done.code == 0, done.err
    assert [var.name for var in (await rig.stored()).function.spec.env] == ["B"]
    same = sless("set", "hello", "-e", "B=2", "--no-wait")
    assert "Warning: These settings were in force: nothing was asked." in same.err


async def test_builds_logs_and_acts(sless: Cli, rig: ApiRig, deploy: tuple[str, ...]) -> None:
    first = json.loads(sless(*deploy).out)["build"]
    await rig.write_log(first, b"Collecting\nInst", start=0)
    await rig.write_log(first, b"alled\n", start=15)
    assert sless("logs", "hello").text == "Collecting\nInstalled\n"
    assert json.loads(sless("list", "-o", "json").out)["items"][0]["metadata"]["name"] == "hello"
    await rig.answer(Phase.FAILED, reason="BuildFailed", message="It did not.", image="")
    followed = sless("logs", "hello", "-f")
    assert (followed.code, followed.text) == (1, "Collecting\nInstalled\n")
    assert f"Build {first} failed: It did not [BuildFailed]." in followed.err
    retried = sless("retry", "hello", "--no-wait", "-o", "json")
    assert json.loads(retried.out)["generation"] == 2
    await rig.answer(Phase.READY)
    rows = [line.split() for line in sless("builds", "hello").text.splitlines()]
    assert [row[1:3] for row in rows[1:]] == [["2", "Ready"], ["1", "Failed"]]
    assert sless("revisions", "hello").text.splitlines()[1].split()[0] == first
    assert "[NothingToDo]" in sless("rollback", "hello", first).err
    assert "[CancelTooLate]" in sless("cancel", "hello").err
    rebuilt = json.loads(sless("rebuild", "hello", "--no-wait", "-o", "json").out)
    assert rebuilt["build"] != first
    assert (
        sless("cancel", "hello").text == f"Cancelling build {rebuilt['build']} of default/hello.\n"
    )
    back = json.loads(sless("rollback", "hello", first, "--no-wait", "-o", "json").out)
    assert back["build"] == first
    assert sless("open", "hello").code == 0
    assert sless("get", "hello").text.splitlines()[0] == "Function    default/hello"
    assert sless("delete", "hello", "--yes").code == 0
    assert "[FunctionNotFound]" in sless("get", "hello").err


async def test_a_token_of_another_namespace(
    sless: Cli, rig: ApiRig, deploy: tuple[str, ...]
) -> None:
    done = sless(*deploy, SLESS_TOKEN=rig.token("team-a"))
    assert (done.code, done.out) == (1, b"")
    assert done.err.splitlines()[-1].startswith("Error: ")
    assert await rig.functions.find("default", "hello") is None


async def test_deploy_follows_the_status_and_the_log_to_the_end(
    sless: Cli, rig: ApiRig, hello: Path
) -> None:
    command = sless.start("deploy", str(hello), "--name", "hello")

    async def uploaded() -> bool:
        return await rig.functions.find("default", "hello") is not None

    await until(uploaded, seconds=30)
    function = (await rig.stored()).function
    await rig.write_log(build_id(function.spec.s3_key), b"Collecting\n", start=0)
    await _say(rig, "Building")
    assert command.stderr is not None
    while b"| Collecting" not in await asyncio.to_thread(command.stderr.readline):
        assert command.poll() is None
    await rig.answer(Phase.READY)
    await _say(rig, "Ready")
    out, err = await asyncio.to_thread(command.communicate)
    assert (command.returncode, out) == (0, b"http://gateway.test/fn/default/hello/\n"), err


async def test_an_upload_alone_stores_the_zip_and_asks_for_nothing(
    sless: Cli, rig: ApiRig, hello: Path
) -> None:
    done = sless("upload", str(hello))
    key = parse_s3_key(done.text.removesuffix("\n"))
    assert (done.code, key.namespace, key.name) == (0, "default", "hello-world")
    assert key.runtime == "python3.11"
    assert await rig.objects.exists(str(key))
    assert await rig.functions.find("default", "hello-world") is None
    assert rig.runs.looks == []
    told = ["Named it hello-world", "Packed 1 file for python3.11", "Uploaded "]
    assert [text for text in told if text not in done.err] == []
    assert "unchanged" not in done.err
    again = sless("upload", str(hello))
    assert (again.code, again.out) == (0, done.out)
    assert f"this zip was there already (build {build_id(str(key))})." in again.err


async def test_an_upload_alone_is_json_as_the_api_answered(sless: Cli, hello: Path) -> None:
    first = json.loads(sless("upload", str(hello), "--name", "shop", "-o", "json").out)
    key = parse_s3_key(first["s3Key"])
    assert set(first) == {"namespace", "name", "s3Key", "build", "sha256", "size", "created"}
    assert (first["name"], first["sha256"], first["created"]) == ("shop", key.sha256, True)
    again = json.loads(sless("upload", str(hello), "--name", "shop", "-o", "json").out)
    assert again == first | {"created": False}


async def test_an_upload_s_manifest_is_a_function_s(sless: Cli, rig: ApiRig, hello: Path) -> None:
    words = ("upload", str(hello), "-n", "team-a", "--runtime", "node20")
    done = sless(*words, "-o", "manifest", SLESS_TOKEN=rig.token("team-a"))
    manifest = json.loads(done.out)
    assert (done.code, manifest) == (
        0,
        {
            "apiVersion": "sless.io/v1alpha1",
            "kind": "Function",
            "metadata": {"name": "hello-world", "namespace": "team-a"},
            "spec": {"s3Key": sless(*words).text.strip(), "runtime": "node20"},
        },
    )
    made = await rig.functions.create(
        "team-a", "hello-world", spec=manifest["spec"], manager="kubectl"
    )
    assert await rig.objects.exists(made.function.spec.s3_key)


async def test_an_upload_alone_keeps_the_function_s_runtime_and_the_function(
    sless: Cli, rig: ApiRig, hello: Path, deploy: tuple[str, ...]
) -> None:
    assert sless(*deploy, "--runtime", "node20").code == 0
    before = await rig.stored()
    (hello / "more.py").write_text("")
    done = sless("upload", str(hello), "--name", "hello")
    assert parse_s3_key(done.text.strip()).runtime == "node20"
    assert await rig.stored() == before


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["empty"], 1, "[ArchiveEmpty]"),
        (["text"], 2, "do not tell the runtime"),
        (["app", "--runtime", "cobol85"], 2, "[RuntimeUnsupported]"),
        (["app", "--name", "Nein"], 2, "cannot be a function name"),
        (["app", "--server", "http://127.0.0.1:1"], 3, "http://127.0.0.1:1 cannot be reached"),
    ],
)
async def test_an_upload_alone_that_fails_is_one_sentence(
    sless: Cli, tmp_path: Path, *, words: list[str], code: int, says: str
) -> None:
    for file in ("empty", "text/a.txt", "app/a.py"):
        path = tmp_path / file
        path.parent.mkdir(exist_ok=True)
        path.write_text("") if path.suffix else path.mkdir()
    done = sless("upload", *words, "-o", "manifest")
    assert (done.code, done.out) == (code, b"")
    last = done.err.splitlines()[-1]
    assert last.startswith("Error: ")
    assert says in last


async def _say(rig: ApiRig, phase: str) -> None:
    function = (await rig.stored()).function
    status = {"observedGeneration": function.generation, "phase": phase}
    await rig.functions.write_status("default", "hello", uid=function.uid, status=status)
