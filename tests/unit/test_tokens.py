"""Tokens: what one proves, and every way in which one does not."""

import base64
import json
import stat
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from sless.errors import InvalidSetting, Unauthenticated
from sless.tokens import (
    ALGORITHM,
    AUDIENCE,
    ISSUER,
    LEEWAY,
    TOKEN_BYTES,
    Identity,
    SigningKey,
    ensure_signing_key,
    key_id,
)
from sless.tokens.faults import TokenFault

HOUR = timedelta(hours=1)


@pytest.fixture
def key(tmp_path: Path) -> SigningKey:
    return ensure_signing_key(tmp_path / "keys")


def claims(**changes: object) -> dict[str, Any]:
    now = int(time.time())
    content: dict[str, Any] = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "ann",
        "iat": now,
        "exp": now + 60,
        "namespaces": ["a"],
    }
    content.update(changes)
    return {name: value for name, value in content.items() if value is not None}


def encode(key: SigningKey, content: dict[str, Any], **headers: object) -> str:
    kid = key_id(key.private.public_key())
    return jwt.encode(content, key.private, algorithm=ALGORITHM, headers={"kid": kid, **headers})


def segment(content: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")


async def test_a_signed_token_proves_its_identity(key: SigningKey) -> None:
    token = key.sign(sub="ann", namespaces=["a", "b"], ttl=HOUR)
    identity = await key.verifier().verify(token)
    assert identity == Identity("ann", ("a", "b"))
    assert identity.may_use("a")
    assert not identity.may_use("c")
    assert not identity.may_use("*")


async def test_a_star_is_every_namespace(key: SigningKey) -> None:
    token = key.sign(sub="ann", namespaces=["*"], ttl=HOUR)
    assert (await key.verifier().verify(token)).may_use("anything")


@pytest.mark.parametrize("claim", ["exp", "iat", "iss", "aud", "sub", "namespaces"])
async def test_a_token_without_a_claim_is_refused(key: SigningKey, claim: str) -> None:
    with pytest.raises(Unauthenticated):
        await key.verifier().verify(encode(key, claims(**{claim: None})))


@pytest.mark.parametrize(
    "changes",
    [
        {"aud": "other"},
        {"iss": "other"},
        {"sub": 7},
        {"exp": "soon"},
        {"namespaces": "a"},
        {"namespaces": [1]},
    ],
    ids=str,
)
async def test_a_token_with_a_wrong_claim_is_refused(
    key: SigningKey, changes: dict[str, Any]
) -> None:
    with pytest.raises(Unauthenticated):
        await key.verifier().verify(encode(key, claims(**changes)))


@pytest.mark.parametrize(
    ("claim", "seconds"),
    [("exp", -int(LEEWAY.total_seconds()) - 1), ("iat", 3600), ("nbf", 3600)],
)
async def test_a_token_is_refused_outside_its_time(
    key: SigningKey, claim: str, seconds: int
) -> None:
    with pytest.raises(Unauthenticated):
        await key.verifier().verify(encode(key, claims(**{claim: int(time.time()) + seconds})))


async def test_an_expired_token_says_so(key: SigningKey) -> None:
    with pytest.raises(Unauthenticated, match="expired"):
        await key.verifier().verify(encode(key, claims(exp=1)))


async def test_a_token_for_others_says_which_audience_is_wanted(key: SigningKey) -> None:
    with pytest.raises(Unauthenticated, match=f"with the audience '{AUDIENCE}'"):
        await key.verifier().verify(encode(key, claims(aud="other")))


async def test_clocks_may_differ_by_the_leeway(key: SigningKey) -> None:
    await key.verifier().verify(encode(key, claims(exp=int(time.time()) - 1)))


@pytest.mark.parametrize(
    ("changes", "headers", "fault"),
    [
        ({"exp": 1}, {}, TokenFault.EXPIRED),
        ({"nbf": 4e9}, {}, TokenFault.EARLY),
        ({"aud": "other"}, {}, TokenFault.AUDIENCE),
        ({"iss": "other"}, {}, TokenFault.ISSUER),
        ({"sub": ""}, {}, TokenFault.CLAIMS),
        ({"namespaces": 7}, {}, TokenFault.CLAIMS),
        ({}, {"kid": "other"}, TokenFault.KEY),
        ({}, {"typ": "logout+jwt"}, TokenFault.MALFORMED),
        ({}, {"crit": ["exp"], "exp": 1}, TokenFault.MALFORMED),
    ],
    ids=str,
)
async def test_a_refusal_names_its_fault(
    key: SigningKey, changes: dict[str, Any], headers: dict[str, Any], fault: TokenFault
) -> None:
    with pytest.raises(Unauthenticated) as refusal:
        await key.verifier().verify(encode(key, claims(**changes), **headers))
    assert refusal.value.fault == fault


async def test_an_unsigned_token_is_refused(key: SigningKey) -> None:
    kid = key_id(key.private.public_key())
    token = f"{segment({'alg': 'none', 'kid': kid})}.{segment(claims())}."
    with pytest.raises(Unauthenticated):
        await key.verifier().verify(token)


@pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
async def test_the_public_key_is_no_shared_secret(key: SigningKey) -> None:
    public = key.private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    kid = key_id(key.private.public_key())
    token = jwt.encode(claims(), public, algorithm="HS256", headers={"kid": kid})
    with pytest.raises(Unauthenticated):
        await key.verifier().verify(token)


async def test_headers_choose_no_key(key: SigningKey) -> None:
    other = SigningKey(Ed25519PrivateKey.generate())
    public = other.private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    jwk = {"kty": "OKP", "crv": "Ed25519", "x": base64.urlsafe_b64encode(public).decode()}
    address = "http://127.0.0.1:9/keys"
    kid = key_id(key.private.public_key())
    forged = encode(other, claims(), kid=kid, jwk=jwk, jku=address, x5u=address)
    with pytest.raises(Unauthenticated):
        await key.verifier().verify(forged)
    honest = encode(key, claims(), jwk=jwk, jku=address, x5u=address)
    assert (await key.verifier().verify(honest)).sub == "ann"


@pytest.mark.parametrize("kid", ["unknown", "", None, 7])
async def test_an_unknown_key_id_is_refused(key: SigningKey, kid: object) -> None:
    header = {"alg": ALGORITHM, "kid": kid}
    token = f"{segment(header)}.{segment(claims())}.{segment('x')}"
    with pytest.raises(Unauthenticated):
        await key.verifier().verify(token)


@pytest.mark.parametrize("header", ['{"alg": []}', "[" * 5000, '{"alg": ' + "1" * 5000 + "}"])
async def test_a_hostile_header_is_refused(key: SigningKey, header: str) -> None:
    raw = base64.urlsafe_b64encode(header.encode()).decode().rstrip("=")
    with pytest.raises(Unauthenticated):
        await key.verifier().verify(f"{raw}.{segment(claims())}.{segment('x')}")


async def test_a_huge_token_is_refused_unread(key: SigningKey) -> None:
    token = encode(key, claims(padding="x" * 8_000_000))
    began = time.perf_counter()
    with pytest.raises(Unauthenticated, match=str(TOKEN_BYTES)):
        await key.verifier().verify(token)
    assert time.perf_counter() - began < 0.05


@pytest.mark.parametrize("token", ["", ".", "..", "a.b.c", "é.é.é", "\0", "[]", "." * 5000])
async def test_rubbish_is_refused(key: SigningKey, token: str) -> None:
    with pytest.raises(Unauthenticated):
        await key.verifier().verify(token)


@pytest.mark.parametrize("payload", [[], "text", 7, None])
async def test_a_payload_that_is_no_object_is_refused(key: SigningKey, payload: object) -> None:
    kid = key_id(key.private.public_key())
    token = jwt.api_jws.encode(
        json.dumps(payload).encode(), key.private, algorithm=ALGORITHM, headers={"kid": kid}
    )
    with pytest.raises(Unauthenticated):
        await key.verifier().verify(token)


def test_the_key_is_kept_and_is_its_owners_alone(tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    first, second = ensure_signing_key(folder), ensure_signing_key(folder)
    assert key_id(first.private.public_key()) == key_id(second.private.public_key())
    assert stat.S_IMODE((folder / "signing.pem").stat().st_mode) == 0o600
    assert [path.name for path in folder.iterdir()] == ["signing.pem"]


def test_processes_that_make_the_key_at_once_share_it(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        keys = list(pool.map(lambda _: ensure_signing_key(tmp_path), range(32)))
    assert len({key_id(key.private.public_key()) for key in keys}) == 1


@pytest.mark.parametrize("content", [b"", b"rubbish"])
def test_a_file_that_is_no_key_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "signing.pem"
    path.touch(mode=0o600)
    path.write_bytes(content)
    with pytest.raises(InvalidSetting, match="holds no private key"):
        ensure_signing_key(tmp_path)


def test_a_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    ensure_signing_key(tmp_path)
    (tmp_path / "signing.pem").chmod(0o640)
    with pytest.raises(InvalidSetting, match="chmod 600"):
        ensure_signing_key(tmp_path)
