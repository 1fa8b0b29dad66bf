"""How long the platform on a cluster takes for a build, outside the build's own pod.

`python -m benchmarks.cluster [rounds [at-once]]`, with KUBECONFIG naming a cluster on which the
platform is installed and this machine one of its nodes; the tests' own does (tests/cluster).

Prints, as medians over functions that are uploaded one after another, the time from the answer to
an upload until its Job is there, and from the end of the Job's pod until the Deployment is written,
with the steps of both. Then so many at once, twice: what became of them, how late their status was,
and the worker's memory.
"""

import asyncio
import statistics
import sys
import time
from collections.abc import Mapping

from benchmarks.arrivals import Arrivals
from benchmarks.part_processes import Spent, spent_by
from benchmarks.run_steps import RunSteps
from benchmarks.uploads import Bench, Upload, open_bench

SETTLE_SECONDS = 5
"""After the last one's end, before what is left is measured."""


async def one_by_one(bench: Bench, rounds: int) -> None:
    """Prints the medians of the times of functions that are alone."""
    found = []
    for number in range(rounds + 1):
        upload = await bench.upload(f"single-{number}")
        await bench.ended(upload.name)
        assert bench.end_of(upload.name) == "Ready", f"{upload.name} failed"
        if number:  # the first one warms up
            found.append(times(upload, bench.noted, *await bench.steps(upload)))
            print(f"round {number}: {found[-1]['outside the pod']:6.2f} s", flush=True)
    for what in found[0]:
        column = sorted(each[what] for each in found)
        middle = statistics.median(column)
        print(f"{what:42} {middle:6.3f} s   {column[0]:6.3f} to {column[-1]:.3f}")


def times(
    upload: Upload, noted: Arrivals, function: RunSteps, build: RunSteps
) -> Mapping[str, float]:
    """Seconds of the parts of one function's way; names that are indented are parts of parts."""
    job, over = noted.jobs[upload.name], noted.pods_over[upload.name]
    written, ready = noted.deployments[upload.name], noted.phases[upload.name, "Ready"]
    look, find = function.first("look_around"), build.first("find_image")
    prepare, make = build.first("prepare_context"), build.first("build_image")
    promote, roll = build.first("promote_image"), build.first("roll_out")
    record = function.first("record_outcome")
    return {
        "upload, to its answer": upload.accepted - upload.sent,
        "outside the pod": job - upload.accepted + written - over,
        "answer to Job": job - upload.accepted,
        "  answer to the first look ordered": look.ordered - upload.accepted,
        "  look_around": look.ended - look.ordered,
        "  to find_image ordered": find.ordered - look.ended,
        "  find_image": find.ended - find.ordered,
        "  prepare_context": prepare.ended - find.ended,
        "  build_image until its Job is there": job - prepare.ended,
        "Job to the end of its pod": over - job,
        "end of pod to Deployment": written - over,
        "  build_image until its answer": make.ended - over,
        "  promote_image": promote.ended - make.ended,
        "  roll_out until its Deployment is there": written - promote.ended,
        "Deployment to rolled out": roll.ended - written,
        "rolled out to outcome": record.ended - roll.ended,
        "outcome to Ready in the status": ready - record.ended,
    }


async def many(bench: Bench, prefix: str, count: int) -> None:
    """Prints what became of functions that are uploaded at once."""
    names = [f"{prefix}-{number}" for number in range(count)]
    before, start = await spent(bench), time.monotonic()
    uploads = await asyncio.gather(*map(bench.upload, names))
    await bench.ended(*names)
    took = time.monotonic() - start
    await asyncio.sleep(SETTLE_SECONDS)
    after = await spent(bench)
    ends = [bench.end_of(name) for name in names]
    made = [bench.noted.made[name] for name in names]
    late = [lag for upload in uploads for lag in await lags(bench, upload)]
    print(f"{prefix} {count} at once: {ends.count('Ready')} Ready in {took:.0f} s, ", end="")
    print(f"{sum(made)} Jobs, at most {max(made)} for one")
    print(f"  answers           {summary([each.accepted - each.sent for each in uploads])}")
    print(f"  status lag        {summary(late)}, of {len(late)}", flush=True)
    for whose, now in after.items():
        if whose in before:
            print_spent(whose[0], before[whose], now, builds=count)
        else:
            print(f"  {whose[0]}: replaced meanwhile")


async def spent(bench: Bench) -> Mapping[tuple[str, int], Spent]:
    """So far, by part and process id."""
    return {
        (part, pid): each
        for part in ("worker", "watcher")
        for pid, each in (await spent_by(bench.server, part)).items()
    }


def print_spent(part: str, before: Spent, now: Spent, *, builds: int) -> None:
    """What a process took for so many builds."""
    print(f"  {part}: {before.mib} MiB before, {now.mib} after, at most {now.most_mib}, ", end="")
    print(f"{(now.mib - before.mib) / builds:+.2f} a build; processor ", end="")
    used, waited = now.seconds - before.seconds, now.waited - before.waited
    print(f"{used:.1f} s, {used / builds:.2f} a build, waited for it {waited:.1f} s", flush=True)


async def lags(bench: Bench, upload: Upload) -> list[float]:
    """Seconds from a turn of its run to the status that tells it; a phase may pass unseen."""
    function, build = await bench.steps(upload)
    # A build's run is Ready before its function's is, whose word counts.
    turned = {**build.turns, **{k: at for k, at in function.turns.items() if k == "Ready"}}
    return [
        seen - turned[phase]
        for (name, phase), seen in bench.noted.phases.items()
        if name == upload.name and phase in turned
    ]


def summary(values: list[float]) -> str:
    """Median, 95th percentile and the most."""
    found = sorted(values)
    late = found[int(len(found) * 0.95)]
    return f"{statistics.median(found):.2f} s, 95 %: {late:.2f} s, most: {found[-1]:.2f} s"


async def measure(rounds: int, count: int) -> None:
    """Prints the figures."""
    async with open_bench() as bench:
        if rounds:
            await one_by_one(bench, rounds)
        for prefix in ("first", "second") if count else ():
            await many(bench, prefix, count)


def main(rounds: str = "5", count: str = "20") -> None:
    """Arguments as they were typed."""
    asyncio.run(measure(int(rounds), int(count)))


if __name__ == "__main__":
    main(*sys.argv[1:])
