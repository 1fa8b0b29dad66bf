"""The process of one build job: `python -m sless.local.runner.job`, its order on stdin.

It runs what is untrusted as children, ends them, and only then touches the images. It leaves a
result in its folder; if it vanishes before, the build is lost. SIGTERM, which the kernel also sends
when the runner dies, ends it together with everything it started.
"""

import errno
import os
import shutil
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import NoReturn

from sless.adapters.bundles.bundle import Bundle
from sless.adapters.bundles.environment import find_secrets
from sless.adapters.bundles.images import BundleImages
from sless.adapters.bundles.interpreter import Interpreter
from sless.adapters.bundles.make import BundleMaker, BundleOrder
from sless.adapters.bundles.resolutions import Resolutions
from sless.dependencies import Language
from sless.errors import DiskFull, InternalError, SlessError
from sless.local.runner.execution import Bounds, Execution, end_descendants
from sless.local.runner.fetching import fetch_context
from sless.local.runner.job_log import JobLog
from sless.local.runner.job_order import (
    DEFECT,
    JobOrder,
    JobResult,
    failed,
    parse_order,
    write_result,
)
from sless.local.runner.processes import become_subreaper, end_with_parent
from sless.model.attempt import AttemptState
from sless.model.function import FunctionRef

_STOPPED = 3
"""Exit code when it was told to end."""


class Job:
    """One build."""

    def __init__(self, order: JobOrder) -> None:
        self._order = order
        self._folder = Path(order.folder)
        self._scratch = self._folder / "scratch"
        self._scratch.mkdir()
        self._function = FunctionRef(order.namespace, order.function)
        self._images = BundleImages(Path(order.images))
        seconds = order.deadline_seconds
        self._bounds = Bounds(time.monotonic() + seconds, seconds, order.memory_bytes)

    def run(self) -> JobResult:
        """Fetches, builds and pushes; never raises but to end the process."""
        try:
            context = self._fetch()
            bundle = self._build(context)
            return self._push(bundle)
        except SlessError as error:
            return failed(error)
        except OSError as error:
            if not _is_full(error):
                raise
            return failed(DiskFull("The disk of the home is full; free some space."))

    def clean(self) -> None:
        """Removes what only the build needed."""
        shutil.rmtree(self._scratch, ignore_errors=True)

    def _fetch(self) -> Path:
        context = self._scratch / "context"
        context.mkdir()
        with self._log("fetch") as log:
            fetch_context(
                self._order.context_url,
                sha256=self._order.context_sha256,
                folder=context,
                say=log.say,
                check=self._bounds.check_deadline,
            )
        return context

    def _build(self, context: Path) -> Bundle:
        order = self._order
        with self._log("build") as log:
            maker = BundleMaker(
                trees=self._images.trees,
                resolutions=Resolutions(Path(order.images) / "resolutions"),
                execute=Execution(self._environment(), log, self._bounds).run,
                say=log.say,
            )
            try:
                return maker.make(
                    BundleOrder(
                        function=self._function,
                        runtime=order.runtime,
                        rebuild=order.rebuild,
                        interpreter=_interpreter(order),
                        context=context,
                    )
                )
            except SlessError as error:
                log.say(f"{error.reason}: {error.message}")
                raise

    def _push(self, bundle: Bundle) -> JobResult:
        with self._log("push") as log:
            digest = self._images.push(self._function, bundle=bundle, tag=self._order.tag)
            log.say(f"Pushed {self._images.reference(self._function, digest)}.")
        return JobResult(AttemptState.SUCCEEDED, digest=digest)

    def _environment(self) -> dict[str, str]:
        home = self._scratch / "home"
        home.mkdir()
        return dict(os.environ) | {"HOME": str(home), "TMPDIR": str(home)}

    def _log(self, container: str) -> JobLog:
        path = self._folder / f"{container}.log"
        return JobLog(path, limit=self._order.log_bytes, secrets=find_secrets(os.environ))


def _interpreter(order: JobOrder) -> Interpreter:
    language = Language(order.language)
    return Interpreter(language, Path(order.interpreter), order.platform)


def _is_full(error: OSError) -> bool:
    # What copies a whole tree gathers its errors, and has no number of its own.
    gathered = os.strerror(errno.ENOSPC) in str(error)
    return gathered or error.errno in {errno.ENOSPC, errno.EDQUOT}


def _stop(number: int, _frame: object) -> NoReturn:
    signal.signal(number, signal.SIG_IGN)
    raise SystemExit(_STOPPED)


def _run(order: JobOrder) -> JobResult:
    job = Job(order)
    try:
        return job.run()
    finally:
        end_descendants()
        job.clean()


def main() -> None:
    """Runs the job of the order on stdin."""
    signal.signal(signal.SIGTERM, _stop)
    become_subreaper()
    order = parse_order(sys.stdin.buffer.read())
    end_with_parent(signal.SIGTERM, parent=order.parent)  # in place of the leash's SIGKILL
    try:
        result = _run(order)
    except Exception:  # noqa: BLE001 - the traceback goes to the log, the build must end
        traceback.print_exc()
        result = failed(InternalError(DEFECT))
    write_result(result, Path(order.folder))


if __name__ == "__main__":
    main()
