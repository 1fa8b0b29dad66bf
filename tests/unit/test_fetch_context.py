"""The program of a build pod's first container, run as the pod runs it."""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sless.adapters.kubernetes import fetch_context
from sless.adapters.kubernetes.fetch_context import Failure, check_user_namespace
from tests.component.contexts import HELLO, answering, serving, write_context

PROGRAM = Path(fetch_context.__file__).read_text()


@dataclass(frozen=True)
class Pod:
    """What the containers of a pod share."""

    folder: Path

    def fetch(self, **told: str) -> subprocess.CompletedProcess[str]:
        """Runs the program with those variables, and defaults for the others."""
        environment = {
            "FOLDER": str(self.folder / "context"),
            "SETTINGS_FILE": str(self.folder / "environment"),
            "TERMINATION_LOG": str(self.folder / "termination"),
            "SETTINGS": "export A='b c'\n",
            "USER_NAMESPACE": "",
            "SHA256": "0" * 64,
            **told,
        }
        command = [sys.executable, "-I", "-c", PROGRAM]
        return subprocess.run(
            command, check=False, env=environment, capture_output=True, text=True, timeout=60
        )

    @property
    def told(self) -> Mapping[str, Any]:
        """Its last words."""
        return dict(json.loads((self.folder / "termination").read_text()))


@pytest.fixture
def pod(tmp_path: Path) -> Pod:
    (tmp_path / "pod").mkdir()
    return Pod(tmp_path / "pod")


def test_unpacks_the_context_and_writes_the_settings(pod: Pod, tmp_path: Path) -> None:
    sha256 = write_context({"handler.py": HELLO}, tmp_path)
    with serving(tmp_path) as url:
        done = pod.fetch(URL=f"{url}/{sha256}", SHA256=sha256)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Fetched the build context, ")
    context = pod.folder / "context"
    assert (context / "code" / "handler.py").read_text() == HELLO
    assert (context / "Dockerfile").read_text().startswith("FROM ")
    assert (pod.folder / "environment").read_text() == "export A='b c'\n"
    assert sorted(path.name for path in pod.folder.iterdir()) == ["context", "environment"]


def test_other_bytes_are_not_unpacked(pod: Pod, tmp_path: Path) -> None:
    sha256 = write_context({"handler.py": HELLO}, tmp_path)
    with serving(tmp_path) as url:
        done = pod.fetch(URL=f"{url}/{sha256}", SHA256="0" * 64)
    assert done.returncode == 1
    assert pod.told["reason"] == "StorageUnavailable"
    assert not (pod.folder / "context").exists()


@pytest.mark.parametrize(
    ("path", "said"), [("/nothing?X-Amz-Signature=feed", "S3 answers 404"), ("", "does not give")]
)
def test_says_what_s3_says_but_never_the_url(
    pod: Pod, tmp_path: Path, path: str, said: str
) -> None:
    with serving(tmp_path) as url:
        asked = f"{url}{path}" if path else "http://127.0.0.1:1/x?X-Amz-Signature=feed"
        done = pod.fetch(URL=asked)
    assert done.returncode == 1
    assert pod.told["reason"] == "StorageUnavailable"
    assert said in pod.told["message"]
    assert "Signature" not in done.stdout + done.stderr + pod.told["message"]


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"rubbish\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nA: " + b"x" * 70_000 + b"\r\n\r\n",
        b"HTTP/1.1 302 Found\r\nLocation: http://a b\x01/\r\nContent-Length: 0\r\n\r\n",
    ],
    ids=lambda answer: str(answer[-16:]),
)
def test_an_answer_that_breaks_off_or_is_none_has_words_of_its_own(pod: Pod, answer: bytes) -> None:
    with answering(answer) as url:
        done = pod.fetch(URL=f"{url}/x?X-Amz-Signature=feed")
    assert done.returncode == 1
    assert pod.told["reason"] == "StorageUnavailable"
    assert "Signature" not in done.stdout + done.stderr + pod.told["message"]


def test_root_of_the_machine_is_refused() -> None:
    with pytest.raises(Failure, match="SLESS_BUILDER__USER_NAMESPACES") as raised:
        check_user_namespace("         0          0 4294967295\n")
    assert raised.value.reason == "UserNamespacesUnsupported"
    check_user_namespace("         0  131072      65536\n")


def test_a_pod_without_a_user_namespace_fetches_nothing(pod: Pod) -> None:
    """The machine that runs the tests may have one or not: the program finds out by itself."""
    in_one = Path("/proc/self/uid_map").read_text().split() != ["0", "0", "4294967295"]
    done = pod.fetch(URL="http://127.0.0.1:1/x", USER_NAMESPACE="required")
    assert done.returncode == 1
    expected = "StorageUnavailable" if in_one else "UserNamespacesUnsupported"
    assert pod.told["reason"] == expected
