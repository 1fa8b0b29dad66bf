"""Hostile tokens at the API, against a real issuer whose private keys the test has."""

import json
import time
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from sless.tokens import AUDIENCE as OWN_AUDIENCE
from sless.tokens import ISSUER, Identity
from sless.tokens.faults import TokenFault
from tests.component.api.rig import ApiRig, reason_of
from tests.component.api.trusting import answer, refused, status, trusting
from tests.fixtures.issuer import RealIssuer
from tests.issuer.signing import (
    AUDIENCE,
    IssuerKey,
    claims_of,
    make_key,
    segment,
    sign_by_secret,
    unsigned,
)

pytestmark = pytest.mark.real

ALGORITHMS = ("RS256", "ES256", "EdDSA")
LEEWAY = 5


async def assert_refused(rig: ApiRig, token: str, fault: TokenFault) -> None:
    """Refused for that fault, once, and nothing of the token is told or logged by name."""
    before = refused(rig).get(fault, 0)
    response = await answer(rig, token)
    assert reason_of(response, 401) == "Unauthenticated"
    assert refused(rig).get(fault, 0) == before + 1, refused(rig)
    assert token[:20] not in response.text


@pytest.mark.parametrize(
    "name", ["none", "None", "nOnE", "HS256", "PS256", "ES384", "", None, 7, []]
)
async def test_algorithms_that_no_key_has(rig: ApiRig, issuer: RealIssuer, name: object) -> None:
    header = {"alg": name, "kid": issuer.key("RS256").kid}
    async with trusting(rig, issuer.url):
        token = unsigned(header, claims_of(issuer.url), segment(b"x" * 64))
        await assert_refused(rig, token, TokenFault.ALGORITHM)


async def test_an_unsigned_token(rig: ApiRig, issuer: RealIssuer) -> None:
    async with trusting(rig, issuer.url):
        for algorithm in ALGORITHMS:
            header = {"alg": algorithm, "kid": issuer.key(algorithm).kid}
            token = unsigned(header, claims_of(issuer.url))
            await assert_refused(rig, token, TokenFault.SIGNATURE)


def published(key: IssuerKey) -> list[bytes]:
    """A public key in each form that somebody might take for a shared secret."""
    public = key.private.public_key()
    return [
        public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo),
        public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
        json.dumps(key.public_jwk).encode(),
    ]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
async def test_the_public_key_as_a_shared_secret(
    rig: ApiRig, issuer: RealIssuer, algorithm: str
) -> None:
    key = issuer.key(algorithm)
    async with trusting(rig, issuer.url):
        for secret in published(key):
            token = sign_by_secret(claims_of(issuer.url), secret, kid=key.kid)
            await assert_refused(rig, token, TokenFault.ALGORITHM)


async def test_a_key_verifies_by_its_own_algorithm_alone(rig: ApiRig, issuer: RealIssuer) -> None:
    async with trusting(rig, issuer.url):
        for signing in ALGORITHMS:
            for named in set(ALGORITHMS) - {signing}:
                kid = issuer.key(named).kid
                token = issuer.key(signing).sign(claims_of(issuer.url), kid=kid)
                await assert_refused(rig, token, TokenFault.ALGORITHM)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
async def test_keys_that_a_token_brings_along(
    rig: ApiRig, issuer: RealIssuer, algorithm: str
) -> None:
    other = make_key(issuer.key(algorithm).kid, algorithm)
    brought: dict[str, Any] = {
        "jku": f"{issuer.url}/jwks",
        "x5u": "http://127.0.0.1:9/chain",
        "x5c": ["AAAA"],
        "jwk": other.public_jwk,
    }
    async with trusting(rig, issuer.url):
        forged = other.sign(claims_of(issuer.url), **brought)
        await assert_refused(rig, forged, TokenFault.SIGNATURE)
        assert (
            await status(rig, issuer.key(algorithm).sign(claims_of(issuer.url), **brought)) == 200
        )


