"""From an operator's settings to what functions' pods are rendered with: pure."""

from sless.adapters.kubernetes.deployment_options import DeploymentOptions
from sless.adapters.kubernetes.job_options import Resources
from sless.settings import Settings


def deployment_options_of(settings: Settings) -> DeploymentOptions:
    """How functions' pods run."""
    pods, deadlines = settings.pods, settings.deadlines
    return DeploymentOptions(
        progress_seconds=deadlines.progress,
        drain_seconds=deadlines.drain,
        resources=Resources(
            cpu_request=pods.cpu_request,
            memory_request=pods.memory_request,
            memory_limit=pods.memory_limit,
            cpu_limit=pods.cpu_limit,
        ),
        storage=pods.storage,
        pull_secret=pods.pull_secret,
    )
