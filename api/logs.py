"""A build's log over HTTP: whole as text, or followed as server-sent events."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Header, Query
from fastapi.responses import StreamingResponse

from api import described
from api.answers import page_outcomes
from api.functions import get_stored
from api.identity import FUNCTION, BuildPath, FunctionDep
from api.log_chunks import Chunk, list_chunks, parse_offsets
from api.log_events import follow
from api.services import Services, ServicesDep
from sless.errors import BuildNotFound
from sless.model.function import FunctionRef
from sless.naming import build_id, check_build_id, log_prefix

router = APIRouter(prefix=FUNCTION, tags=["builds"])

EVENTS = "text/event-stream"
TEXT = "text/plain; charset=utf-8"
# Proxies must pass each event on as it comes.
_UNBUFFERED = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


@router.get(
    "/builds/{build}/log",
    summary="Read a build's log",
    response_class=StreamingResponse,
    responses=described.problems(400)
    | {200: {"description": "The log.", "content": {"text/plain": {}, EVENTS: {}}}},
)
async def read_log(
    ref: FunctionDep,
    build: BuildPath,
    services: ServicesDep,
    follow: Annotated[bool, Query(description="Events until the build has ended.")] = False,  # noqa: FBT002 - a query parameter
    last_event_id: Annotated[
        str, Header(description="The last event's id: the log goes on after it.")
    ] = "",
) -> StreamingResponse:
    """What the build's attempts have written so far, or with `follow=true` all they will write.

    Events are `log` with text, and at last `end` with phase, reason and message. A stream that
    ends without `end` was cut: ask again with the last event's id.
    """
    check_build_id(build)
    chunks = await list_chunks(services.ports.objects, log_prefix(ref.namespace, ref.name, build))
    await _check_known(services, ref, build, chunks)
    if follow:
        offsets = parse_offsets(last_event_id)
        events = _counted(services, ref, build, offsets)
        return StreamingResponse(events, media_type=EVENTS, headers=_UNBUFFERED)
    return StreamingResponse(_text(services, chunks), media_type=TEXT, headers=_UNBUFFERED)


async def _check_known(
    services: Services, ref: FunctionRef, build: str, chunks: list[Chunk]
) -> None:
    """Raises `FunctionNotFound`, `BuildNotFound`."""
    function = (await get_stored(services, ref)).function
    if chunks or build_id(function.spec.s3_key) == build:
        return
    page = await page_outcomes(
        services.ports.objects, function, limit=1, wanted=lambda outcome: outcome.build == build
    )
    if not page.items:
        raise BuildNotFound(f"{ref} has no build {build}; list its builds.")


async def _counted(
    services: Services, ref: FunctionRef, build: str, offsets: dict[str, int]
) -> AsyncIterator[bytes]:
    with services.metrics.log_readers.track_inprogress():
        seconds = services.options.keep_alive_seconds
        events = follow(services.feeds, ref, build, offsets=offsets, keep_alive_seconds=seconds)
        # A client that leaves while we send must free its place in the feed at once.
        async with aclosing(events):
            async for event in events:
                yield event


async def _text(services: Services, chunks: list[Chunk]) -> AsyncIterator[bytes]:
    """Bytes as they were written; two copies of the same bytes once."""
    ends: dict[str, int] = {}
    for chunk in chunks:
        data = await services.feeds.cache.get(chunk.key)
        known = ends.get(chunk.stream, 0)
        ends[chunk.stream] = chunk.start + len(data)
        yield data[max(0, known - chunk.start) :]
