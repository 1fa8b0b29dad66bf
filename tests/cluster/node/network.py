"""The bridge that pods hang on; its address comes first, as a node on loopback is refused."""

import json
from pathlib import Path

from tests.cluster.node.commands import run
from tests.cluster.node.place import NODE, Place

BRIDGE = "sless0"


def ensure_bridge(place: Place) -> None:
    """Makes it, and has the node's name known: `kubectl logs` goes to the node by name."""
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    if not Path(f"/sys/class/net/{BRIDGE}").exists():
        run(["ip", "link", "add", BRIDGE, "type", "bridge"])
    run(["ip", "addr", "replace", f"{place.ip}/16", "dev", BRIDGE])
    run(["ip", "link", "set", BRIDGE, "up"])
    hosts = Path("/etc/hosts")
    line = f"{place.ip} {NODE}"
    if line not in hosts.read_text().splitlines():
        with hosts.open("a") as file:
            file.write(f"{line}\n")


def remove_bridge() -> None:
    """Removes it if it is there."""
    if Path(f"/sys/class/net/{BRIDGE}").exists():
        run(["ip", "link", "del", BRIDGE])


def write_cni(place: Place) -> None:
    """Has pods on the bridge, each with an address of its own."""
    ranges = [[{"subnet": place.pods, "gateway": place.ip}]]
    bridge = {
        "type": "bridge",
        "bridge": BRIDGE,
        "isGateway": True,
        "ipMasq": True,
        "hairpinMode": True,
        "ipam": {"type": "host-local", "ranges": ranges, "routes": [{"dst": "0.0.0.0/0"}]},
    }
    portmap = {"type": "portmap", "capabilities": {"portMappings": True}}
    content = {"cniVersion": "1.0.0", "name": "pods", "plugins": [bridge, portmap]}
    (place.folder / "cni" / "10-pods.conflist").write_text(json.dumps(content))
