"""What makes this machine a node: containerd, the kubelet, Services, DNS, NetworkPolicies."""

import contextlib
import json
import os
import signal
import subprocess
from pathlib import Path

from tests.cluster.node.commands import run, start, wait
from tests.cluster.node.images import PAUSE
from tests.cluster.node.place import NODE, Place

_CONTAINERD = """\
version = 3
root = "{folder}/containerd/root"
state = "{folder}/containerd/state"
[grpc]
  address = "{folder}/run/containerd.sock"
[plugins.'io.containerd.cri.v1.images']
  snapshotter = "overlayfs"
  [plugins.'io.containerd.cri.v1.images'.pinned_images]
    sandbox = "{bases}/{pause}"
  [plugins.'io.containerd.cri.v1.images'.registry]
    config_path = "{folder}/certs.d"
[plugins.'io.containerd.cri.v1.runtime']
  # Where a negative oom_score_adj is forbidden, every sandbox would fail with "can't get final
  # child's PID from pipe".
  restrict_oom_score_adj = true
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ["/usr/lib/cni"]
    conf_dir = "{folder}/cni"
  [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
      SystemdCgroup = false
      BinaryName = "{runc}"
"""
_HOSTS = 'server = "http://{0}"\n[host."http://{0}"]\n  capabilities = ["pull", "resolve"]\n'
_COREFILE = """\
.:53 {{
  bind {ip}
  errors
  kubernetes cluster.local in-addr.arpa ip6.arpa {{
    kubeconfig {kubeconfig}
    pods insecure
    fallthrough in-addr.arpa ip6.arpa
  }}
  forward . /etc/resolv.conf
  cache 5
}}
"""


def start_node(place: Place) -> None:
    """Starts all of it; returns when the node is Ready and policies are being enforced."""
    _start_containerd(place)
    _start_kubelet(place)
    start(place, "kube-proxy", _proxy(place))
    (place.folder / "Corefile").write_text(
        _COREFILE.format(ip=place.ip, kubeconfig=place.kubeconfig)
    )
    start(place, "coredns", [place.program("coredns"), "-conf", "Corefile"])
    wait(place, "kubelet", lambda: _is_ready(place))
    # It looks its own node up, so it comes after the node. Without it no NetworkPolicy holds.
    start(place, "kube-router", _router(place))


def _start_containerd(place: Place) -> None:
    for host in (place.registry, place.bases):
        folder = place.folder / "certs.d" / host
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "hosts.toml").write_text(_HOSTS.format(host))
    root = place.folder / "containerd"
    root.mkdir(exist_ok=True)
    root.chmod(0o711)  # a pod with `hostUsers: false` must be able to walk through it
    content = _CONTAINERD.format(
        folder=place.folder, bases=place.bases, pause=PAUSE, runc=place.program("runc")
    )
    (place.folder / "containerd.toml").write_text(content)
    start(place, "containerd", [place.program("containerd"), "-c", "containerd.toml"])
    version = [place.program("ctr"), "-a", f"{place.run}/containerd.sock", "version"]
    wait(place, "containerd", lambda: _answers(version))


def _start_kubelet(place: Place) -> None:
    content = {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "failCgroupV1": False,
        "cgroupDriver": "cgroupfs",
        "containerRuntimeEndpoint": f"unix://{place.run}/containerd.sock",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(place.folder / "pki" / "ca.crt")},
        },
        "authorization": {"mode": "Webhook"},
        "evictionHard": {
            "nodefs.available": "1%",
            "imagefs.available": "1%",
            "memory.available": "100Mi",
        },
        "failSwapOn": False,
        "clusterDNS": [place.ip],
        "clusterDomain": "cluster.local",
        "enforceNodeAllocatable": [],
    }
    (place.folder / "kubelet.yaml").write_text(json.dumps(content, indent=1))
    start(
        place,
        "kubelet",
        [
            place.program("kubelet"),
            "--config=kubelet.yaml",
            f"--kubeconfig={place.kubeconfig}",
            f"--root-dir={place.folder}/kubelet",
            "--cert-dir=pki/kubelet",
            f"--hostname-override={NODE}",
            f"--node-ip={place.ip}",
        ],
    )


def _proxy(place: Place) -> list[str]:
    return [
        place.program("kube-proxy"),
        f"--kubeconfig={place.kubeconfig}",
        f"--hostname-override={NODE}",
        "--proxy-mode=iptables",
        f"--cluster-cidr={place.pods}",
        "--conntrack-max-per-core=0",
    ]


def _router(place: Place) -> list[str]:
    return [
        place.program("kube-router"),
        f"--kubeconfig={place.kubeconfig}",
        "--run-router=false",
        "--run-firewall=true",
        "--run-service-proxy=false",
        f"--hostname-override={NODE}",
        "--enable-cni=false",
    ]


def _is_ready(place: Place) -> bool:
    path = "{.status.conditions[?(@.type=='Ready')].status}"
    command = [place.program("kubectl"), f"--kubeconfig={place.kubeconfig}", "get", "node", NODE]
    found = subprocess.run(
        [*command, f"-o=jsonpath={path}"], capture_output=True, text=True, check=False
    )
    return found.stdout == "True"


def _answers(command: list[str]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def end_pods(place: Place) -> None:
    """Ends what is left of pods once the kubelet is gone, then their mounts.

    Controllers make new ones in place of those that were deleted a moment before.
    """
    here = f"{place.folder}/"
    for process in Path("/proc").glob("[0-9]*"):
        words = _command_line(process)
        if words[:1] == [place.program("containerd-shim-runc-v2")] and any(
            word.startswith(here) for word in words[1:]
        ):
            # The containers first: without its shim one would go on, and be nobody's.
            for one in (*_children(process), process.name):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(one), signal.SIGKILL)
    mounts = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    for mount in sorted((each for each in mounts if each.startswith(here)), reverse=True):
        run(["umount", "-l", mount])


def _children(process: Path) -> list[str]:
    try:
        return (process / "task" / process.name / "children").read_text().split()
    except OSError:
        return []


def _command_line(process: Path) -> list[str]:
    try:
        return (process / "cmdline").read_text(errors="replace").split("\0")
    except OSError:
        return []
