"""When keys are fetched: by a clock that the test turns, from an issuer that it scripts."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sless.errors import IssuerUnavailable, Unauthenticated
from sless.ports.issuer import Issuer
from sless.tokens.key_cache import KeyCache
from sless.tokens.key_policy import KeyAges, KeyStep, KeyTimes, next_key_step
from tests.issuer.signing import IssuerKey, jwks_of, make_key

TIMES = KeyTimes(refresh=300, stale=86_400, cool_down=5)
OLD, NEW = make_key("old"), make_key("new")
SECONDS = st.floats(min_value=0, max_value=1e6)


@dataclass(slots=True)
class ScriptedIssuer(Issuer):
    """Publishes what the test says, when the test says."""

    keys: Sequence[IssuerKey] = (OLD,)
    down: bool = False
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    fetches: int = 0
    now: float = 1000.0

    async def fetch_jwks(self) -> bytes:
        self.fetches += 1
        await self.gate.wait()
        if self.down:
            raise IssuerUnavailable("The issuer is down.")
        return jwks_of(self.keys)

    def clock(self) -> float:
        return self.now


@pytest.fixture
def issuer() -> ScriptedIssuer:
    issuer = ScriptedIssuer()
    issuer.gate.set()
    return issuer


@pytest.fixture
def cache(issuer: ScriptedIssuer) -> KeyCache:
    return KeyCache(name="https://issuer", issuer=issuer, times=TIMES, clock=issuer.clock)


async def settle() -> None:
    """Lets a fetch beside us end: it waits for nothing but its turns."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_many_who_wait_share_one_fetch(cache: KeyCache, issuer: ScriptedIssuer) -> None:
    issuer.gate.clear()
    waiting = [asyncio.create_task(cache.get("old")) for _ in range(100)]
    await settle()
    waiting[0].cancel()
    issuer.gate.set()
    found = await asyncio.gather(*waiting[1:])
    assert len(found) == 99
    assert all(key.public == OLD.private.public_key() for key in found)
    assert issuer.fetches == 1


async def test_unknown_keys_cost_one_fetch_per_cool_down(
    cache: KeyCache, issuer: ScriptedIssuer
) -> None:
    await cache.get("old")
    for second in range(20):
        issuer.now = 1001.0 + second
        kids = (f"{second}-{number}" for number in range(1000))
        results = await asyncio.gather(*map(cache.get, kids), return_exceptions=True)
        assert {type(result) for result in results} == {Unauthenticated}
    assert issuer.fetches == 1 + 4
    await cache.get("old")


async def test_a_key_rotated_just_now_costs_one_fetch(
    cache: KeyCache, issuer: ScriptedIssuer
) -> None:
    await cache.get("old")
    issuer.keys = (NEW,)
    assert (await cache.get("new")).public == NEW.private.public_key()
    assert issuer.fetches == 2
    with pytest.raises(Unauthenticated):
        await cache.get("old")


async def test_a_rotation_seen_by_a_fetch_too_early_is_looked_at_again(
    cache: KeyCache, issuer: ScriptedIssuer
) -> None:
    issuer.gate.clear()
    cache.warm()
    early = asyncio.create_task(cache.get("new"))
    await settle()
    issuer.gate.set()
    await asyncio.sleep(0)  # The first fetch reads the keys of before.
    issuer.keys = (NEW,)
    assert (await early).public == NEW.private.public_key()
    assert issuer.fetches == 2


async def test_keys_are_refreshed_beside_their_use(cache: KeyCache, issuer: ScriptedIssuer) -> None:
    await cache.get("old")
    issuer.keys = (NEW,)
    issuer.now += TIMES.refresh
    await cache.get("old")
    await settle()
    assert issuer.fetches == 2
    with pytest.raises(Unauthenticated):
        await cache.get("old")


async def test_after_a_long_rest_keys_are_fetched_before_their_use(
    cache: KeyCache, issuer: ScriptedIssuer
) -> None:
    await cache.get("old")
    issuer.keys = (NEW,)
    issuer.now += TIMES.old
    with pytest.raises(Unauthenticated):
        await cache.get("old")


async def test_an_outage_of_hours_fails_nobody_whose_key_is_known(
    cache: KeyCache, issuer: ScriptedIssuer
) -> None:
    await cache.get("old")
    issuer.down = True
    for _ in range(23 * 60):
        issuer.now += 60
        await cache.get("old")
        await settle()
    assert issuer.fetches > 1000
    with pytest.raises(IssuerUnavailable):
        await cache.get("new")
    issuer.now = 1000.0 + TIMES.stale
    with pytest.raises(IssuerUnavailable):
        await cache.get("old")
    issuer.down = False
    issuer.now += TIMES.cool_down
    await cache.get("old")


async def test_in_an_outage_nobody_waits_and_the_issuer_is_asked_rarely(
    cache: KeyCache, issuer: ScriptedIssuer
) -> None:
    await cache.get("old")
    issuer.down = True
    issuer.now += TIMES.old
    await cache.get("old")
    issuer.gate.clear()
    for _ in range(1000):
        await asyncio.wait_for(cache.get("old"), 1)
    issuer.now += TIMES.cool_down
    for _ in range(1000):
        await asyncio.wait_for(cache.get("old"), 1)
    await settle()
    assert issuer.fetches == 3
    await cache.close()


async def test_who_comes_while_the_issuer_is_down_is_told_so_and_asks_rarely(
    cache: KeyCache, issuer: ScriptedIssuer
) -> None:
    issuer.down = True
    for _ in range(100):
        with pytest.raises(IssuerUnavailable, match="https://issuer does not answer"):
            await cache.get("old")
    assert issuer.fetches == 1
    issuer.down = False
    issuer.now += TIMES.cool_down
    await cache.get("old")


STEPS = partial(next_key_step, TIMES)


@given(fetched=SECONDS, missed=SECONDS, failed=SECONDS, later=SECONDS, known=st.booleans())
def test_whatever_happened_a_step_is_sound(
    *, fetched: float, missed: float, failed: float, later: float, known: bool
) -> None:
    now = max(fetched, missed, failed) + later
    step = STEPS(KeyAges(fetched=fetched, missed=missed, failed=failed), known=known, now=now)
    used = step in {KeyStep.USE, KeyStep.USE_AND_FETCH}
    assert not used or (known and now - fetched < TIMES.stale)
    fetching = step in {KeyStep.FETCH, KeyStep.USE_AND_FETCH}
    assert not fetching or now - failed >= TIMES.cool_down
    assert step is not KeyStep.REFUSE or not known
    if known and now - fetched < TIMES.refresh:
        assert step is KeyStep.USE