@pytest.mark.parametrize("kid", [None, "", "k" * 257])
async def test_no_key_is_named(rig: ApiRig, issuer: RealIssuer, kid: str | None) -> None:
    token = unsigned({"alg": "ES256", "kid": kid}, claims_of(issuer.url), segment(b"x"))
    without = unsigned({"alg": "ES256"}, claims_of(issuer.url), segment(b"x"))
    async with trusting(rig, issuer.url):
        fault = TokenFault.MALFORMED if kid is None else TokenFault.KEY
        await assert_refused(rig, token, fault)
        await assert_refused(rig, without, TokenFault.KEY)


async def test_a_token_of_8_mb_is_refused_unread(rig: ApiRig, issuer: RealIssuer) -> None:
    token = issuer.key("ES256").sign(claims_of(issuer.url, padding="x" * 8_000_000))
    async with trusting(rig, issuer.url), rig.client(token=token) as client:
        began = time.process_time()
        response = await client.get("/v1/namespaces/a/functions")
        spent = time.process_time() - began
        assert reason_of(response, 401) == "Unauthenticated"
        assert refused(rig) == {TokenFault.TOO_LARGE: 1}
        assert spent < 0.2


@pytest.mark.parametrize("claim", ["exp", "iat", "aud", "sub"])
async def test_a_claim_is_missing(rig: ApiRig, issuer: RealIssuer, claim: str) -> None:
    async with trusting(rig, issuer.url):
        token = issuer.key("ES256").sign(claims_of(issuer.url, **{claim: None}))
        await assert_refused(rig, token, TokenFault.CLAIMS)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"aud": "other"}, TokenFault.AUDIENCE),
        ({"aud": []}, TokenFault.CLAIMS),
        ({"aud": [AUDIENCE + "x", OWN_AUDIENCE]}, TokenFault.AUDIENCE),
        ({"aud": {AUDIENCE: 1}}, TokenFault.AUDIENCE),
        ({"iss": None}, TokenFault.CLAIMS),
        ({"iss": 7}, TokenFault.CLAIMS),
        ({"iss": "https://elsewhere"}, TokenFault.ISSUER),
        ({"sub": ""}, TokenFault.CLAIMS),
        ({"sub": 7}, TokenFault.CLAIMS),
        ({"exp": "soon"}, TokenFault.MALFORMED),
        ({"exp": [1]}, TokenFault.MALFORMED),
        ({"exp": float("inf")}, TokenFault.MALFORMED),
        ({"iat": "then"}, TokenFault.MALFORMED),
        ({"cnf": {"jkt": "x"}}, TokenFault.CLAIMS),
    ],
    ids=str,
)
async def test_a_claim_is_wrong(
    rig: ApiRig, issuer: RealIssuer, changes: dict[str, Any], fault: TokenFault
) -> None:
    async with trusting(rig, issuer.url):
        token = issuer.key("ES256").sign(claims_of(issuer.url) | changes)
        await assert_refused(rig, token, fault)


async def test_times_hold_but_for_the_leeway(rig: ApiRig, issuer: RealIssuer) -> None:
    now, key = int(time.time()), issuer.key("ES256")

    def token(**changes: int) -> str:
        return key.sign(claims_of(issuer.url, **changes))

    async with trusting(rig, issuer.url, leeway_seconds=LEEWAY):
        assert await status(rig, token(exp=now - 1)) == 200
        await assert_refused(rig, token(exp=now - LEEWAY - 1), TokenFault.EXPIRED)
        for claim in ("iat", "nbf"):
            await assert_refused(rig, token(**{claim: now + 3600}), TokenFault.EARLY)
    async with trusting(rig, issuer.url, leeway_seconds=0):
        await assert_refused(rig, token(exp=now - 1), TokenFault.EXPIRED)


