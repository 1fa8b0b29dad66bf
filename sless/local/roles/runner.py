"""The process of runner and gateway writer: `python -m sless.local.roles.runner`."""

import asyncio
import os

from sless.gateway.files import GatewayFiles
from sless.local.compose import home_layout, make_images, open_database
from sless.local.runner.gateway_role import GatewayRole
from sless.local.runner.runner import Runner
from sless.local.runner.settings import RunnerSettings
from sless.readiness import tell_ready
from sless.roots.envoy_settings import envoy_settings
from sless.roots.process import run_role
from sless.settings import Settings


async def run(settings: Settings) -> None:
    """Runs builds and functions, and routes to them, until it is cancelled."""
    files = GatewayFiles(home_layout(settings).envoy, envoy_settings(settings))
    async with open_database(settings) as database:
        runner = Runner(database, make_images(settings), runner_settings(settings))
        await runner.prepare()
        async with asyncio.TaskGroup() as group:
            group.create_task(runner.run())
            group.create_task(GatewayRole(database, files).run())
            tell_ready(settings)


def runner_settings(settings: Settings) -> RunnerSettings:
    """The runner's part of the settings."""
    limits, runtimes = settings.limits, settings.runtimes
    return RunnerSettings(
        data=home_layout(settings).root,
        interpreters=runtimes.interpreters,
        index_url=runtimes.index_url,
        npm_registry=runtimes.npm_registry,
        builds=limits.builds,
        build_memory_bytes=limits.build_memory_bytes,
        build_log_bytes=limits.log_bytes,
        function_log_bytes=limits.file_log_bytes,
        drain_seconds=settings.deadlines.drain,
        environ=os.environ,
    )


if __name__ == "__main__":
    run_role(run, part="runner")
