"""Issuers that misbehave: no token of theirs holds, nobody else notices, and they may recover."""

import asyncio
import datetime as dt
import gzip
import ssl
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from structlog.testing import capture_logs

from sless.adapters.oidc_verifiers import open_verifier
from sless.errors import InvalidSetting, IssuerUnavailable
from sless.settings import TokensSettings
from tests.component.api.rig import ApiRig, reason_of
from tests.component.api.trusting import answer, status, trusting
from tests.fixtures.waiting import until
from tests.issuer.scripted import (
    DISCOVERY,
    KEYS,
    Answer,
    Flood,
    ScriptedIssuer,
    content,
    cut,
    drip,
    respond,
    scripted_issuer,
    silence,
)
from tests.issuer.signing import claims_of, jwks_of, make_key

KEY = make_key("one")
LIMIT = 0.5
"""Seconds that an issuer has for its keys, in these tests."""

Spoil = Callable[[ScriptedIssuer], None]


def at(path: str, given: Answer) -> Spoil:
    def spoil(issuer: ScriptedIssuer) -> None:
        issuer.answers[path] = given

    return spoil


def described(**changes: object) -> Spoil:
    return lambda issuer: issuer.describe(**changes)


def redirected(path: str, code: int) -> Spoil:
    """To a place where all is well."""

    def spoil(issuer: ScriptedIssuer) -> None:
        issuer.answers["/moved"] = issuer.answers[path]
        issuer.answers[path] = respond(code, f"Location: {issuer.url}/moved")

    return spoil


BOMB = gzip.compress(jwks_of([KEY]))

