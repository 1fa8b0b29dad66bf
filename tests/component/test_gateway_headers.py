"""What the function learns of the caller, and the caller of the function."""

import base64
import json
from collections.abc import Iterator

import pytest

from tests.component.gateway_rig import (
    OK,
    RunningGateway,
    answering,
    call,
    function,
    request,
    running_gateway,
)

pytestmark = pytest.mark.real
ISSUER = "https://sless.example/it's"


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningGateway]:
    folder = tmp_path_factory.mktemp("gateway")
    with running_gateway(folder, token_issuers=(ISSUER, "other"), headers_timeout=1) as running:
        yield running


@pytest.fixture(scope="module")
def trusting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningGateway]:
    folder = tmp_path_factory.mktemp("trusting")
    with running_gateway(
        folder, token_issuers=(ISSUER,), trusted_hops=1, pass_token=True
    ) as running:
        yield running


def bearer(issuer: str) -> str:
    claims = json.dumps({"sub": "é?>~", "iss": issuer}).replace("/", "\\/")  # as some write it
    payload = base64.urlsafe_b64encode(claims.encode())
    return f"Authorization: Bearer aaa.{payload.decode().rstrip('=')}.bbb"


async def test_f1_hop_by_hop_headers_do_not_reach_the_function(gateway: RunningGateway) -> None:
    hops = ("Keep-Alive: 1", "Proxy-Authorization: x", "TE: trailers", "Trailer: X", "X-Kept: 1")
    named = ("Connection: X-Secret, close", "X-Secret: 1", "Proxy-Connection: keep-alive")
    async with function(gateway, answering(OK)) as served:
        await call(gateway.port, request("/fn/a/b/", *hops, *named))
    seen = served.headers()
    assert seen["x-kept"] == "1"
    gone = {"keep-alive", "proxy-authorization", "te", "trailer", "x-secret", "connection"}
    assert not (gone | {"proxy-connection"}) & set(seen)


async def test_f1_hop_by_hop_headers_do_not_reach_the_caller(gateway: RunningGateway) -> None:
    raw = (
        b"HTTP/1.1 200 OK\r\nConnection: X-One, keep-alive\r\nX-One: 1\r\nconnection: X-Two\r\n"
        b"X-Two: 2\r\nKeep-Alive: timeout=5\r\nProxy-Authenticate: Basic\r\nTrailer: X\r\n"
        b"TE: x\r\nProxy-Authorization: x\r\nUpgrade: h2c\r\nX-Kept: 1\r\nServer: mine\r\n"
        b"X-Envoy-Upstream-Service-Time: 7\r\nContent-Length: 2\r\n\r\nok"
    )
    async with function(gateway, answering(raw)):
        answer = await call(gateway.port, request("/fn/a/b/"))
    ours = {"date", "x-request-id"}
    assert set(answer.headers) - ours == {"X-Kept", "Server", "Content-Length"}
    assert answer.headers["Server"] == "mine"


async def test_headers_arrive_as_they_were_sent(gateway: RunningGateway) -> None:
    odd = ("X-MiXed_Case: \xe4 \xff", "Cookie: a=1", "Cookie: b=2", "X-Twice: 1", "X-Twice: 2")
    async with function(gateway, answering(OK)) as served:
        await call(gateway.port, request("/fn/a/b/", *odd, "Accept-Encoding: br;q=0"))
    for line in (*odd, "Host: gateway.example", "Accept-Encoding: br;q=0"):
        assert f"\r\n{line}\r\n".encode("latin1") in served.heads[0]


async def test_f6_claims_about_the_caller_are_replaced(gateway: RunningGateway) -> None:
    lies = (
        *("X-Forwarded-For: 6.6.6.6", "X-Forwarded-For: 7.7.7.7", "X-Forwarded-Host: evil"),
        *("X-Forwarded-Proto: https", "X-Forwarded-Prefix: /evil", "X-Forwarded-Port: 1"),
        *("X-Real-IP: 6.6.6.6", "Forwarded: for=6.6.6.6", "X-Request-ID: mine"),
    )
    async with function(gateway, answering(OK)) as served:
        answer = await call(gateway.port, request("/fn/a/b/", *lies))
    seen = served.headers()
    assert seen["x-forwarded-for"] == "127.0.0.1"
    assert seen["x-forwarded-host"] == "gateway.example"
    assert seen["x-forwarded-proto"] == "http"
    assert seen["x-forwarded-prefix"] == "/fn/a/b"
    assert not {"x-forwarded-port", "x-real-ip", "forwarded"} & set(seen)
    assert seen["x-request-id"] == answer.headers["x-request-id"] != "mine"
    assert b"6.6.6.6" not in served.heads[0]
    assert b"7.7.7.7" not in served.heads[0]


@pytest.mark.parametrize("name", ["Proto", "Host", "For", "Prefix", "Client-Cert"])
async def test_f6_each_claim_is_replaced_by_itself(gateway: RunningGateway, name: str) -> None:
    async with function(gateway, answering(OK)) as served:
        await call(gateway.port, request("/fn/a/b/", f"X-Forwarded-{name}: a-lie"))
    assert b"a-lie" not in served.heads[0]


