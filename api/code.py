"""The upload: a zip in, stored once by content, and one ask for it."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse

from api import described
from api.announced import Announced, check_arrived, parse_announced
from api.asks import Change, Write, look, perform
from api.conditions import IfMatchDep
from api.form import FormReader, parse_boundary
from api.identity import FUNCTION, FunctionDep
from api.models import AskAccepted, Settings, UploadStored
from api.services import Services, ServicesDep
from api.spool import Spool, Spooled, spooling
from api.wanted import check_change, fresh_request, key_change, settings_change
from api.zips import store
from sless.archive import check_zip
from sless.errors import (
    InvalidSetting,
    RequestStalled,
    RuntimeUnavailable,
    RuntimeUnsupported,
)
from sless.model.function import Function, FunctionRef
from sless.naming import S3Key, build_id

router = APIRouter(prefix=FUNCTION, tags=["functions"])

_PARAMETERS = frozenset({"runtime", "handler", "deploy"})


@router.put(
    "/code",
    status_code=202,
    response_model=AskAccepted,
    summary="Upload code",
    responses=described.problems(400, 408, 409, 412, 413, 415, 507)
    | {
        200: {"model": UploadStored, "description": "`deploy=false`: the zip was there already."},
        201: {"model": UploadStored, "description": "`deploy=false`: the zip is stored."},
    },
    openapi_extra=described.UPLOAD_BODY,
)
async def put_code(  # noqa: PLR0913 - what a request carries
    request: Request,
    *,
    ref: FunctionDep,
    services: ServicesDep,
    if_match: IfMatchDep,
    runtime: Annotated[
        str, Query(description="Such as `python3.11`; the server's default if left out.")
    ] = "",
    handler: Annotated[
        str | None, Query(description="`module:attribute`; the runtime looks for it if left out.")
    ] = None,
    deploy: Annotated[bool, Query(description="False stores the zip and asks for nothing.")] = True,
) -> AskAccepted | JSONResponse:
    """Stores a zip and asks for it to be built and rolled out.

    The answer comes once zip and ask are stored: from then on the build and the rollout finish or
    fail with a reason. The same zip sent again is a new ask, but no new build.
    """
    _check_parameters(request)
    runtime = check_runtime(runtime or services.options.default_runtime, services)
    announced = parse_announced(request.headers, limit=services.options.archive.packed_bytes)
    given = Settings(handler=handler) if handler is not None else Settings()
    check_change(settings_change(given), ref, runtime=runtime)
    key, created, given, size = await _receive(
        request, services, announced=announced, ref=ref, runtime=runtime, given=given
    )
    if not deploy:
        if given.model_fields_set:
            raise InvalidSetting("deploy=false stores the zip alone: leave the settings out.")
        await _tell_waiting(services, ref, key)
        stored = _stored(key, size=size, created=created)
        return JSONResponse(stored.model_dump(by_alias=True), status_code=201 if created else 200)
    return await perform(services, _upload(ref, key, given, if_match))


def check_runtime(runtime: str, services: Services) -> str:
    """A runtime as it came; raises `RuntimeUnsupported`, `RuntimeUnavailable`."""
    options = services.options
    if runtime not in options.runtimes:
        offered = ", ".join(options.runtimes)
        raise RuntimeUnsupported(
            f"There is no runtime {runtime[:80]!r} here; use one of {offered}."
        )
    if runtime in options.missing_runtimes:
        raise RuntimeUnavailable(options.missing_runtimes[runtime])
    return runtime


def _check_parameters(request: Request) -> None:
    for name in request.query_params:
        if name not in _PARAMETERS:
            known = ", ".join(sorted(_PARAMETERS))
            raise InvalidSetting(f"There is no parameter {name[:80]!r}; use {known}.")


def _upload(ref: FunctionRef, key: S3Key, given: Settings, if_match: str) -> Write:
    change = Change(key_change(key) | settings_change(given) | {"request": fresh_request()})

    async def decide(_: Function | None) -> Change:
        return change

    return Write(ref, "upload", decide, if_match)


async def _receive(  # noqa: PLR0913 - all named
    request: Request,
    services: Services,
    *,
    announced: Announced,
    ref: FunctionRef,
    runtime: str,
    given: Settings,
) -> tuple[S3Key, bool, Settings, int]:
    """The zip, stored under its key, whether that is new, the settings, and its size."""
    options = services.options
    async with spooling(options.spool, limit=options.archive.packed_bytes) as spool:
        settings = await _read(request, spool, announced=announced, services=services)
        given = _joined(given, settings)
        check_change(settings_change(given), ref, runtime=runtime)
        zipped = await spool.finish()
        services.metrics.upload_bytes.inc(zipped.size)
        check_arrived(announced, zipped.sha256)
        await _check(zipped, services)
        wanted = S3Key(ref.namespace, ref.name, zipped.sha256, runtime)
        key, created = await store(services.ports.objects, wanted, zipped)
    return key, created, given, zipped.size


async def _check(zipped: Spooled, services: Services) -> None:
    check = partial(check_zip, zipped.path, services.options.archive)
    await to_thread.run_sync(check, limiter=services.checks)


async def _read(
    request: Request, spool: Spool, *, announced: Announced, services: Services
) -> Settings:
    """Takes the body into the spool; the settings that came with it."""
    chunks = _chunks(request, services.options.upload_idle_seconds)
    if not announced.form:
        async for chunk in chunks:
            spool.take(chunk)
            await spool.relieve()
        return Settings()
    reader = FormReader(spool, parse_boundary(request.headers.get("content-type", "")))
    async for chunk in chunks:
        reader.feed(chunk)
        await spool.relieve()
        if reader.ended:
            break
    return reader.finish()


async def _chunks(request: Request, idle_seconds: float) -> AsyncIterator[bytes]:
    """The body as it arrives; raises `RequestStalled`, or ClientDisconnect when it never will."""
    stream = request.stream()
    while True:
        try:
            async with asyncio.timeout(idle_seconds):
                chunk = await anext(stream, None)
        except TimeoutError as error:
            raise RequestStalled(
                f"Nothing of the body arrived for {idle_seconds:.0f} s: send it again."
            ) from error
        if chunk is None:
            return
        yield chunk


def _joined(query: Settings, form: Settings) -> Settings:
    if not query.model_fields_set:
        return form
    if "handler" in form.model_fields_set:
        raise InvalidSetting("The handler is given twice: in the address and in the settings.")
    return form.model_copy(update={"handler": query.handler})


async def _tell_waiting(services: Services, ref: FunctionRef, key: S3Key) -> None:
    """A Function may have named this zip before it was there, as GitOps does."""
    stored = await services.ports.functions.find(ref.namespace, ref.name)
    if stored is not None and stored.function.spec.s3_key == str(key):
        await look(services, ref, stored.function.ask)


def _stored(key: S3Key, *, size: int, created: bool) -> UploadStored:
    return UploadStored(
        namespace=key.namespace,
        name=key.name,
        s3_key=str(key),
        build=build_id(str(key)),
        sha256=key.sha256,
        size=size,
        created=created,
    )
