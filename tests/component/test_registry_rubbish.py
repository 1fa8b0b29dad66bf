"""A registry that talks rubbish: it is away for now, whatever it says, and nothing else breaks."""

import gzip
import json
from collections.abc import AsyncIterator

import pytest
from starlette.responses import Response

from sless.adapters.registry.manifest import MEDIA_TYPES
from sless.errors import RegistryDenied, RegistryUnavailable
from tests.component.registry_rig import F, Rig
from tests.fakes.registry import problem

DEEP = b"[" * 100_000


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    rig = Rig()
    async with rig.client:
        yield rig


@pytest.mark.parametrize("kind", [MEDIA_TYPES[0], "application/json"])
@pytest.mark.parametrize(
    "body",
    [DEEP, b"[]", b"7", b"null", b"1" * 5000, b"\xff\xfe", b'"text"'],
    ids=lambda body: str(body[:6]),
)
async def test_what_is_no_object_is_no_manifest(rig: Rig, body: bytes, kind: str) -> None:
    rig.registry.answers.append(Response(body, media_type=kind))
    with pytest.raises(RegistryUnavailable, match="is no manifest"):
        await rig.images.find(F, "b1")


@pytest.mark.parametrize("kind", [7, None, {}, ["application/zip"], "x" * 5000], ids=type)
async def test_a_kind_that_is_none_is_unknown(rig: Rig, kind: object) -> None:
    body = json.dumps({"mediaType": kind}).encode()
    rig.registry.answers.append(Response(body, media_type="application/json"))
    with pytest.raises(RegistryUnavailable, match="of the unknown kind") as raised:
        await rig.images.find(F, "b1")
    assert len(raised.value.message) < 400


async def test_what_was_asked_for_plain_is_not_inflated(rig: Rig) -> None:
    twice = gzip.compress(gzip.compress(b'{"mediaType": "x"}'))
    headers = {"Content-Encoding": "gzip, gzip"}
    rig.registry.answers.append(Response(twice, media_type=MEDIA_TYPES[0], headers=headers))
    with pytest.raises(RegistryUnavailable, match="is no manifest"):
        await rig.images.find(F, "b1")


@pytest.mark.parametrize(
    "body",
    [
        *(b'{"errors": ["busy"]}', b'{"errors": [null]}', b'{"errors": [[]]}', b'{"errors": "no"}'),
        *(b'{"errors": [{"message": {}}]}', b'{"errors": {}}', b"[]", b"\xff", DEEP),
    ],
    ids=lambda body: str(body[:24]),
)
async def test_a_complaint_in_another_form_is_passed_over(rig: Rig, body: bytes) -> None:
    rig.registry.answers.append(Response(body, 503, headers={"Retry-After": "3600"}))
    with pytest.raises(RegistryUnavailable, match="answers 503 and wants"):
        await rig.images.find(F, "b1")


@pytest.mark.parametrize(
    "later", ["Fri, 02 Jan 2026 03:05:05 +99999999999999", f"1 Jan 1{'0' * 22} 0:0:0 +0000"]
)
async def test_a_time_that_cannot_be_is_none(rig: Rig, later: str) -> None:
    digest = rig.push()
    rig.registry.answers.append(problem(503, "BUSY", {"Retry-After": later}))
    assert await rig.images.find(F, "b1-n1") == digest


@pytest.mark.parametrize(
    "realm",
    [
        *("https://h:x/", "https:///t", "https://", "https://[::zz]/", "file:///x"),
        *(f"https://h/{'a' * 70_000}", "https://xn--\u00e9/", ""),
    ],
    ids=lambda realm: realm[:20] or "empty",
)
async def test_a_password_goes_to_no_address_that_is_none(rig: Rig, realm: str) -> None:
    challenge = {"WWW-Authenticate": f'Bearer realm="{realm}"'}
    rig.registry.answers.append(problem(401, "UNAUTHORIZED", challenge))
    with pytest.raises(RegistryDenied, match="no https address") as raised:
        await rig.images.find(F, "b1")
    assert len(raised.value.message) < 400


@pytest.mark.parametrize(
    "body",
    [
        *(DEEP, b"[]", b"null", b"{}", b'{"token": ""}', b'{"token": null, "access_token": null}'),
        *(b'{"token": {"a": 1}}', b'{"token": ["x"]}', b'{"token": true}'),
        *(b'{"token": "\xc3\xa9"}', b'{"token": "a\\nb"}', b'{"token": "\\ud800"}'),
    ],
    ids=lambda body: str(body[:24]),
)
async def test_a_token_that_is_none_is_not_sent(rig: Rig, body: bytes) -> None:
    rig.registry.asks, rig.registry.sold = "bearer", Response(body)
    with pytest.raises(RegistryUnavailable, match="without a token"):
        await rig.images.find(F, "b1")
