"""The platform on the cluster, as those use it who have a namespace there."""

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sless.cluster.sweeper import SWEEP_SECONDS
from tests.cluster.chart import BUILDS, run
from tests.e2e.any_home import AnyHome
from tests.e2e.running import plain_environ, wait_until

SLESS = str(Path(sys.executable).with_name("sless"))
SECONDS = 240.0
"""For one command: a cold build with an install, on two shared processors."""


@dataclass(frozen=True, slots=True)
class ClusterHome(AnyHome):
    """One namespace, with the token of its service account `default`."""

    namespace: str
    api: str
    gateway: str

    def environ(self) -> Mapping[str, str]:
        """What `sless` is told; the token is made as people make it."""
        made = ["create", "token", "default", f"-n={self.namespace}", "--audience=sless"]
        return {
            **plain_environ(),
            "SLESS_SERVER": self.api,
            "SLESS_NAMESPACE": self.namespace,
            "SLESS_TOKEN": run("kubectl", *made).strip(),
        }

    def sless(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Runs a command of `sless` against it."""
        return subprocess.run(
            [SLESS, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            env=dict(self.environ()),
            check=False,
        )

    def kubectl(self, *words: str, given: str | None = None) -> str:
        """What it answers in the namespace; it must succeed."""
        return run("kubectl", f"-n={self.namespace}", *words, given=given)

    def left(self) -> list[str]:
        """What is there of functions, in either namespace; Secrets and accounts are not theirs."""
        kinds = "functions.sless.io,deployments,replicasets,pods,services,endpointslices"
        names = ["get", "-o=name", "--ignore-not-found"]
        return self.kubectl(*names, kinds).split() + self.builds("jobs,pods")

    def until_nothing_left(self) -> None:
        """Waits until all is collected, and the sweep of Jobs has passed twice."""
        wait_until(
            lambda: not self.left(),
            within=2 * SWEEP_SECONDS + 30,
            what=lambda: f"still there: {self.left()}",
        )

    def builds(self, kinds: str = "pods") -> list[str]:
        """Names of those in the builds' namespace that are for this one."""
        label = f"-l=sless.io/namespace={self.namespace}"
        names = ["get", kinds, "-o=name", "--ignore-not-found", label]
        return run("kubectl", f"-n={BUILDS}", *names).split()
