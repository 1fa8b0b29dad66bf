"""Published keys: which are used, and for what alone."""

import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from hypothesis import given
from hypothesis import strategies as st
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from sless.errors import IssuerUnavailable
from sless.tokens.jwks import KEYS_MAX, find_key, parse_jwks
from sless.tokens.reading import KID_MAX
from tests.issuer.signing import IssuerKey, jwks_of, make_key

RSA, EC, ED = (make_key(name, name) for name in ("RS256", "ES256", "EdDSA"))


@pytest.mark.parametrize("key", [RSA, EC, ED], ids=lambda key: key.algorithm)
def test_a_key_has_the_algorithm_of_its_kind(key: IssuerKey) -> None:
    found = parse_jwks(jwks_of([key]))[key.kid]
    assert found.algorithm == key.algorithm
    assert found.public == key.private.public_key()
    without = {name: value for name, value in key.public_jwk.items() if name != "alg"}
    assert find_key(without) == found


@pytest.mark.parametrize("key", [RSA, EC, ED], ids=lambda key: key.algorithm)
def test_of_a_private_key_only_the_public_half_is_read(key: IssuerKey) -> None:
    found = find_key(key.jwk)
    assert found is not None
    assert found.public == key.private.public_key()


@pytest.mark.parametrize("key", [RSA, EC, ED], ids=lambda key: key.algorithm)
@pytest.mark.parametrize(
    "changes",
    [
        {"alg": "HS256"},
        {"alg": "none"},
        {"alg": "PS256"},
        {"alg": ["RS256", "ES256", "EdDSA"]},
        {"use": "enc"},
        {"key_ops": ["sign"]},
        {"key_ops": "verify"},
        {"kty": "oct", "k": "c2VjcmV0"},
        {"kty": ["RSA"]},
        {"kty": "OKP", "crv": "X25519"},
        {"kty": "EC", "crv": "secp256k1"},
        {"kty": "EC", "crv": {}},
        {"x": "AAAA", "n": "AAAA"},
        {"x": 7, "n": 7},
    ],
    ids=str,
)
def test_keys_for_other_things_are_passed_over(key: IssuerKey, changes: dict[str, Any]) -> None:
    assert find_key({**key.public_jwk, **changes}) is None


def test_curves_and_sizes_have_bounds() -> None:
    small = rsa.generate_private_key(65537, 1024).public_key()  # noqa: S505 - too small on purpose
    assert find_key(RSAAlgorithm.to_jwk(small, as_dict=True)) is None
    other = ec.generate_private_key(ec.SECP384R1()).public_key()
    assert find_key(ECAlgorithm.to_jwk(other, as_dict=True)) is None


def test_a_point_off_its_curve_is_no_key() -> None:
    assert find_key({**EC.public_jwk, "x": EC.public_jwk["y"]}) is None


def test_a_key_without_an_id_is_passed_over_and_the_first_of_two_counts() -> None:
    nameless = {name: value for name, value in RSA.public_jwk.items() if name != "kid"}
    twin = {**ED.public_jwk, "kid": EC.kid}
    long = {**ED.public_jwk, "kid": "k" * (KID_MAX + 1)}
    keys = parse_jwks(json.dumps({"keys": [nameless, 7, EC.public_jwk, twin, long]}).encode())
    assert {kid: key.algorithm for kid, key in keys.items()} == {EC.kid: "ES256"}


def test_no_more_keys_are_looked_at_than_an_issuer_has() -> None:
    many = [{**ED.public_jwk, "kid": str(number)} for number in range(KEYS_MAX + 5)]
    assert len(parse_jwks(json.dumps({"keys": many}).encode())) == KEYS_MAX


@pytest.mark.parametrize(
    "document",
    [
        *(b"", b"<html>", b"[]", b"7", b"{}", b"[" * 100_000, b"\xff\xfe"),
        *(b'{"keys": 7}', b'{"keys": []}', b'{"keys": [{}]}', b'{"keys": {"keys": []}}'),
    ],
    ids=lambda document: document[:20],
)
def test_a_document_without_a_usable_key_is_an_issuer_that_fails(document: bytes) -> None:
    with pytest.raises(IssuerUnavailable):
        parse_jwks(document)


@given(st.binary() | st.text().map(str.encode))
def test_rubbish_raises_nothing_else(document: bytes) -> None:
    with pytest.raises(IssuerUnavailable):
        parse_jwks(document)
