"""The runner's process: `python -m sless.local.roles.runner`."""

import os

from sless.local.compose import home_layout, make_images, open_database
from sless.local.roles.process import run_role
from sless.local.runner.runner import Runner
from sless.local.runner.settings import RunnerSettings
from sless.readiness import tell_ready
from sless.settings import Settings


async def run(settings: Settings) -> None:
    """Runs builds and functions until it is cancelled."""
    async with open_database(settings) as database:
        runner = Runner(database, make_images(settings), runner_settings(settings))
        tell_ready(settings)
        await runner.run()


def runner_settings(settings: Settings) -> RunnerSettings:
    """The runner's part of the settings."""
    limits, runtimes = settings.limits, settings.runtimes
    return RunnerSettings(
        data=home_layout(settings).root,
        interpreters=runtimes.interpreters,
        index_url=runtimes.index_url,
        builds=limits.builds,
        build_memory_bytes=limits.build_memory_bytes,
        build_log_bytes=limits.log_bytes,
        function_log_bytes=limits.file_log_bytes,
        drain_seconds=settings.deadlines.drain,
        environ=os.environ,
    )


if __name__ == "__main__":
    run_role(run, part="runner")
