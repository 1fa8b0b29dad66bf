"""A function that tells of its own process, and what kubectl says of it and does to it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.cluster.e2e.cluster_home import ClusterHome
from tests.e2e.running import wait_until

NAME = "mirror"
DEPLOYMENT = f"fn-{NAME}"
LABEL = f"sless.io/function={NAME}"
ENDED_SECONDS = 240
"""Until an ask has ended: a build, or a revision that is not ready within its deadline."""
HANDLER = """
import os
from pathlib import Path


def handler(request):
    secrets = [str(path) for path in Path("/var/run/secrets").rglob("*")]
    return {"version": "VERSION", "env": dict(os.environ), "secrets": secrets}
"""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Mirror:
    """The function of that name in a namespace."""

    home: ClusterHome
    folder: Path

    def write(self, version: str) -> None:
        """The code, which answers that version."""
        self.folder.mkdir(exist_ok=True)
        (self.folder / "handler.py").write_text(HANDLER.replace("VERSION", version))

    def deploy(self, version: str, *options: str) -> None:
        """Uploads that version and waits until it serves."""
        self.write(version)
        self.home.done("deploy", str(self.folder), "--name", NAME, *options)

    def ask(self) -> Json:
        """What it tells of its process; it must answer."""
        told: Json = self.call().raise_for_status().json()
        return told

    def call(self) -> httpx.Response:
        """Calls it."""
        return self.home.call(f"{self.home.namespace}/{NAME}/")

    def object(self, kind: str = "fn", name: str = NAME) -> Json:
        """The live object."""
        words = ["get", kind, name, "-o=json", "--show-managed-fields"]
        found: Json = json.loads(self.home.kubectl(*words))
        return found

    def deployment(self) -> Json:
        """Its Deployment."""
        return self.object("deployment", DEPLOYMENT)

    def pods(self) -> list[Json]:
        """Those that are not leaving."""
        items = json.loads(self.home.kubectl("get", "pods", f"-l={LABEL}", "-o=json"))["items"]
        return [pod for pod in items if "deletionTimestamp" not in pod["metadata"]]

    def deployments(self) -> list[Json]:
        """Its Deployment, or none while there is none."""
        words = ["get", "deployments", f"-l={LABEL}", "-o=json"]
        found: list[Json] = json.loads(self.home.kubectl(*words))["items"]
        return found

    def status(self) -> Json:
        """Of the Function; empty before the first."""
        status: Json = self.object().get("status") or {}
        return status

    def patch(self, **spec: Any) -> None:
        """Changes the Function's spec: one ask."""
        body = json.dumps({"spec": spec})
        self.home.kubectl("patch", "fn", NAME, "--type=merge", f"-p={body}")

    def until_ended(self, phase: str = "Ready") -> Json:
        """The status once the newest ask came to that end."""
        generation = self.object()["metadata"]["generation"]
        self._wait(f"{{.status.observedGeneration}}={generation}")
        self._wait(f"{{.status.phase}}={phase}")
        status = self.status()
        assert status["observedGeneration"] == generation
        return status

    def until_available(self) -> None:
        """Until all its pods are those that the Deployment wants, and ready."""
        self.home.kubectl("rollout", "status", f"deployment/{DEPLOYMENT}", "--timeout=120s")

    def jobs(self) -> list[str]:
        """Of all its builds; they are kept for a day."""
        return sorted(self.home.builds("jobs"))

    def warned(self) -> list[str]:
        """What `sless get` warns of."""
        return [str(warning["message"]) for warning in self.home.json("get", NAME)["warnings"]]

    def until_warned(self, text: str) -> None:
        """Until it warns of that: events come after what they are about, and are kept a while."""
        wait_until(
            lambda: any(text in message for message in self.warned()),
            within=60,
            what=lambda: f"{text!r} in {self.warned()}",
        )

    def _wait(self, path: str) -> None:
        limit = f"--timeout={ENDED_SECONDS}s"
        self.home.kubectl("wait", f"function/{NAME}", f"--for=jsonpath={path}", limit)


def condition(status: Mapping[str, Any], kind: str) -> str:
    """True, False or Unknown, as which one counts that is not told."""
    found: Sequence[Json] = status.get("conditions") or ()
    return next((str(each["status"]) for each in found if each["type"] == kind), "Unknown")


def writes(deployment: Json) -> Any:
    """What tells one write of it from the next: its generation, and who wrote what and when."""
    managed = deployment["metadata"]["managedFields"]
    specs = [each for each in managed if each.get("subresource") != "status"]
    return deployment["metadata"]["generation"], specs


def until_version(mirror: Mirror, version: str, **env: str) -> None:
    """Until a caller is answered by that version, which has those variables."""
    wait_until(
        lambda: _is_from(mirror.call(), version, env),
        within=60,
        what=lambda: f"{version} answers with {env}: {mirror.call().text}",
    )


def _is_from(answer: httpx.Response, version: str, env: Mapping[str, str]) -> bool:
    if not answer.is_success:
        return False
    told = answer.json()
    return bool(told["version"] == version and env.items() <= told["env"].items())


def is_ready(pod: Json) -> bool:
    """Whether it takes calls."""
    return condition(pod["status"], "Ready") == "True"
