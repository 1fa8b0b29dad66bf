"""Uploads: what is stored, what is asked, and every way to send one wrongly."""

import asyncio
import base64
import hashlib
import json
import resource
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from sless.errors import StoreUnavailable
from sless.model.function import Ask
from sless.naming import build_id
from tests.component.api.rig import HELLO, PATH, ApiRig, make_zip, reason_of

CODE = f"{PATH}/code"
SHA = hashlib.sha256(make_zip()).hexdigest()
KEY = f"functions/default/hello/{SHA}-python3.11.zip"


async def test_an_upload_is_stored_asked_for_and_looked_at(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    response = await client.put(
        CODE, content=make_zip(), params={"runtime": "python3.11", "handler": "main:handler"}
    )
    assert response.status_code == 202
    function = (await rig.stored()).function
    assert response.json() == {
        "namespace": "default",
        "name": "hello",
        "uid": function.uid,
        "generation": 1,
        "s3Key": KEY,
        "build": build_id(KEY),
        "workflowId": f"build/default/hello/{build_id(KEY)}",
        "functionWorkflowId": "function/default/hello",
        "logUrl": f"http://api.test{PATH}/builds/{build_id(KEY)}/log",
        "temporalUrl": rig.runs.url("function/default/hello"),
        "url": "http://gateway.test/fn/default/hello/",
        "warnings": [],
    }
    assert rig.objects.content == {KEY: make_zip()}
    assert function.spec.s3_key == KEY
    assert function.spec.handler == "main:handler"
    assert rig.runs.looks == [(HELLO, Ask(function.uid, 1))]
    assert rig.spooled() == []


async def test_an_upload_writes_no_status(rig: ApiRig) -> None:
    await rig.upload()
    stored = await rig.stored()
    status = {"phase": "Building", "observedGeneration": 1}
    await rig.functions.write_status("default", "hello", uid=stored.function.uid, status=status)
    await rig.upload()
    assert (await rig.stored()).manifest["status"] == status


async def test_the_same_zip_is_a_new_ask_for_the_same_build(rig: ApiRig) -> None:
    first, second = await rig.upload(), await rig.upload()
    assert second["generation"] == first["generation"] + 1
    assert second["build"] == first["build"]
    assert list(rig.objects.content) == [KEY]


async def test_settings_that_are_not_given_keep_their_value(rig: ApiRig) -> None:
    await rig.upload(handler="main:handler")
    await rig.upload(make_zip({"main.py": "other"}))
    assert (await rig.stored()).function.spec.handler == "main:handler"


async def test_a_zip_that_was_rebuilt_goes_on_under_its_newest_copy(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    await rig.upload()
    for _ in range(10):
        assert (await client.post(f"{PATH}/rebuild")).status_code == 202
    again = await rig.upload()
    assert again["s3Key"] == KEY.replace(".zip", "-r10.zip")


async def test_a_runtime_whose_name_begins_alike_is_another(rig: ApiRig) -> None:
    await rig.upload(runtime="python3.11")
    assert (await rig.upload(runtime="python3.1"))["s3Key"] == KEY.replace("3.11", "3.1")


async def test_twenty_uploads_of_one_zip_at_once(rig: ApiRig) -> None:
    answers = await asyncio.gather(*(rig.upload() for _ in range(20)))
    assert list(rig.objects.content) == [KEY]
    assert {answer["build"] for answer in answers} == {build_id(KEY)}
    generations = sorted(answer["generation"] for answer in answers)
    assert generations == list(range(1, 21))
    assert (await rig.stored()).function.generation == 20
    assert rig.spooled() == []


async def test_temporal_away_is_a_warning(rig: ApiRig) -> None:
    rig.runs.unavailable = True
    answer = await rig.upload()
    assert "Temporal" in answer["warnings"][0]
    assert (await rig.stored()).function.spec.s3_key == KEY


async def test_an_api_that_dies_before_the_look_leaves_what_the_watcher_needs(
    rig: ApiRig,
) -> None:
    class Dying(type(rig.runs)):  # type: ignore[misc]  # a subclass of whatever the rig has
        async def look(self, *_: object, **__: object) -> str:
            raise SystemExit

    rig.runs = Dying()
    rig.restart()
    with pytest.raises(SystemExit):
        await rig.upload()
    function = (await rig.stored()).function
    assert function.ask.generation == 1
    assert await rig.objects.exists(function.spec.s3_key)
    assert rig.spooled() == []


async def test_a_store_that_is_away_loses_nothing_but_the_ask(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    rig.objects.unavailable = True
    response = await client.put(CODE, content=make_zip())
    assert reason_of(response, 503) == "StorageUnavailable"
    assert response.headers["retry-after"]
    assert await rig.functions.find("default", "hello") is None
    assert rig.spooled() == []


# deploy=false: a zip for GitOps


async def test_deploy_false_stores_and_asks_for_nothing(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    first = await client.put(CODE, content=make_zip(), params={"deploy": "false"})
    assert first.status_code == 201
    assert first.json() == {
        "namespace": "default",
        "name": "hello",
        "s3Key": KEY,
        "build": build_id(KEY),
        "sha256": SHA,
        "size": len(make_zip()),
        "created": True,
    }
    second = await client.put(CODE, content=make_zip(), params={"deploy": "false"})
    assert (second.status_code, second.json()["created"]) == (200, False)
    assert await rig.functions.find("default", "hello") is None
    assert rig.runs.looks == []


async def test_a_function_that_waits_for_its_zip_is_looked_at(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    spec = {"s3Key": KEY, "runtime": "python3.11"}
    await rig.functions.create("default", "hello", spec=spec, manager="gitops")
    await client.put(CODE, content=make_zip(), params={"deploy": "false"})
    assert rig.runs.looks == [(HELLO, (await rig.stored()).function.ask)]


async def test_deploy_false_takes_no_settings(client: httpx.AsyncClient) -> None:
    params = {"deploy": "false", "handler": "main:app"}
    response = await client.put(CODE, content=make_zip(), params=params)
    assert reason_of(response, 400) == "InvalidSetting"


# multipart


def form(settings: object, *, code: bytes | None = None) -> dict[str, Any]:
    content = settings if isinstance(settings, bytes) else json.dumps(settings).encode()
    return {
        "settings": ("settings", content, "application/json"),
        "code": ("code.zip", make_zip() if code is None else code, "application/zip"),
    }


async def test_a_form_is_one_ask_with_its_settings(rig: ApiRig, client: httpx.AsyncClient) -> None:
    settings = {"handler": "main:app", "env": {"B": "2", "A": "1"}}
    response = await client.put(CODE, files=form(settings))
    assert response.status_code == 202
    stored = await rig.stored()
    assert stored.function.generation == 1
    assert stored.manifest["spec"]["env"] == [
        {"name": "A", "value": "1"},
        {"name": "B", "value": "2"},
    ]
    assert rig.objects.content == {KEY: make_zip()}


async def test_the_order_of_a_forms_parts_is_free(client: httpx.AsyncClient) -> None:
    files = dict(reversed(form({"command": ["python", "x.py"]}).items()))
    assert (await client.put(CODE, files=files)).status_code == 202


async def test_a_zip_that_holds_the_boundary_arrives_whole(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    tricky = make_zip({"a": b"\r\n--edge\n\r\n--edg" * 50_000})
    body = (
        b'--edge-1\r\nContent-Disposition: form-data; name="code"\r\n\r\n'
        + tricky
        + b"\r\n--edge-1--\r\n"
    )
    headers = {"Content-Type": "multipart/form-data; boundary=edge-1"}
    assert (await client.put(CODE, content=body, headers=headers)).status_code == 202
    assert list(rig.objects.content.values()) == [tricky]


@pytest.mark.parametrize(
    "settings",
    [
        b"{",
        b"[]",
        b'{"handler": "a:b", "handler": "a:c"}',
        b'{"env": {"A": "1", "A": "2"}}',
        b'{"handler": NaN}',
        b"[" * 100_000,
        b"\xff",
        {"labels": {}},
        {"handler": 7},
        {"handler": "no colon"},
        {"handler": "main:app", "command": ["x"]},
        {"command": "python x.py"},
        {"command": [""]},
        {"command": ["a\0b"]},
        {"env": "A=1"},
        {"env": {"A": None}},
        {"env": {"A": 1}},
        {"env": [{"name": "A"}]},
        {"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]},
        {"env": {"PORT": "1"}},
        {"env": {"SLESS_X": "1"}},
        {"env": {"A=B": "1"}},
        {"env": {"": "1"}},
        {"env": {"A": "a\0b"}},
        {"env": {"A": "\ud800"}},
    ],
    ids=lambda settings: str(settings)[:40],
)
async def test_settings_that_cannot_be_are_refused_with_nothing_stored(
    rig: ApiRig, client: httpx.AsyncClient, settings: object
) -> None:
    response = await client.put(CODE, files=form(settings))
    assert reason_of(response, 400) == "InvalidSetting"
    assert rig.objects.content == {}
    assert rig.spooled() == []


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"settings": ("s", b"{}", "application/json")}, "no part named 'code'"),
        ({"zip": ("code.zip", b"x", "application/zip")}, "'zip'"),
        ([("code", ("a", b"1")), ("code", ("b", b"2"))], "two parts"),
    ],
)
async def test_a_form_with_wrong_parts_is_refused(
    rig: ApiRig, client: httpx.AsyncClient, files: Any, words: str
) -> None:
    response = await client.put(CODE, files=files)
    assert reason_of(response, 400) == "InvalidSetting"
    assert words in response.json()["detail"]
    assert rig.spooled() == []


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("multipart/form-data", b"x"),
        ("multipart/form-data; boundary=" + "b" * 71, b"x"),
        ("multipart/form-data; boundary=b", b""),
        ("multipart/form-data; boundary=b", b"rubbish"),
        ("multipart/form-data; boundary=b", b'--b\r\nContent-Disposition: form-data; name="co'),
        (
            "multipart/form-data; boundary=b",
            b'--b\r\nContent-Disposition: form-data; name="code"\r\n\r\nPK',
        ),
        ("multipart/form-data; boundary=b", b"--b\r\n" + b"A: " + b"x" * 100_000),
        ("multipart/form-data; boundary=b", b"--b\r\n\r\nno name\r\n--b--\r\n"),
    ],
)
async def test_a_form_that_cannot_be_read_is_refused(
    rig: ApiRig, client: httpx.AsyncClient, content_type: str, body: bytes
) -> None:
    response = await client.put(CODE, content=body, headers={"Content-Type": content_type})
    assert reason_of(response, 400) == "InvalidSetting"
    assert rig.spooled() == []


async def test_a_handler_given_twice_is_refused(client: httpx.AsyncClient) -> None:
    response = await client.put(CODE, files=form({"handler": "a:b"}), params={"handler": "a:c"})
    assert reason_of(response, 400) == "InvalidSetting"


# what is wrong with a request


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({"runtime": "cobol85"}, "RuntimeUnsupported"),
        ({"runtime": "x" * 1000}, "RuntimeUnsupported"),
        ({"handler": ""}, "InvalidSetting"),
        ({"handler": "main"}, "InvalidSetting"),
        ({"deploy": "perhaps"}, "InvalidSetting"),
        ({"runtimes": "python3.11"}, "InvalidSetting"),
    ],
)
async def test_wrong_parameters_are_refused_before_the_body_is_read(
    client: httpx.AsyncClient, params: dict[str, str], reason: str
) -> None:
    async def unread() -> AsyncIterator[bytes]:
        pytest.fail("the body was read")
        yield b""

    response = await client.put(CODE, content=unread(), params=params)
    assert reason_of(response, 400) == reason


