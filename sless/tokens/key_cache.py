"""An issuer's keys in memory: fetched once for all who wait, kept while the issuer is away."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import structlog

from sless.errors import IssuerUnavailable
from sless.ports.issuer import Issuer
from sless.tokens.faults import TokenFault, refuse
from sless.tokens.jwks import parse_jwks
from sless.tokens.key_policy import KeyAges, KeyStep, KeyTimes, next_key_step
from sless.tokens.reading import VerificationKey

_FETCHES = 2
"""One that was under way may have read the keys of just before."""

log = structlog.get_logger()


@dataclass(slots=True, kw_only=True)
class KeyCache:
    """The keys of one issuer; belongs to one event loop."""

    name: str
    """The issuer's, for logs and messages."""
    issuer: Issuer
    times: KeyTimes
    clock: Callable[[], float] = time.monotonic
    _keys: Mapping[str, VerificationKey] = field(default_factory=dict)
    _ages: KeyAges = field(default_factory=KeyAges)
    _flight: "asyncio.Task[None] | None" = None

    async def get(self, kid: str) -> VerificationKey:
        """The key of that id.

        Raises:
            Unauthenticated: The issuer has no such key, or was asked for another one just now.
            IssuerUnavailable: Whether it has one cannot be known now.
        """
        step = self._step(kid)
        for _ in range(_FETCHES):
            if step is KeyStep.FETCH:
                # Whoever leaves while waiting must not take the fetch away from the others.
                await asyncio.shield(self._fetching(kid))
                step = self._step(kid)
        if step is KeyStep.USE_AND_FETCH:
            self._fetching()
        return self._answer(kid, step)

    def warm(self) -> None:
        """Begins to fetch the keys, so that the first caller need not wait."""
        self._fetching()

    async def close(self) -> None:
        """Ends a fetch under way."""
        if self._flight is not None:
            self._flight.cancel()
            await asyncio.wait([self._flight])

    def _answer(self, kid: str, step: KeyStep) -> VerificationKey:
        if step is KeyStep.UNAVAILABLE:
            raise IssuerUnavailable(
                f"{self.name} does not answer, so that this token cannot be checked."
            )
        # FETCH again: what the fetch brought has no such key, or is old by now.
        if kid not in self._keys:
            raise refuse(TokenFault.KEY, "The token was signed with a key its issuer has not.")
        return self._keys[kid]

    def _step(self, kid: str) -> KeyStep:
        return next_key_step(self.times, self._ages, known=kid in self._keys, now=self.clock())

    def _fetching(self, kid: str | None = None) -> "asyncio.Task[None]":
        """The fetch under way; begun if there is none."""
        if self._flight is None or self._flight.done():
            self._flight = asyncio.create_task(self._fetch(kid), name=f"keys of {self.name}")
        return self._flight

    async def _fetch(self, kid: str | None) -> None:
        began = self.clock()
        try:
            keys = parse_jwks(await self.issuer.fetch_jwks())
        except IssuerUnavailable as error:
            self._ages = self._ages.after_failure(ended=self.clock())
            log.warning(
                "issuer's keys not fetched",
                issuer=self.name,
                detail=error.message,
                known=len(self._keys),
            )
            return
        self._note(keys)
        self._keys = keys
        found = kid is None or kid in keys
        self._ages = self._ages.after_success(began=began, missed=None if found else self.clock())

    def _note(self, keys: Mapping[str, VerificationKey]) -> None:
        log.info(
            "issuer's keys fetched",
            issuer=self.name,
            keys=len(keys),
            added=sorted(keys.keys() - self._keys.keys()),
            removed=sorted(self._keys.keys() - keys.keys()),
        )