@pytest.mark.parametrize(
    ("headers", "good"),
    [
        ({"typ": "at+jwt"}, True),
        ({"typ": "Application/AT+JWT"}, True),
        ({"typ": None}, True),
        ({"typ": "logout+jwt"}, False),
        ({"typ": ["JWT"]}, False),
        ({"crit": ["exp"], "exp": 1}, False),
        ({"crit": []}, False),
        ({"crit": ["b64"], "b64": True}, False),
    ],
    ids=str,
)
async def test_types_and_critical_headers(
    rig: ApiRig, issuer: RealIssuer, headers: dict[str, Any], *, good: bool
) -> None:
    token = issuer.key("ES256").sign(claims_of(issuer.url), **headers)
    async with trusting(rig, issuer.url):
        if good:
            assert await status(rig, token) == 200
        else:
            await assert_refused(rig, token, TokenFault.MALFORMED)


@pytest.mark.parametrize(
    "token",
    [
        *("a.b.c", "..", "e30.e30.e30", "." * 5000, unsigned({}, []), unsigned({}, 7)),
        *(unsigned({}, b"[" * 5000), unsigned({}, b'{"iss":' + b"1" * 5000 + b"}")),
    ],
    ids=lambda token: token[:12],
)
async def test_rubbish(rig: ApiRig, issuer: RealIssuer, token: str) -> None:
    async with trusting(rig, issuer.url):
        assert reason_of(await answer(rig, token), 401) == "Unauthenticated"


@pytest.mark.parametrize("header", [b"[" * 5000, b"7", b"\xff", b'{"alg":"ES256","kid":{}}'])
async def test_rubbish_in_its_header(rig: ApiRig, issuer: RealIssuer, header: bytes) -> None:
    token = unsigned(header, claims_of(issuer.url), segment(b"x"))
    async with trusting(rig, issuer.url):
        await assert_refused(rig, token, TokenFault.MALFORMED)


async def test_an_issuer_cannot_speak_for_another(rig: ApiRig, issuer: RealIssuer) -> None:
    """Nor for the home itself, by its key's name or not."""
    elsewhere = "http://127.0.0.1:9"
    async with trusting(rig, issuer.url, elsewhere):
        assert await status(rig, await issuer.token()) == 200
        key = issuer.key("EdDSA")
        await assert_refused(
            rig, key.sign(claims_of(ISSUER, aud=OWN_AUDIENCE, namespaces=["*"])), TokenFault.KEY
        )
        assert (await answer(rig, key.sign(claims_of(elsewhere)))).status_code == 503
        own = IssuerKey(issuer.key("EdDSA").kid, "EdDSA", rig.key.private)
        await assert_refused(rig, own.sign(claims_of(issuer.url)), TokenFault.SIGNATURE)


@pytest.mark.parametrize(
    "groups", [["*"], "*", ["team-*"], ["team-A"], ["team-"], [], None, {"team-a": 1}, 7, ["a"]]
)
async def test_groups_that_are_good_for_nothing(
    rig: ApiRig, issuer: RealIssuer, groups: object
) -> None:
    token = issuer.key("ES256").sign(claims_of(issuer.url) | {"groups": groups})
    async with trusting(rig, issuer.url):
        for namespace in ("a", "*", "team-a", "default"):
            response = await answer(rig, token, f"/v1/namespaces/{namespace}/functions")
            assert response.status_code == 404


async def test_a_refusal_is_counted_and_not_quoted(
    rig: ApiRig, issuer: RealIssuer, capsys: pytest.CaptureFixture[str]
) -> None:
    token = issuer.key("ES256").sign(claims_of(issuer.url, sub="secretive", exp=1))
    async with trusting(rig, issuer.url):
        assert await status(rig, token) == 401
        assert refused(rig) == {TokenFault.EXPIRED: 1}
        async with rig.client(token="") as client:
            scraped = (await client.get("/metrics")).text
    assert 'sless_api_tokens_refused_total{fault="expired"} 1.0' in scraped
    said = capsys.readouterr().out
    assert "secretive" not in said
    assert token.split(".")[1] not in said


async def test_identities_say_whose_word_they_are(rig: ApiRig, issuer: RealIssuer) -> None:
    async with trusting(rig, issuer.url):
        assert rig.verifier is not None
        token = await issuer.token()
        assert await rig.verifier.verify(token) == Identity("ES256", ("a", "b"), issuer.url)
        assert (await rig.verifier.verify(rig.token("a"))).issuer == ISSUER