async def test_a_runtime_that_the_machine_lacks_says_how_to_get_it(rig: ApiRig) -> None:
    rig.restart(missing_runtimes={"node20": "Install Node 20."})
    async with rig.client() as client:
        response = await client.put(CODE, content=make_zip(), params={"runtime": "node20"})
    assert reason_of(response, 400) == "RuntimeUnavailable"
    assert response.json()["detail"] == "Install Node 20."


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "ArchiveNotZip"),
        (b"no zip", "ArchiveNotZip"),
        (make_zip()[:-30], "ArchiveTruncated"),
        (make_zip({"../x": "x"}), "ArchiveUnsafePath"),
        (make_zip({"folder/": ""}), "ArchiveEmpty"),
    ],
)
async def test_a_bad_zip_is_refused_before_anything_is_stored(
    rig: ApiRig, client: httpx.AsyncClient, body: bytes, reason: str
) -> None:
    assert reason_of(await client.put(CODE, content=body), 400) == reason
    assert rig.objects.content == {}
    assert rig.runs.looks == []
    assert rig.spooled() == []


@pytest.mark.parametrize("announced", [True, False])
async def test_a_body_over_the_limit_is_refused(rig: ApiRig, *, announced: bool) -> None:
    rig.restart(archive=type(rig.options.archive)(packed_bytes=100_000))
    body = b"x" * 100_001

    async def chunks() -> AsyncIterator[bytes]:
        yield body

    async with rig.client() as client:
        response = await client.put(CODE, content=body if announced else chunks())
    assert reason_of(response, 413) == "RequestTooLarge"
    assert rig.spooled() == []


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": "application/json"},
        {"Content-Encoding": "gzip"},
    ],
)
async def test_other_media_are_refused(client: httpx.AsyncClient, headers: dict[str, str]) -> None:
    response = await client.put(CODE, content=make_zip(), headers=headers)
    assert reason_of(response, 415) == "ContentTypeUnsupported"


