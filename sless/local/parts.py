"""The parts of the home: which processes, in which order, and when each is ready.

| part     | process                              | ready                    | stops |
|----------|--------------------------------------|--------------------------|-------|
| weed     | SeaweedFS: S3                        | its S3 answers           | last  |
| temporal | Temporal's dev server and UI         | its namespace is there   | last  |
| runner   | `python -m sless.local.roles.runner` | its ready file           | third |
| envoy    | Envoy, draining                      | it accepts               | second|
| worker   | `python -m worker`                   | its ready file           | first |
| watcher  | `python -m sless.local.roles.watcher`| its ready file           | first |
| api      | `python -m sless.local.roles.api`    | GET /readyz              | first |

Calls end before the functions that answer them, and both before what they are made from.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sless.local.addresses import reachable
from sless.local.checks import Check, accepts, answers, exists
from sless.local.environment import (
    HomeFacts,
    part_environment,
    plain_environment,
    storing_environment,
)
from sless.local.part import Part
from sless.local.seaweed import SeaweedServer
from sless.local.temporal import TemporalServer
from sless.settings import Settings

_ACCEPTING, _ROUTING, _RUNNING, _STORING = range(4)
"""Stages of a stop."""
_AFTER_DRAINING = 5.0
"""Seconds that a part has left once what it serves has had its own time to end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeParts:
    """Makes the parts of one start of the home."""

    facts: HomeFacts
    settings: Settings
    environ: Mapping[str, str]
    """The user's."""
    envoy: Sequence[str]
    """The command that runs the gateway."""

    def all(self) -> tuple[Part, ...]:
        """Every part; the order says nothing."""
        return (
            self._weed(),
            self._temporal(),
            self._runner(),
            self._envoy(),
            self._storing("worker", module="worker"),
            self._storing("watcher", module="sless.local.roles.watcher"),
            self._api(),
        )

    def _weed(self) -> Part:
        server = seaweed_server(self.facts)
        part = self._server(
            "weed", server.command(), ready=answers(f"{server.url}/healthz"), folder=server.folder
        )
        # By itself it would wait 15 s for its own streams to end.
        return replace(part, stop_seconds=0, may_be_killed=True)

    def _temporal(self) -> Part:
        layout, ports = self.facts.layout, self.facts.ports
        server = TemporalServer(layout.temporal_database, port=ports.temporal, ui_port=ports.ui)
        known = answers(f"{server.ui_url}/api/v1/namespaces/{server.namespace}")
        return self._server("temporal", server.command(), ready=known, folder=layout.root)

    def _envoy(self) -> Part:
        facts = self.facts
        part = self._server(
            "envoy",
            self.envoy,
            ready=accepts(reachable(facts.host), facts.ports.gateway),
            folder=facts.layout.envoy,
        )
        drain = self.settings.gateway.drain_seconds + _AFTER_DRAINING
        return replace(part, stop_stage=_ROUTING, stop_seconds=drain)

    def _runner(self) -> Part:
        env = part_environment(self.environ, self.facts, part="runner")
        part = self._role("runner", module="sless.local.roles.runner", env=env)
        drain = self.settings.deadlines.drain + _AFTER_DRAINING
        return replace(part, stop_stage=_RUNNING, stop_seconds=drain)

    def _api(self) -> Part:
        part = self._storing("api", module="sless.local.roles.api")
        ready = answers(f"{self.facts.addresses.api}/readyz")
        return replace(part, ready=ready, ready_file=None)

    def _storing(self, name: str, *, module: str) -> Part:
        env = storing_environment(self.environ, self.facts, part=name)
        return self._role(name, module=module, env=env)

    def _role(self, name: str, *, module: str, env: Mapping[str, str]) -> Part:
        told = self.facts.layout.ready_file(name)
        return Part(
            name=name,
            # -P: the working directory is no place for modules.
            command=(sys.executable, "-P", "-m", module),
            env=env,
            folder=self.facts.layout.root,
            ready=exists(told),
            start_seconds=self.settings.deadlines.start,
            stop_seconds=self.settings.deadlines.stop,
            stop_stage=_ACCEPTING,
            ready_file=told,
        )

    def _server(self, name: str, command: Sequence[str], *, ready: Check, folder: Path) -> Part:
        return Part(
            name=name,
            command=tuple(command),
            env=plain_environment(self.environ),
            folder=folder,
            ready=ready,
            start_seconds=self.settings.deadlines.start,
            stop_seconds=self.settings.deadlines.stop,
            stop_stage=_STORING,
        )


def seaweed_server(facts: HomeFacts) -> SeaweedServer:
    """The home's S3."""
    layout = facts.layout
    return SeaweedServer(folder=layout.s3, config=layout.s3_config, ports=facts.ports.seaweed)
