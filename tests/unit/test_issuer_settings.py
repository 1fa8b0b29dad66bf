"""Settings of issuers: what is refused at the start, by the name of the setting."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sless.errors import InvalidSetting
from sless.issuers import IssuerSettings, is_safe_address
from sless.settings import read_settings

VARIABLE = "SLESS_TOKENS__ISSUERS"
GOOD = {"url": "https://issuer.test/realm", "audience": "sless"}


def set_issuers(monkeypatch: pytest.MonkeyPatch, *issuers: dict[str, Any]) -> None:
    monkeypatch.delenv("SLESS_DATA", raising=False)
    monkeypatch.setenv(VARIABLE, json.dumps(issuers))


def test_issuers_are_a_list_of_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    other = {"url": "https://other.test", "audience": "x", "claim": ["realm_access", "roles"]}
    set_issuers(monkeypatch, {**GOOD, "template": "team-{namespace}"}, other)
    first, second = read_settings().tokens.issuers
    assert first.path == ("namespaces",)
    assert first.template == "team-{namespace}"
    assert first.every == ""
    assert second.path == ("realm_access", "roles")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"url": "http://issuer.test"}, "[0].url is 'http://issuer.test': it must be an https URL"),
        ({"url": "http://127.0.0.1:1"}, "[0].url is"),
        ({"url": "issuer.test"}, "[0].url is 'issuer.test'"),
        ({"url": "https://issuer.test?x=1"}, "[0].url is"),
        ({"url": "https://issuer.test#x"}, "[0].url is"),
        ({"url": "https://ann:secret@issuer.test"}, "[0].url is"),
        ({"url": ""}, "[0].url is ''"),
        ({"allow_http": True, "url": "http://issuer.test"}, "[0].url is"),
        ({"audience": ""}, "[0].audience is ''"),
        ({"template": "team"}, "[0].template is 'team': it must have {namespace} in it, once"),
        ({"template": "{namespace}-{namespace}"}, "[0].template is"),
        ({"template": "{team}-{namespace}"}, "[0].template is"),
        ({"claim": ""}, "[0].claim is '': it must name a claim"),
        ({"claim": []}, "[0].claim is"),
        ({"claim": ["realm", ""]}, "[0].claim is"),
        ({"clam": "groups"}, "[0].clam is no setting"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], said: str
) -> None:
    set_issuers(monkeypatch, {**GOOD, **changes})
    with pytest.raises(InvalidSetting) as refusal:
        read_settings()
    assert refusal.value.message.startswith(VARIABLE + said)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    set_issuers(monkeypatch, {"url": "https://issuer.test"})
    with pytest.raises(InvalidSetting, match=r"ISSUERS\[0\]\.audience is missing"):
        read_settings()


def test_an_issuer_is_named_once(monkeypatch: pytest.MonkeyPatch) -> None:
    set_issuers(monkeypatch, GOOD, GOOD)
    with pytest.raises(InvalidSetting, match="an issuer may be named only once"):
        read_settings()


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("https://issuer.test", "SLESS_TOKENS…: lists and mappings are JSON"),
        (json.dumps(GOOD), "SLESS_TOKENS__ISSUERS is .*: input should be a JSON list"),
        ('["https://issuer.test"]', r"SLESS_TOKENS__ISSUERS\[0\] is 'https://issuer.test'"),
    ],
)
def test_what_is_no_list_of_objects_is_refused(
    monkeypatch: pytest.MonkeyPatch, value: str, said: str
) -> None:
    monkeypatch.setenv(VARIABLE, value)
    with pytest.raises(InvalidSetting, match=said):
        read_settings()


@pytest.mark.parametrize(
    ("address", "safe"),
    [
        ("https://issuer.test/keys?p=policy", True),
        ("https://[::1]:8443/keys", True),
        ("http://127.0.0.1:8080/keys", True),
        ("http://[::1]/keys", True),
        ("http://localhost/keys", True),
        ("http://127.0.0.1.evil.test/keys", False),
        ("http://127.0.0.1@evil.test/keys", False),
        ("http://localhost.evil.test", False),
        ("https://evil.test@issuer.test", False),
        ("https:///keys", False),
        ("https://issuer.test:99999/", False),
        ("https://[::1", False),
        ("https://issuer.test/a b", False),
        ("https://issuer.test/\r\nX: y", False),
        ("https://ïssuer.test", False),
        ("file:///etc/passwd", False),
        ("ftp://127.0.0.1", False),
        ("//issuer.test", False),
    ],
)
def test_addresses_of_keys(address: str, *, safe: bool) -> None:
    assert is_safe_address(address, allow_http=True) is safe
    only_https = address.startswith("https")
    assert is_safe_address(address, allow_http=False) is (safe and only_https)


@given(st.text())
def test_no_address_raises(address: str) -> None:
    assert not is_safe_address(address, allow_http=True) or "://" in address


def test_http_on_the_loopback_is_for_tests() -> None:
    url = "http://127.0.0.1:8000"
    assert IssuerSettings(allow_http=True, url=url, audience="sless").url == url
