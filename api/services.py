"""What the routes work with: the ports, the options, and what requests share."""

from dataclasses import dataclass, field
from typing import Annotated

import anyio
from fastapi import Depends, Request

from api.log_feed import LogFeeds
from api.metrics import Metrics
from api.options import ApiOptions
from sless.ports import Functions, Objects, Runs, Warnings
from sless.tokens import Verifier


@dataclass(frozen=True, slots=True)
class Ports:
    """The adapters that a root chose."""

    functions: Functions
    objects: Objects
    runs: Runs
    verifier: Verifier
    warnings: Warnings


@dataclass(frozen=True, slots=True)
class Services:
    """What a request works with."""

    ports: Ports
    options: ApiOptions
    metrics: Metrics = field(default_factory=Metrics)
    feeds: LogFeeds = field(init=False)
    checks: anyio.CapacityLimiter = field(init=False)
    """Bounds the zips that are inflated at the same time."""

    def __post_init__(self) -> None:
        """Makes what is shared."""
        options = self.options
        feeds = LogFeeds(
            functions=self.ports.functions,
            objects=self.ports.objects,
            runs=self.ports.runs,
            poll_seconds=options.log_poll_seconds,
            cache_bytes=options.log_cache_bytes,
        )
        object.__setattr__(self, "feeds", feeds)
        object.__setattr__(self, "checks", anyio.CapacityLimiter(options.check_threads))


def _services_of(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


ServicesDep = Annotated[Services, Depends(_services_of)]
