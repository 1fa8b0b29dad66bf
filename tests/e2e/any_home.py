"""A home of either kind, as people use it: by its command line and by its functions' addresses."""

import json
import subprocess
from typing import TYPE_CHECKING, Any, Protocol

import httpx


class AnyHome(Protocol):
    """One that is up. Its kinds inherit what can be said of both."""

    if TYPE_CHECKING:
        # Not at run time: a dataclass would take them for its fields' defaults.
        @property
        def gateway(self) -> str:
            """URL of its gateway, without a slash at its end."""
            ...

        @property
        def namespace(self) -> str:
            """Where its commands are about."""
            ...

    def sless(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Runs a command of `sless` against it."""
        ...

    def done(self, *words: str) -> str:
        """Likewise, and it must succeed; what it printed on stdout."""
        result = self.sless(*words)
        assert result.returncode == 0, f"sless {words}: {result.stdout}{result.stderr}"
        return result.stdout

    def json(self, *words: str) -> Any:
        """Likewise with `-o json`, parsed."""
        return json.loads(self.done(*words, "-o", "json"))

    def call(self, path: str, **options: Any) -> httpx.Response:
        """Calls a function through the gateway: `path` is below `/fn/`."""
        with httpx.Client(trust_env=False, timeout=30) as client:
            method = options.pop("method", "GET")
            return client.request(method, f"{self.gateway}/fn/{path}", **options)
