"""Makes an upload's build context and puts it to S3, by content."""

import asyncio
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from temporalio import activity

from activities.beating import beating
from activities.messages import PrepareContext, PreparedContext
from sless.archive import ArchiveLimits, Context, Runtime, get_runtime, prepare_context
from sless.dependencies import Language
from sless.naming import context_key, parse_own_key
from sless.ports import Objects

AT_ONCE = 4
"""Preparations at the same time, each with a zip and a context on the disk: 4 GiB at the default
limits, whatever number of uploads comes at once."""


def _places() -> asyncio.Semaphore:
    return asyncio.Semaphore(AT_ONCE)


@dataclass(frozen=True, slots=True)
class Preparing:
    """Needs disk for `AT_ONCE` zips and contexts."""

    objects: Objects
    runtimes: Mapping[str, Runtime]
    runtime_files: Mapping[Language, Mapping[str, bytes]]
    """The product's own files that serve a handler, by path below `runtime/`."""
    limits: ArchiveLimits
    """Those by which the API took the upload."""
    places: asyncio.Semaphore = field(default_factory=_places)
    """Waited for while the activity beats."""

    @activity.defn
    async def prepare_context(self, order: PrepareContext) -> PreparedContext:
        """Keyed by content: doing it again changes nothing."""
        ref = order.function
        key = parse_own_key(order.s3_key, namespace=ref.namespace, name=ref.name)
        async with beating(), self.places:
            with tempfile.TemporaryDirectory(prefix="sless-context-") as folder:
                upload, packed = Path(folder, "upload.zip"), Path(folder, "context.tar.gz")
                await self.objects.download(order.s3_key, upload)
                context = await self._prepare(upload, packed, runtime=key.runtime)
                await self.objects.upload_if_absent(
                    context_key(context.sha256), packed, sha256=context.sha256
                )
        return PreparedContext(context.sha256, context.size, context.warnings)

    async def _prepare(self, upload: Path, packed: Path, *, runtime: str) -> Context:
        language = get_runtime(runtime, self.runtimes).language
        # A thread cannot be interrupted: shielded, the folder outlives it also when cancelled.
        work = asyncio.create_task(
            asyncio.to_thread(
                prepare_context,
                upload,
                runtime=runtime,
                out_path=packed,
                runtimes=self.runtimes,
                extra_files=self.runtime_files[language],
                limits=self.limits,
            )
        )
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            await asyncio.wait([work])
            raise
