"""What a change of code alone saves: builds of one function, cold, changed and rebuilt.

`python -m benchmarks.build [rounds]` prints the median seconds of whole jobs, the process included,
and their ratio. Cold starts from an empty cache of uv and asks the package index.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from sless.local.runner.settings import RunnerSettings
from sless.model.attempt import AttemptState
from tests.component.contexts import HELLO
from tests.component.runner_home import RunnerHome, running

REQUIREMENTS = "fastapi\npillow\nhttpx\n"
"""A dozen packages, one of them with compiled parts."""


async def build_once(home: RunnerHome, code: str, *, rebuild: int = 0) -> float:
    """Seconds from the Job's creation to its end."""
    files = {"handler.py": code, "requirements.txt": REQUIREMENTS}
    attempt = home.attempt(files, rebuild=rebuild)
    start = time.perf_counter()
    await home.start(attempt)
    status = await home.ended(attempt)
    assert status.state is AttemptState.SUCCEEDED, status
    return time.perf_counter() - start


async def measure(folder: Path) -> tuple[float, float, float]:
    """Seconds of a cold build, of one with changed code, and of a rebuild."""

    def own_cache(settings: RunnerSettings) -> RunnerSettings:
        return replace(settings, environ={**settings.environ, "UV_CACHE_DIR": str(folder / "uv")})

    (folder / "data/images").mkdir(parents=True)
    async with running(folder, adjust=own_cache) as home:
        cold = await build_once(home, HELLO)
        changed = await build_once(home, f"{HELLO}# changed\n")
        rebuilt = await build_once(home, HELLO, rebuild=1)
    return cold, changed, rebuilt


def main(rounds: int) -> None:
    """Prints a line per kind of build."""
    times = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="sless-benchmark-") as folder:
            times.append(asyncio.run(measure(Path(folder))))
    cold, changed, rebuilt = (statistics.median(column) for column in zip(*times, strict=True))
    print(f"cold          {cold:6.2f} s")
    print(f"changed code  {changed:6.2f} s   {cold / changed:.1f} times faster")
    print(f"rebuilt       {rebuilt:6.2f} s   {cold / rebuilt:.1f} times faster")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
