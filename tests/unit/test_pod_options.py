"""From settings to the pods of functions."""

from sless.adapters.kubernetes.deployment_options import DeploymentOptions
from sless.adapters.kubernetes.job_options import Resources
from sless.adapters.kubernetes.pod_options import deployment_options_of
from sless.settings import DeadlinesSettings, PodsSettings, Settings


def test_what_nobody_sets_is_what_is_rendered_anyway() -> None:
    assert deployment_options_of(Settings()) == DeploymentOptions()


def test_what_an_operator_sets_arrives() -> None:
    pods = PodsSettings(
        cpu_request="1", cpu_limit="2", memory_request="3Gi", memory_limit="4Gi",
        storage="5Gi", pull_secret="p",
    )  # fmt: skip
    deadlines = DeadlinesSettings(progress=6, drain=7)
    assert deployment_options_of(Settings(pods=pods, deadlines=deadlines)) == DeploymentOptions(
        progress_seconds=6,
        drain_seconds=7,
        resources=Resources("1", "3Gi", "4Gi", "2"),
        storage="5Gi",
        pull_secret="p",
    )