def standard(digest: bytes) -> str:
    return f"md5=:AAAA:, sha-256=:{base64.b64encode(digest).decode()}:"


@pytest.mark.parametrize(
    "headers",
    [
        {"Sless-Content-SHA256": SHA},
        {"Sless-Content-SHA256": SHA.upper()},
        {"Repr-Digest": standard(bytes.fromhex(SHA))},
        {"Content-Digest": standard(bytes.fromhex(SHA))},
        {"Repr-Digest": "sha-512=:AAAA:"},
    ],
)
async def test_a_hash_that_is_right_is_welcome(
    client: httpx.AsyncClient, headers: dict[str, str]
) -> None:
    assert (await client.put(CODE, content=make_zip(), headers=headers)).status_code == 202


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ({"Sless-Content-SHA256": "0" * 64}, "ChecksumMismatch"),
        ({"Repr-Digest": standard(bytes(32))}, "ChecksumMismatch"),
        ({"Sless-Content-SHA256": "abc"}, "InvalidSetting"),
        ({"Repr-Digest": "sha-256=:AAAA:"}, "InvalidSetting"),
        ({"Repr-Digest": "sha-256=:A:"}, "InvalidSetting"),
    ],
)
async def test_a_hash_that_is_wrong_is_refused(
    rig: ApiRig, client: httpx.AsyncClient, headers: dict[str, str], reason: str
) -> None:
    assert reason_of(await client.put(CODE, content=make_zip(), headers=headers), 400) == reason
    assert rig.objects.content == {}
    assert rig.spooled() == []


