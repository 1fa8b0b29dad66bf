"""Brings the cluster up, and down again."""

import shutil
from pathlib import Path

from tests.cluster.node.commands import Unready, run, stop
from tests.cluster.node.control_plane import start_api_server, start_controllers
from tests.cluster.node.images import ensure_images
from tests.cluster.node.machine import check_folder, check_packages, check_root, is_ours
from tests.cluster.node.network import ensure_bridge, remove_bridge, write_cni
from tests.cluster.node.place import Place
from tests.cluster.node.programs import API_PROGRAMS, NODE_PROGRAMS, build
from tests.cluster.node.stores import start_bases, start_registry, start_s3, start_temporal
from tests.cluster.node.worker_node import end_pods, start_node

CHART = Path(__file__).parents[3] / "k8s" / "chart"
_ORDER = (
    "kubelet",
    "kube-router",
    "kube-proxy",
    "kube-scheduler",
    "kube-controller-manager",
    "coredns",
    "kube-apiserver",
    "etcd",
    "containerd",
    "registry",
    "bases",
    "filling",
    "weed",
    "temporal-door",
    "temporal",
)


def bring_up(place: Place, *, api_only: bool) -> None:
    """Starts what does not run yet; raises `Unready` with what is missing and its cure."""
    check_root()
    check_folder(place.folder)
    check_packages(api_only=api_only)
    build(place, API_PROGRAMS if api_only else (*API_PROGRAMS, *NODE_PROGRAMS))
    place.make()
    ensure_bridge(place)
    start_api_server(place)
    kubectl(place, "apply", "--server-side", "--force-conflicts", "-f", str(CHART / "crds"))
    kubectl(place, "apply", "--server-side", "-f", str(CHART / "templates" / "policy.yaml"))
    if api_only:
        return
    start_registry(place)
    start_bases(place)
    start_s3(place)
    start_temporal(place)
    ensure_images(place)
    write_cni(place)
    start_controllers(place)
    start_node(place)


def bring_down(place: Place) -> None:
    """Ends its pods, then its programs, and forgets its state; programs and images stay."""
    check_root()
    if (place.run / "kubelet.json").exists():
        try:
            kubectl(place, "delete", "pods", "--all", "-A", "--now", "--timeout=30s")
        except Unready as error:
            print(error)  # noqa: T201  # what is left is killed below
    for name in _ORDER:
        stop(place, name)
    end_pods(place)
    remove_bridge()
    if is_ours(place.folder):
        shutil.rmtree(place.folder, ignore_errors=True)


def kubectl(place: Place, *words: str) -> str:
    """What it answers."""
    return run([place.program("kubectl"), f"--kubeconfig={place.kubeconfig}", *words])
