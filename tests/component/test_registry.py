"""A registry with a will of its own: what it asks, how it answers, and what we say of it."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import httpx
import pytest
from starlette.responses import HTMLResponse, JSONResponse, Response

from sless.adapters.registry.connect import connect_registry
from sless.adapters.registry.credentials import Credentials
from sless.adapters.registry.manifest import MEDIA_TYPES
from sless.adapters.registry.place import RegistryPlace
from sless.adapters.registry.session import Patience
from sless.errors import InvalidSetting, RegistryDenied, RegistryUnavailable
from tests.component.contexts import silence
from tests.component.registry_rig import OURS, F, Rig
from tests.fakes.registry import USER, FakeRegistry, problem


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    rig = Rig()
    async with rig.client:
        yield rig


# who we are


@pytest.mark.parametrize("asks", ["nothing", "basic", "bearer"])
async def test_finds_and_promotes_whatever_is_asked(rig: Rig, asks: str) -> None:
    rig.registry.asks = asks  # type: ignore[assignment]
    digest = rig.push()
    assert await rig.images.find(F, "b1-n1") == digest
    assert await rig.images.promote(F, digest=digest, tag="b1") == digest


async def test_a_token_is_asked_for_once_and_again_when_it_expired(rig: Rig) -> None:
    rig.registry.asks = "bearer"
    digest = rig.push()
    for _ in range(3):
        await rig.images.find(F, "b1-n1")
    assert rig.registry.requests.count("GET /token") == 1
    rig.registry.token = "t2"
    assert await rig.images.find(F, "b1-n1") == digest
    assert rig.registry.requests.count("GET /token") == 2


@pytest.mark.parametrize("asks", ["basic", "bearer"])
@pytest.mark.parametrize(
    ("credentials", "who"),
    [(None, "anonymous callers"), (Credentials(USER, "old-secret"), "the user 'builder'")],
)
async def test_a_refusal_has_its_own_reason_and_tells_no_password(
    rig: Rig, asks: str, credentials: Credentials | None, who: str
) -> None:
    rig.registry.asks, rig.credentials = asks, credentials  # type: ignore[assignment]
    with pytest.raises(RegistryDenied) as raised:
        await rig.images.find(F, "b1")
    assert who in raised.value.message
    assert "SLESS_REGISTRY__CREDENTIALS" in raised.value.message
    assert "old-secret" not in raised.value.message


async def test_a_replaced_password_is_taken_up(rig: Rig) -> None:
    rig.registry.asks, rig.credentials = "basic", Credentials(USER, "old")
    digest = rig.push()
    with pytest.raises(RegistryDenied):
        await rig.images.find(F, "b1-n1")
    rig.credentials = OURS
    assert await rig.images.find(F, "b1-n1") == digest


async def test_a_replaced_password_is_taken_up_where_the_old_one_is_forbidden(rig: Rig) -> None:
    rig.registry.asks, rig.registry.forbids = "basic", True
    rig.credentials = Credentials(USER, "of yesterday")
    digest = rig.push()
    for _ in range(2):
        with pytest.raises(RegistryDenied, match="403"):
            await rig.images.find(F, "b1-n1")
    rig.credentials = OURS
    assert await rig.images.find(F, "b1-n1") == digest
    before = len(rig.registry.requests)
    assert await rig.images.find(F, "b1-n1") == digest
    assert len(rig.registry.requests) == before + 1


async def test_a_password_goes_nowhere_without_tls(rig: Rig) -> None:
    challenge = {"WWW-Authenticate": 'Bearer realm="http://elsewhere/token"'}
    rig.registry.answers.append(problem(401, "UNAUTHORIZED", challenge))
    with pytest.raises(RegistryDenied, match="no https address"):
        await rig.images.find(F, "b1")
    assert "GET /token" not in rig.registry.requests


# a busy registry


async def test_waits_as_told_by_a_busy_one_and_succeeds(rig: Rig) -> None:
    digest = rig.push()
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=1), usegmt=True)
    for told in ("0", "0", "0", "0", later):
        rig.registry.answers.append(problem(429, "TOOMANYREQUESTS", {"Retry-After": told}))
    assert await rig.images.find(F, "b1-n1") == digest
    assert len(rig.registry.requests) == 6


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_gives_up_at_once_when_told_to_wait_too_long(rig: Rig, status: int) -> None:
    rig.registry.answers.append(problem(status, "BUSY", {"Retry-After": "3600"}))
    with pytest.raises(RegistryUnavailable, match=f"{status}, the message of BUSY.* in 3600 s"):
        await rig.images.find(F, "b1")


async def test_gives_up_on_one_that_stays_busy() -> None:
    rig = Rig(patience=Patience(busy=0.6))
    rig.registry.answers.extend(problem(503, "BUSY") for _ in range(9))
    with pytest.raises(RegistryUnavailable, match="answers 503"):
        await rig.images.find(F, "b1")
    assert len(rig.registry.requests) == 2


async def test_one_that_never_answers_is_unavailable_within_the_limit() -> None:
    with silence() as url:
        address = url.removeprefix("http://")
        place = RegistryPlace(address, plain_http=frozenset({address}))
        async with connect_registry(place, patience=Patience(request=0.2)) as images:
            with pytest.raises(RegistryUnavailable, match=r"did not answer within 0\.2 s"):
                await images.find(F, "b1")


async def test_one_that_is_not_there_is_unavailable() -> None:
    place = RegistryPlace("127.0.0.1:1", plain_http=frozenset({"127.0.0.1:1"}))
    async with connect_registry(place) as images:
        with pytest.raises(RegistryUnavailable, match=r"127\.0\.0\.1:1 does not answer"):
            await images.find(F, "b1")


# unsound answers


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (HTMLResponse("no such page", 404), "answers 404"),
        (HTMLResponse("welcome"), "is no manifest"),
        (JSONResponse({"errors": []}, 418), "answers 418"),
        (JSONResponse({"mediaType": "application/zip"}), "unknown kind"),
        (Response(b'{"mediaType": "', media_type=MEDIA_TYPES[0]), "is no manifest"),
        (Response(b"x" * 5_000_000, media_type=MEDIA_TYPES[0]), "more than"),
        (
            Response(
                b"{}",
                media_type=MEDIA_TYPES[0],
                headers={"Docker-Content-Digest": f"sha256:{'0' * 64}"},
            ),
            "have the digest sha256:44136fa",
        ),
    ],
)
async def test_what_is_no_registrys_answer_is_not_believed(
    rig: Rig, answer: Response, said: str
) -> None:
    rig.registry.answers.append(answer)
    with pytest.raises(RegistryUnavailable, match=said):
        await rig.images.find(F, "b1")


@pytest.mark.parametrize("kind", MEDIA_TYPES)
async def test_promotes_every_kind_byte_for_byte(rig: Rig, kind: str) -> None:
    digest = rig.push(kind=kind)
    assert await rig.images.promote(F, digest=digest, tag="b1") == digest
    assert rig.registry.manifests[rig.place.repository(F), digest][1] == kind


async def test_where_tags_cannot_be_moved_the_first_one_stands() -> None:
    rig = Rig(FakeRegistry(moves_tags=False))
    first, second = rig.push("a", "b1-n1"), rig.push("b", "b1-n2")
    # Looks, and sees nothing; then another worker tags.
    rig.registry.answers.append(problem(404, "MANIFEST_UNKNOWN"))
    rig.registry.tags[rig.place.repository(F), "b1"] = first
    assert await rig.images.promote(F, digest=second, tag="b1") == first


# names


def test_nodes_may_pull_from_another_address() -> None:
    place = RegistryPlace("registry.sless:5000", pull="127.0.0.1:5000", prefix="apps")
    assert place.destination(F, "b1-n1") == "registry.sless:5000/apps/team/thumb:b1-n1"
    assert place.reference(F, "sha256:0") == "127.0.0.1:5000/apps/team/thumb@sha256:0"


async def test_a_registry_with_flat_names() -> None:
    rig = Rig(place=RegistryPlace("registry", prefix="owner", flat=True))
    digest = rig.push()
    assert await rig.images.find(F, "b1-n1") == digest
    reference = rig.images.reference(F, digest)
    assert reference == f"registry/owner/sless-team_thumb@{digest}"


# files


async def test_a_bundle_of_certificates_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "ca.pem"
    path.write_text("nothing")
    with pytest.raises(InvalidSetting, match="SLESS_REGISTRY__CA_FILE"):
        async with connect_registry(RegistryPlace("registry"), ca_file=path):
            pass


async def test_credentials_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"auths": {"registry": {"auth": "secret"}}}))
    registry = FakeRegistry(asks="basic")
    async with connect_registry(RegistryPlace("registry"), credentials=path) as images:
        images._session.client._transport = httpx.ASGITransport(registry.app())
        with pytest.raises(RegistryDenied, match="no base64") as raised:
            await images.find(F, "b1")
    assert "secret" not in raised.value.message
