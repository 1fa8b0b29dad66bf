"""Tokens of a real issuer at the API: accepted, rotated, and through its outage."""

import asyncio
import re
from collections.abc import Iterator
from typing import Any

import pytest

from sless.errors import IssuerUnavailable
from tests.component.api.rig import ApiRig, make_zip, reason_of
from tests.component.api.trusting import PATH, answer, refused, status, trusting
from tests.fixtures.issuer import RealIssuer, fresh_keys
from tests.fixtures.waiting import until
from tests.issuer.signing import claims_of, make_key

pytestmark = pytest.mark.real


@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "EdDSA"])
async def test_its_tokens_are_good_for_their_namespaces(
    rig: ApiRig, issuer: RealIssuer, algorithm: str
) -> None:
    token = await issuer.token(algorithm)
    async with trusting(rig, issuer.url), rig.client(token=token) as client:
        accepted = await client.put(f"{PATH}/hello/code", content=make_zip())
        assert accepted.status_code == 202, accepted.text
        assert (await client.get(f"{PATH}/hello")).status_code == 200
        assert (await client.get(PATH.replace("/a/", "/b/"))).status_code == 200
        assert (await client.get(PATH.replace("/a/", "/c/"))).status_code == 404


async def test_on_every_route_what_lies_outside_is_not_there(
    rig: ApiRig, issuer: RealIssuer
) -> None:
    token = await issuer.token()
    build = (await rig.upload())["build"]
    tried = 0
    async with trusting(rig, issuer.url), rig.client(token=token) as client:
        for method, path in routes(rig):
            there = path.format(ns="default", name="hello", build=build)
            absent = path.format(ns="default", name="other", build="0" * 12)
            bodies = []
            for address in (there, absent):
                headers = {"x-request-id": "same", "Content-Type": "application/json"}
                response = await client.request(method, address, headers=headers, content="{}")
                assert response.status_code == 404, (method, address, response.text)
                bodies.append(response.text.replace(address, "PATH"))
            assert bodies[0].replace("hello", "other") == bodies[1], (method, path)
            tried += 1
    assert tried >= 12
    assert (await rig.stored()).function.generation == 1


def routes(rig: ApiRig) -> Iterator[tuple[str, str]]:
    """Method and template of each route in a namespace; a build's id is called `build`."""
    for path, methods in rig.app.openapi()["paths"].items():
        if path.startswith("/v1/namespaces/{ns}"):
            for method in methods:
                yield method.upper(), re.sub(r"/builds/\{\w+\}", "/builds/{build}", path)


async def test_the_homes_own_key_is_good_beside_it(rig: ApiRig, issuer: RealIssuer) -> None:
    async with trusting(rig, issuer.url):
        assert await status(rig, rig.token("a")) == 200
        assert await status(rig, await issuer.token()) == 200


async def test_a_key_rotated_just_now_is_good_at_once(rig: ApiRig, issuer: RealIssuer) -> None:
    async with trusting(rig, issuer.url):
        retired = await issuer.token()
        assert await status(rig, retired) == 200
        before = issuer.fetches()
        issuer.rotate(*fresh_keys())
        fresh = await issuer.token()
        together = await asyncio.gather(*(status(rig, fresh) for _ in range(20)))
        assert set(together) == {200}
        assert issuer.fetches() == before + 1
        assert await status(rig, retired) == 401


async def test_unknown_keys_cost_the_issuer_one_fetch(rig: ApiRig, issuer: RealIssuer) -> None:
    key = issuer.key("ES256")
    async with trusting(rig, issuer.url, cool_down_seconds=60):
        assert await status(rig, await issuer.token()) == 200
        before = issuer.fetches()
        forged = [key.sign(claims_of(issuer.url), kid=f"k{number}") for number in range(1000)]
        async with rig.client(token="") as client:
            answers = await asyncio.gather(
                *(
                    client.get(PATH, headers={"Authorization": f"Bearer {token}"})
                    for token in forged
                )
            )
        assert {response.status_code for response in answers} == {401}
        assert issuer.fetches() == before + 1
        assert refused(rig) == {"key": 1000}
        assert await status(rig, await issuer.token()) == 200


async def test_an_outage_fails_nobody_whose_key_is_known(rig: ApiRig, issuer: RealIssuer) -> None:
    known = await issuer.token()
    other = make_key("other").sign(claims_of(issuer.url))
    times: dict[str, Any] = {
        "refresh_seconds": 0.05,
        "cool_down_seconds": 0.05,
        "stale_seconds": 60,
    }
    async with trusting(rig, issuer.url, **times):
        assert await status(rig, known) == 200
        issuer.kill()
        # Far past the age at which keys are fetched before they are used.
        await asyncio.sleep(0.3)
        for _ in range(20):
            assert await status(rig, known) == 200
        unavailable = await answer(rig, other)
        assert reason_of(unavailable, 503) == IssuerUnavailable.reason
        assert "retry-after" in unavailable.headers
        issuer.keys = fresh_keys()
        issuer.start()
        fresh = await issuer.token()
        await until(lambda: is_good(rig, fresh))


async def is_good(rig: ApiRig, token: str) -> bool:
    return await status(rig, token) == 200


async def test_an_outage_has_an_end(rig: ApiRig, issuer: RealIssuer) -> None:
    token = await issuer.token()
    times: dict[str, Any] = {
        "refresh_seconds": 0.05,
        "cool_down_seconds": 0.05,
        "stale_seconds": 0.5,
    }
    async with trusting(rig, issuer.url, **times):
        assert await status(rig, token) == 200
        issuer.kill()

        async def ended() -> bool:
            return await status(rig, token) == 503

        await until(ended)


async def test_an_issuer_that_was_down_at_the_start_is_found_later(
    rig: ApiRig, issuer: RealIssuer
) -> None:
    token = await issuer.token()
    issuer.kill()
    async with trusting(rig, issuer.url, cool_down_seconds=0.05):
        assert reason_of(await answer(rig, token), 503) == IssuerUnavailable.reason
        assert await status(rig, rig.token("a")) == 200
        issuer.start()
        await until(lambda: is_good(rig, token))
