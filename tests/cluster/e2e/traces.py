"""What builds leave behind: statuses that were told, Jobs, runs in Temporal, images, rollouts."""

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from sless.model.phase import Phase
from sless.naming import build_workflow_id, function_workflow_id
from tests.cluster.chart import BUILDS, attempt, find_program, run
from tests.cluster.e2e.cluster_home import ClusterHome
from tests.cluster.node.place import read_place
from tests.cluster.node.stores import credentials

ORDER = (Phase.PENDING, Phase.PREPARING, Phase.BUILDING, Phase.DEPLOYING, Phase.READY)
"""Of the phases of an ask that ends well."""
_INDEX = "application/vnd.oci.image.index.v1+json"
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_DOCKER = "application/vnd.docker.distribution.manifest.v2+json"


@dataclass(frozen=True, slots=True)
class Traces:
    """Of one function, as those see them who run the platform."""

    home: ClusterHome
    name: str
    settings: Mapping[str, str] = field(repr=False)
    """The platform's."""

    def jobs(self, build: str = "", *, kinds: str = "jobs") -> list[str]:
        """Names of its Jobs, or of one build's alone; ended ones are kept for a day."""
        labels = [f"sless.io/namespace={self.home.namespace}", f"sless.io/name={self.name}"]
        labels += [f"sless.io/build={build}"] if build else []
        names = ["get", kinds, "-o=name", f"-l={','.join(labels)}"]
        return run("kubectl", f"-n={BUILDS}", *names).split()

    def installs(self, build: str) -> bool:
        """Whether a pod is making its image just now."""
        labels = f"sless.io/namespace={self.home.namespace},sless.io/build={build}"
        path = '{.items[*].status.initContainerStatuses[?(@.name=="build")].state.running}'
        found = ["get", "pods", f"-l={labels}", f"-o=jsonpath={path}"]
        return bool(run("kubectl", f"-n={BUILDS}", *found).strip())

    def status(self) -> dict[str, Any]:
        """Its status, empty while nobody wrote one or the API server is away."""
        found = attempt("kubectl", f"-n={self.home.namespace}", "get", "fn", self.name, "-o=json")
        return (json.loads(found.stdout).get("status") or {}) if not found.returncode else {}

    def ended(self, phase: str) -> bool:
        """Whether its newest ask came to that end; it must come to no other."""
        found = json.loads(self.home.kubectl("get", "fn", self.name, "-o=json"))
        status, newest = found.get("status") or {}, found["metadata"]["generation"]
        if status.get("observedGeneration") != newest or not Phase(status["phase"]).ended:
            return False
        assert status["phase"] == phase, status
        return True

    def deployment(self) -> dict[str, Any]:
        """Its Deployment as it is."""
        found = self.home.kubectl("get", "deployment", f"fn-{self.name}", "-o=json")
        parsed: dict[str, Any] = json.loads(found)
        return parsed

    def rollouts(self) -> int:
        """How often the template of its pods changed."""
        notes = self.deployment()["metadata"]["annotations"]
        return int(notes["deployment.kubernetes.io/revision"])

    def image(self) -> str:
        """What its pods are told to run: by digest."""
        template = self.deployment()["spec"]["template"]
        return str(template["spec"]["containers"][0]["image"])

    def build_runs(self, build: str, *, status: str = "") -> int:
        """How many runs of that build Temporal knows."""
        return len(self._runs(build_workflow_id(self.home.namespace, self.name, build), status))

    def function_runs(self, *, status: str = "") -> int:
        """How many runs have answered its asks."""
        return len(self._runs(function_workflow_id(self.home.namespace, self.name), status))

    def pending(self, build: str) -> list[dict[str, Any]]:
        """The activities that the build's run waits for."""
        workflow = build_workflow_id(self.home.namespace, self.name, build)
        described = self._temporal(f"workflows/{workflow.replace('/', '%2F')}")
        return list(described.get("pendingActivities") or ())

    def look(self) -> None:
        """Signals its run, if there is one."""
        workflow = function_workflow_id(self.home.namespace, self.name)
        _temporal(self.settings, "signal", f"--workflow-id={workflow}", "--name=look", check=False)

    def forget(self, build: str) -> None:
        """Deletes the history of its runs, as retention does a month later."""
        for workflow in (
            build_workflow_id(self.home.namespace, self.name, build),
            function_workflow_id(self.home.namespace, self.name),
        ):
            for run_id in self._runs(workflow):
                _temporal(
                    self.settings, "delete", f"--workflow-id={workflow}", f"--run-id={run_id}"
                )

    def tags(self, image: str, build: str) -> dict[str, str]:
        """What the registry answers for the build's tag and for its attempts': digests by tag."""
        host, _, rest = image.partition("/")
        repository = rest.partition("@")[0]
        with _registry(host) as client:
            listed = client.get(f"/v2/{repository}/tags/list").raise_for_status().json()["tags"]
            return {
                tag: client.head(f"/v2/{repository}/manifests/{tag}")
                .raise_for_status()
                .headers["docker-content-digest"]
                for tag in listed or ()
                if tag.startswith(build)
            }

    def _runs(self, workflow: str, status: str = "") -> list[str]:
        query = f'WorkflowId = "{workflow}"'
        query += f' AND ExecutionStatus = "{status}"' if status else ""
        found = self._temporal("workflows", query=query)
        return [each["execution"]["runId"] for each in found.get("executions") or ()]

    def _temporal(self, path: str, **params: str) -> dict[str, Any]:
        """By its HTTP API, which its UI uses."""
        url = f"{self.settings['SLESS_TEMPORAL__UI_URL']}/api/v1/namespaces/default/{path}"
        with httpx.Client(trust_env=False, timeout=30) as client:
            answered: dict[str, Any] = client.get(url, params=params).raise_for_status().json()
        return answered


@contextlib.contextmanager
def told(home: ClusterHome, name: str) -> Iterator[list[tuple[int, str]]]:
    """Every generation and phase that status tells of it while the block lasts."""
    path = '{.status.observedGeneration} {.status.phase}{"\\n"}'
    watch = ["get", "fn", name, "--watch", f"-o=jsonpath={path}"]
    seen: list[tuple[int, str]] = []
    process = subprocess.Popen(
        [find_program("kubectl"), f"-n={home.namespace}", *watch],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        thread = threading.Thread(target=_listen, args=(process, seen))
        thread.start()
        try:
            yield seen
        finally:
            process.terminate()
            thread.join()


def _listen(process: "subprocess.Popen[str]", seen: list[tuple[int, str]]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        generation, _, phase = line.strip().partition(" ")
        if phase:
            seen.append((int(generation), phase))


def _temporal(settings: Mapping[str, str], act: str, *words: str, check: bool = True) -> None:
    command = [str(Path(sys.executable).with_name("temporal")), "workflow", act, *words]
    command.append(f"--address={settings['TEMPORAL_ADDRESS']}")
    # It asks whether it may delete.
    done = subprocess.run(
        command, input="y\n", capture_output=True, text=True, check=False, timeout=30
    )
    assert not check or done.returncode == 0, f"{act} {words}: {done.stdout}{done.stderr}"


def _registry(host: str) -> httpx.Client:
    known = json.loads(credentials(read_place()).read_text())["auths"]
    return httpx.Client(
        base_url=f"http://{host}",
        trust_env=False,
        timeout=30,
        headers={
            "Authorization": f"Basic {known[host]['auth']}",
            "Accept": f"{_MANIFEST}, {_INDEX}, {_DOCKER}",
        },
    )
