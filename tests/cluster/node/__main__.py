"""`python -m tests.cluster.node build|up|env|down|packages|image`: a cluster of one node."""

import argparse
import sys

from tests.cluster.node.commands import Unready
from tests.cluster.node.machine import missing_packages
from tests.cluster.node.place import TEMPORAL_UI_PORT, Place, read_place
from tests.cluster.node.platform_image import ensure_platform_image
from tests.cluster.node.programs import API_PROGRAMS, NODE_PROGRAMS, build
from tests.cluster.node.up import bring_down, bring_up


def main() -> int:
    """Does it; 1 and a sentence when it cannot be done."""
    parser = argparse.ArgumentParser(prog="cluster", description=__doc__)
    parser.add_argument("act", choices=["build", "up", "env", "down", "packages", "image"])
    parser.add_argument("--api-only", action="store_true", help="etcd and the API server alone")
    asked = parser.parse_args()
    try:
        _act(asked.act, read_place(), api_only=asked.api_only)
    except Unready as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 1
    return 0


def _act(act: str, place: Place, *, api_only: bool) -> None:
    match act:
        case "build":
            build(place, API_PROGRAMS if api_only else (*API_PROGRAMS, *NODE_PROGRAMS))
        case "up":
            bring_up(place, api_only=api_only)
            _tell(place)
        case "env":
            _tell(place)
        case "packages":
            print(" ".join(missing_packages(api_only=api_only)))  # noqa: T201  # for apt-get
        case "image":
            print(ensure_platform_image(place))  # noqa: T201  # for a shell
        case _:
            bring_down(place)


def _tell(place: Place) -> None:
    """How to reach it, for a shell's eval."""
    if not place.kubeconfig.exists():
        raise Unready("No cluster is up: run make cluster-up, or set KUBECONFIG and REGISTRY.")
    print(f"export KUBECONFIG={place.kubeconfig}")  # noqa: T201
    if not (place.run / "registry.json").exists():
        return
    print(f"export REGISTRY={place.registry} BASES={place.bases}")  # noqa: T201
    print(f"# Temporal UI: http://{place.ip}:{TEMPORAL_UI_PORT}")  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
