"""Parts of a container that all our pods have: pure."""

from collections.abc import Mapping
from typing import Any

from sless.adapters.kubernetes.job_options import Resources


def render_env(variables: Mapping[str, str]) -> list[dict[str, str]]:
    """Variables whose values are taken as they are."""
    return [{"name": name, "value": _literal(value)} for name, value in variables.items()]


def render_resources(wanted: Resources) -> dict[str, Any]:
    """Requests and limits; of the processor only where one is given."""
    limits = {"memory": wanted.memory_limit}
    if wanted.cpu_limit:
        limits["cpu"] = wanted.cpu_limit
    requests = {"cpu": wanted.cpu_request, "memory": wanted.memory_request}
    return {"requests": requests, "limits": limits}


def _literal(value: str) -> str:
    """Kubernetes expands `$(NAME)`; `$$` is a dollar."""
    return value.replace("$", "$$")
