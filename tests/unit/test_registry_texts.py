"""What registries and `docker login` write."""

import base64
import json
from datetime import UTC, datetime

import pytest

from sless.adapters.registry.challenge import parse_challenge, parse_retry_after
from sless.adapters.registry.credentials import Credentials, parse_credentials

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
AUTH = base64.b64encode(b"me:pass:word").decode()


@pytest.mark.parametrize(
    ("header", "scheme", "parameters"),
    [
        ('Basic realm="a \\"b\\""', "basic", {"realm": 'a "b"'}),
        ("basic", "basic", {}),
        (
            'Bearer realm="https://a/t",service="s",scope="repository:a/b:pull,push"',
            "bearer",
            {"realm": "https://a/t", "service": "s", "scope": "repository:a/b:pull,push"},
        ),
        ("Bearer realm=https://a/t , error=x", "bearer", {"realm": "https://a/t", "error": "x"}),
        ('Negotiate, NTLM, Basic realm="a"', "basic", {"realm": "a"}),
        ('Digest realm="a",nonce="b", Bearer realm="c"', "bearer", {"realm": "c"}),
        ('Bearer realm="a", Basic realm="b"', "bearer", {"realm": "a"}),
    ],
)
def test_reads_challenges(header: str, scheme: str, parameters: dict[str, str]) -> None:
    challenge = parse_challenge(header)
    assert challenge is not None
    assert (challenge.scheme, challenge.parameters) == (scheme, parameters)


@pytest.mark.parametrize(
    "header", ["", "Negotiate", "Digest realm=x", "Basically", "Negotiate, Basics"]
)
def test_knows_no_other_challenges(header: str) -> None:
    assert parse_challenge(header) is None


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        (" 0 ", 0.0),
        ("Fri, 02 Jan 2026 03:05:05 GMT", 60.0),
        ("Fri, 02 Jan 2026 03:04:00 GMT", 0.0),
        ("Fri, 02 Jan 2026 03:05:05 -0000", 60.0),
        ("", None),
        ("soon", None),
        ("-3", None),
    ],
)
def test_reads_when_to_come_back(header: str, seconds: float | None) -> None:
    assert parse_retry_after(header, now=NOW) == seconds


@pytest.mark.parametrize(
    ("key", "address"),
    [
        ("reg:5000", "reg:5000"),
        ("https://reg:5000", "reg:5000"),
        ("https://reg/v2/", "reg"),
        ("reg/team", "reg"),
        ("https://index.docker.io/v1/", "registry-1.docker.io"),
    ],
)
def test_finds_the_registrys_own_entry(key: str, address: str) -> None:
    config = {"auths": {"other": {"auth": "!"}, key: {"auth": AUTH}}}
    assert parse_credentials(json.dumps(config), address) == Credentials("me", "pass:word")


def test_an_entry_may_name_user_and_password() -> None:
    config = {"auths": {"reg": {"username": "me", "password": "p", "auth": "!"}}}
    found = parse_credentials(json.dumps(config), "reg")
    assert found == Credentials("me", "p")
    assert "p'" not in repr(found)


@pytest.mark.parametrize(
    "entry",
    [
        {"username": "", "password": "", "auth": AUTH},
        {"username": None, "auth": AUTH},
        {"auth": f"{AUTH[:6]}\n{AUTH[6:]}\n"},
    ],
)
def test_an_entry_that_other_programs_wrote_counts(entry: dict[str, object]) -> None:
    config = {"auths": {"https://[other/": {}, "reg": entry}}
    assert parse_credentials(json.dumps(config), "reg") == Credentials("me", "pass:word")


@pytest.mark.parametrize("text", ["{}", '{"auths": {}}', '{"auths": {"elsewhere": {}}}'])
def test_no_entry_is_no_error(text: str) -> None:
    assert parse_credentials(text, "reg") is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hunter2", "no JSON object"),
        ("[]", "no JSON object"),
        ("[" * 100_000, "no JSON object"),
        ('{"auths": {"reg": {"username": "\\ud800"}}}', "no text"),
        ('{"auths": {"reg": {"identitytoken": "hunter2"}}}', "identity token"),
        ('{"auths": {"reg": {"auth": "hunter2"}}}', "no base64"),
        ('{"auths": {"reg": {"auth": "aHVudGVyMg=="}}}', "neither"),
    ],
)
def test_says_what_cannot_be_used_and_repeats_nothing(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said) as raised:
        parse_credentials(text, "reg")
    assert "hunter2" not in str(raised.value)
