"""The watcher's process: `python -m sless.local.roles.watcher`."""

from sless.adapters.sqlite.functions import SqliteFunctions
from sless.adapters.sqlite.scene import SqliteScene
from sless.local.compose import open_database
from sless.readiness import tell_ready
from sless.roots.connect import connect_temporal, make_runs, open_objects
from sless.roots.process import run_role
from sless.settings import Settings
from sless.watcher.loop import Watcher


async def watch(settings: Settings) -> None:
    """Judges every Function until it is cancelled."""
    client = await connect_temporal(settings)
    async with open_objects(settings) as objects, open_database(settings) as database:
        scene = SqliteScene(database, progress_deadline=settings.deadlines.progress)
        try:
            watcher = Watcher(
                scene=scene,
                functions=SqliteFunctions(database),
                objects=objects,
                runs=make_runs(settings, client),
                gateway_url=settings.gateway.url,
            )
            tell_ready(settings)
            await watcher.run()
        finally:
            await scene.close()


if __name__ == "__main__":
    run_role(watch, part="watcher")