async def test_f6_a_trusted_proxy_is_believed(trusting: RunningGateway) -> None:
    claims = (
        *("X-Forwarded-For: 6.6.6.6", "X-Forwarded-Host: www", "X-Forwarded-Proto: https"),
        *("X-Forwarded-Prefix: /outer", "X-Request-ID: theirs"),
    )
    async with function(trusting, answering(OK)) as served:
        await call(trusting.port, request("/fn/a/b/", *claims))
    seen = served.headers()
    assert seen["x-forwarded-for"] == "6.6.6.6, 127.0.0.1"
    assert (seen["x-forwarded-host"], seen["x-forwarded-proto"]) == ("www", "https")
    assert (seen["x-forwarded-prefix"], seen["x-request-id"]) == ("/outer/fn/a/b", "theirs")


async def test_f6_a_caller_without_claims(trusting: RunningGateway) -> None:
    async with function(trusting, answering(OK)) as served:
        await call(trusting.port, request("/fn/a/b/"))
    seen = served.headers()
    assert (seen["x-forwarded-for"], seen["x-forwarded-host"]) == ("127.0.0.1", "gateway.example")


@pytest.mark.parametrize(
    "lines",
    [
        ("Content-Length: 5", "Transfer-Encoding: chunked"),
        ("Content-Length: 1", "Content-Length: 2"),
        ("Content-Length : 1",),
        ("Host: second.example",),
        ("Transfer-Encoding: gzip",),
        ("X-Nul: a\0b",),
        ("Content-Length: +1",),
        (" folded: 1",),
    ],
)
async def test_f8_ambiguous_requests_are_refused(
    gateway: RunningGateway, lines: tuple[str, ...]
) -> None:
    async with function(gateway, answering(OK)) as served:
        answer = await call(gateway.port, request("/fn/a/b/", *lines, method="POST") + b"0\r\n\r\n")
    assert answer.status in {400, 501}
    assert answer.problem()["layer"] == "caller"
    assert served.heads == []


async def test_f10_the_platforms_token_is_not_passed_on(gateway: RunningGateway) -> None:
    ours = (bearer(ISSUER), "Sless-Authorization: Bearer x")
    async with function(gateway, answering(OK)) as served:
        await call(gateway.port, request("/fn/a/b/", *ours))
    assert not {"authorization", "sless-authorization"} & set(served.headers())


@pytest.mark.parametrize(
    "line",
    [
        bearer("https://accounts.example"),
        bearer(ISSUER + "x"),
        "Authorization: Basic dXNlcjpwYXNz",
        "Authorization: Bearer opaque",
        "Authorization: Bearer a.!!.c",
        "Authorization: Bearer " + "a" * 20_000 + ".b.c",
        "Authorization:",
    ],
)
async def test_f10_any_other_authorization_is_the_functions(
    gateway: RunningGateway, line: str
) -> None:
    async with function(gateway, answering(OK)) as served:
        assert (await call(gateway.port, request("/fn/a/b/", line))).status == 200
    assert line.partition(":")[2].strip() == served.headers()["authorization"].strip()


async def test_f10_the_platforms_token_is_passed_on_when_asked(trusting: RunningGateway) -> None:
    async with function(trusting, answering(OK)) as served:
        await call(trusting.port, request("/fn/a/b/", bearer(ISSUER), "Sless-Authorization: x"))
    assert served.headers()["authorization"] == bearer(ISSUER).partition(": ")[2]
    assert served.headers()["sless-authorization"] == "x"


async def test_a_caller_cannot_steer_envoy(gateway: RunningGateway) -> None:
    orders = (
        *("X-Envoy-Upstream-Rq-Timeout-Ms: 1", "X-Envoy-Max-Retries: 5", "x-envoy-retry-on: 5xx"),
        *("X-Envoy-Foo: 1", "x-envoy-original-path: /evil", "X-Envoy-External-Address: 6.6.6.6"),
    )
    unavailable = b"HTTP/1.1 503 Mine\r\nContent-Length: 2\r\n\r\nno"
    async with function(gateway, answering(unavailable)) as served:
        answer = await call(gateway.port, request("/fn/a/b/", *orders))
    assert (answer.status, answer.body, len(served.heads)) == (503, b"no", 1)
    assert b"x-envoy" not in served.heads[0].lower()
    assert not [name for name in answer.headers if name.lower().startswith("x-envoy")]


async def test_a_head_that_never_ends(gateway: RunningGateway) -> None:
    async with function(gateway, answering(OK)) as served:
        answer = await call(gateway.port, b"GET /fn/a/b/ HTTP/1.1\r\nHost: x\r\n")
    assert (answer.status, answer.problem()["reason"]) == (408, "RequestTimedOut")
    assert served.heads == []


@pytest.mark.parametrize("line", ["X-Request-ID: mine", "x-request-id: " + "0" * 36])
async def test_a_request_id_is_the_gateways(gateway: RunningGateway, line: str) -> None:
    async with function(gateway, answering(OK)) as served:
        answer = await call(gateway.port, request("/fn/a/b/", line))
    assert served.headers()["x-request-id"] == answer.headers["x-request-id"] not in line


async def test_too_many_headers(gateway: RunningGateway) -> None:
    async with function(gateway, answering(OK)) as served:
        fits = await call(gateway.port, request("/fn/a/b/", *["X-Many: 1"] * 150))
        many = await call(gateway.port, request("/fn/a/b/", *["X-Many: 1"] * 250))
        tall = await call(gateway.port, request("/fn/a/b/", "X-Large: " + "x" * 63_000))
        large = await call(gateway.port, request("/fn/a/b/", "X-Large: " + "x" * 70_000))
    assert (fits.status, tall.status, len(served.heads)) == (200, 200, 2)
    assert (many.status, large.status) == (431, 431)
    assert many.problem()["reason"] == large.problem()["reason"] == "HeadersTooLarge"
