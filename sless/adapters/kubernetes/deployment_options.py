"""What an operator settles about functions' pods, as the renderer takes it: pure."""

from dataclasses import dataclass, field

from sless.adapters.kubernetes.job_options import Resources


@dataclass(frozen=True, slots=True)
class DeploymentOptions:
    """What an operator settles about functions' pods: one value for an installation."""

    progress_seconds: int = 60
    """A new revision until it is ready; then it has failed."""
    drain_seconds: int = 10
    """For requests under way once nothing new arrives."""
    resources: Resources = field(default_factory=lambda: Resources("50m", "64Mi", "512Mi"))
    storage: str = "512Mi"
    """The most that /tmp, the one writable folder, may take."""
    pull_secret: str = ""
    """A Secret of type kubernetes.io/dockerconfigjson in each function's namespace, if needed."""