SPOILT: dict[str, tuple[Spoil, str]] = {
    "silent": (at(DISCOVERY, silence), "within 0.5 s"),
    "silent about keys": (at(KEYS, silence), "within 0.5 s"),
    "dripping": (at(KEYS, drip), "within 0.5 s"),
    "10 MB of discovery": (at(DISCOVERY, Flood()), "more than 262144 bytes"),
    "10 MB of keys": (at(KEYS, Flood()), "more than 262144 bytes"),
    "moved": (redirected(DISCOVERY, 302), "answers 302"),
    "keys moved": (redirected(KEYS, 308), "answers 308"),
    "rubbish": (at(DISCOVERY, content(b"<html>")), "no JSON"),
    "rubbish keys": (at(KEYS, content(b'{"keys": [')), "no JSON object with keys"),
    "deep": (at(DISCOVERY, content(b"[" * 100_000)), "no JSON"),
    "a list": (at(DISCOVERY, content(b"[]")), "no JSON object"),
    "no keys": (at(KEYS, content(b'{"keys": []}')), "no key for RS256"),
    "packed": (at(KEYS, content(BOMB, "Content-Encoding: gzip")), "no JSON object with keys"),
    "no HTTP": (at(DISCOVERY, cut(b"SSH-2.0\r\n\r\n")), "does not answer"),
    "cut short": (at(KEYS, cut(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")), ""),
    "500": (at(DISCOVERY, respond(500)), "answers 500"),
    "204": (at(KEYS, respond(204)), "answers 204"),
    "another issuer": (described(issuer="https://other.test"), "is that of 'https://other.test'"),
    "almost itself": (lambda issuer: issuer.describe(issuer=f"{issuer.url}/"), "is that of"),
    "keys over http": (described(jwks_uri="http://keys.test/"), "jwks_uri is no https address"),
    "keys in a file": (described(jwks_uri="file:///etc/passwd"), "jwks_uri is no https address"),
    "keys nowhere": (described(jwks_uri=None), "jwks_uri is no https address"),
}


@pytest.mark.parametrize("how", SPOILT)
async def test_an_issuer_that_misbehaves(rig: ApiRig, how: str) -> None:
    spoil, said = SPOILT[how]
    async with scripted_issuer([KEY]) as issuer:
        spoil(issuer)
        token = KEY.sign(claims_of(issuer.url))
        times: dict[str, Any] = {"fetch_seconds": LIMIT, "cool_down_seconds": 0.2}
        with capture_logs() as lines:
            async with trusting(rig, issuer.url, **times):
                began = time.monotonic()
                assert reason_of(await answer(rig, token), 503) == IssuerUnavailable.reason
                assert time.monotonic() - began < LIMIT * 4
                assert await status(rig, rig.token("a")) == 200
                assert "/moved" not in issuer.asked
                issuer.publish(KEY)
                await until(lambda: is_good(rig, token))
    failures = [line for line in lines if line["event"] == "issuer's keys not fetched"]
    assert failures
    assert said in failures[0]["detail"]


async def is_good(rig: ApiRig, token: str) -> bool:
    return await status(rig, token) == 200


async def test_of_10_mb_little_is_taken(rig: ApiRig) -> None:
    flood = Flood()
    async with scripted_issuer([KEY]) as issuer:
        issuer.answers[KEYS] = flood
        async with trusting(rig, issuer.url):
            assert await status(rig, KEY.sign(claims_of(issuer.url))) == 503
    assert 0 < flood.taken < 8_000_000


async def test_known_keys_outlive_a_bad_answer(rig: ApiRig) -> None:
    async with scripted_issuer([KEY]) as issuer:
        token = KEY.sign(claims_of(issuer.url))
        times: dict[str, Any] = {"refresh_seconds": 0.05, "cool_down_seconds": 0.05}
        async with trusting(rig, issuer.url, **times):
            assert await status(rig, token) == 200
            issuer.describe(issuer="https://other.test")
            asked = len(issuer.asked)

            async def asked_again() -> bool:
                assert await status(rig, token) == 200
                return len(issuer.asked) > asked + 2

            await until(asked_again)


async def test_a_slow_issuer_holds_up_nobody_whose_key_is_known(rig: ApiRig) -> None:
    async with scripted_issuer([KEY]) as issuer:
        token = KEY.sign(claims_of(issuer.url))
        other = make_key("other").sign(claims_of(issuer.url))
        async with trusting(rig, issuer.url, fetch_seconds=30):
            assert await status(rig, token) == 200
            issuer.answers[DISCOVERY] = silence
            waiting = [asyncio.create_task(status(rig, other)) for _ in range(50)]

            async def asked_again() -> bool:
                return issuer.asked.count(DISCOVERY) == 2

            await until(asked_again)
            assert await asyncio.wait_for(status(rig, token), 5) == 200
            assert issuer.asked.count(DISCOVERY) == 2
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)


async def test_the_loopback_is_reached_by_no_proxy(
    rig: ApiRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    async with scripted_issuer([KEY]) as issuer, trusting(rig, issuer.url):
        assert await status(rig, KEY.sign(claims_of(issuer.url))) == 200


async def test_without_any_issuer_or_key_nothing_starts() -> None:
    with pytest.raises(InvalidSetting, match="SLESS_TOKENS__ISSUERS is empty"):
        async with open_verifier(TokensSettings()):
            pass


async def test_https_is_checked(
    rig: ApiRig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = write_certificate(tmp_path)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, tmp_path / "key.pem")
    async with scripted_issuer([KEY], tls=tls) as issuer:
        token = KEY.sign(claims_of(issuer.url))
        async with trusting(rig, issuer.url):
            assert await status(rig, token) == 503
        async with trusting(rig, issuer.url, ca_file=certificate):
            assert await status(rig, token) == 200
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        async with trusting(rig, issuer.url):
            assert await status(rig, token) == 200


async def test_certificates_that_are_none_are_told_at_the_start(
    rig: ApiRig, tmp_path: Path
) -> None:
    rubbish = tmp_path / "ca.pem"
    rubbish.write_text("none")
    with pytest.raises(InvalidSetting, match=r"ca_file .* no usable certificates"):
        async with trusting(rig, "https://localhost:1", ca_file=rubbish):
            pass


def write_certificate(folder: Path) -> Path:
    """One for localhost that nobody else has signed."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = dt.datetime.now(dt.UTC)
    hour = dt.timedelta(hours=1)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - hour)
        .not_valid_after(now + hour)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "key.pem").write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    )
    path = folder / "certificate.pem"
    path.write_bytes(certificate.public_bytes(Encoding.PEM))
    return path