async def test_a_forms_hash_is_its_zips(client: httpx.AsyncClient) -> None:
    right = await client.put(CODE, files=form({}), headers={"Sless-Content-SHA256": SHA})
    assert right.status_code == 202
    wrong = await client.put(CODE, files=form({}), headers={"Sless-Content-SHA256": "0" * 64})
    assert reason_of(wrong, 400) == "ChecksumMismatch"


@pytest.mark.parametrize("name", ["Hello", "-a", "a_b", "a" * 41, "x.kube-system.svc", "@evil"])
async def test_names_that_cannot_be_are_refused(client: httpx.AsyncClient, name: str) -> None:
    response = await client.put(f"/v1/namespaces/default/functions/{name}/code", content=b"x")
    assert reason_of(response, 400) == "InvalidName"


@contextmanager
def files_at_most(size: int) -> Iterator[None]:
    """The kernel refuses to let any file of this process grow beyond that."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


async def test_a_full_disk_is_told_and_leaves_no_file(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    with files_at_most(1024 * 1024):
        response = await client.put(CODE, content=b"x" * 3 * 1024 * 1024)
    assert reason_of(response, 507) == "DiskFull"
    assert rig.spooled() == []


async def test_a_field_that_gitops_applies_is_not_taken_over(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    spec = {"s3Key": KEY, "runtime": "python3.11", "handler": "main:app"}
    await rig.functions.apply("default", "hello", spec=spec, manager="flux")
    response = await client.put(CODE, content=make_zip({"other.py": "1"}))
    assert reason_of(response, 409) == "ManagedElsewhere"
    assert "flux" in response.json()["detail"]


async def test_an_upload_for_another_version_is_refused(
    rig: ApiRig, client: httpx.AsyncClient
) -> None:
    absent = await client.put(CODE, content=make_zip(), headers={"If-Match": '"1"'})
    assert reason_of(absent, 412) == "VersionConflict"
    await rig.upload()
    version = (await rig.stored()).function.resource_version
    right = await client.put(CODE, content=make_zip(), headers={"If-Match": f'"{version}"'})
    assert right.status_code == 202
    stale = await client.put(CODE, content=make_zip(), headers={"If-Match": f'"{version}"'})
    assert reason_of(stale, 412) == "VersionConflict"


async def test_a_store_of_functions_that_is_away_is_told(rig: ApiRig) -> None:
    class Away(type(rig.functions)):  # type: ignore[misc]  # a subclass of whatever the rig has
        async def find(self, *_: object) -> None:
            raise StoreUnavailable("The store does not answer.")

    rig.functions = Away(rig.database)
    rig.restart()
    async with rig.client() as client:
        response = await client.put(CODE, content=make_zip())
    assert reason_of(response, 503) == "StoreUnavailable"
