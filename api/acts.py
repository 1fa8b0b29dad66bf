"""What people do with a function that is there: retry, rebuild, roll back, cancel."""

from fastapi import APIRouter, Request

from api import described
from api.answers import find_outcome, page_outcomes
from api.asks import Change, Write, perform
from api.functions import existing, get_stored
from api.identity import FUNCTION, BuildPath, FunctionDep
from api.json_body import JSON, read_json
from api.models import AskAccepted, RollbackTarget
from api.services import Services, ServicesDep
from api.wanted import fresh_request, key_change
from api.zips import copy_for_rebuild
from sless.errors import BuildNotFound, CancelTooLate, NothingToDo
from sless.model.function import CANCEL_ANNOTATION, Function, FunctionRef
from sless.model.outcome import Outcome
from sless.naming import build_id, check_build_id, parse_own_key

router = APIRouter(prefix=FUNCTION, tags=["acts"])


@router.post(
    "/retry",
    status_code=202,
    summary="Retry",
    responses=described.problems(400, 409),
)
async def retry(ref: FunctionDep, services: ServicesDep) -> AskAccepted:
    """Asks for the same code and settings once more; what is built already is not built again."""

    async def decide(function: Function | None) -> Change:
        existing(function, ref)
        return Change({"request": fresh_request()})

    return await perform(services, Write(ref, "retry", decide))


@router.post(
    "/rebuild",
    status_code=202,
    summary="Rebuild",
    responses=described.problems(400, 409),
)
async def rebuild(ref: FunctionDep, services: ServicesDep) -> AskAccepted:
    """Builds the same code anew, resolving unpinned dependencies again."""
    function = (await get_stored(services, ref)).function
    present = parse_own_key(function.spec.s3_key, namespace=ref.namespace, name=ref.name)
    copy = await copy_for_rebuild(services.ports.objects, present)

    async def decide(found: Function | None) -> Change:
        now = existing(found, ref).spec.s3_key
        if now != function.spec.s3_key:
            raise NothingToDo(f"Meanwhile {ref} was given other code ({now}): look again.")
        return Change(key_change(copy) | {"request": fresh_request()})

    return await perform(services, Write(ref, "rebuild", decide))


@router.post(
    "/rollback",
    status_code=202,
    summary="Roll back",
    responses=described.problems(400, 409, 413, 415),
    openapi_extra=described.json_body(RollbackTarget, JSON),
)
async def rollback(request: Request, ref: FunctionDep, services: ServicesDep) -> AskAccepted:
    """Asks for the code of an earlier build, with today's settings: nothing is built."""
    target = await read_json(request, RollbackTarget, limit=services.options.request_bytes)
    build = check_build_id(target.build)
    function = (await get_stored(services, ref)).function
    outcome = await _built(services, function, build)
    key = parse_own_key(outcome.s3_key, namespace=ref.namespace, name=ref.name)

    async def decide(found: Function | None) -> Change:
        now = existing(found, ref)
        if now.spec.s3_key == outcome.s3_key:
            raise NothingToDo(f"{ref} asks for build {build} already; retry asks once more.")
        return Change(key_change(key) | {"request": fresh_request()})

    return await perform(services, Write(ref, "rollback", decide))


async def _built(services: Services, function: Function, build: str) -> Outcome:
    """The newest outcome of a build that made an image."""
    page = await page_outcomes(
        services.ports.objects,
        function,
        limit=1,
        wanted=lambda outcome: outcome.build == build,
    )
    if not page.items:
        raise BuildNotFound(f"{function.ref} has no finished build {build}; list its builds.")
    if not page.items[0].image:
        raise NothingToDo(f"Build {build} made no image to go back to ({page.items[0].reason}).")
    return page.items[0]


@router.post(
    "/builds/{build}/cancel",
    status_code=202,
    summary="Cancel a build",
    responses=described.problems(400, 409),
)
async def cancel(ref: FunctionDep, build: BuildPath, services: ServicesDep) -> AskAccepted:
    """Cancels the present ask, its build or its rollout; what served before goes on serving."""
    check_build_id(build)

    async def decide(found: Function | None) -> Change:
        function = existing(found, ref)
        await _check_open(services, function, build)
        return Change(annotations={CANCEL_ANNOTATION: str(function.generation)})

    return await perform(services, Write(ref, "cancel", decide))


async def _check_open(services: Services, function: Function, build: str) -> None:
    if build_id(function.spec.s3_key) != build:
        raise _not_present(function.ref, build)
    outcome = await find_outcome(services.ports.objects, function, function.generation)
    if outcome is not None:
        raise CancelTooLate(f"Build {build} has ended: {outcome.phase}.")


def _not_present(ref: FunctionRef, build: str) -> BuildNotFound:
    return BuildNotFound(f"{ref} does not ask for build {build} now; list its builds.")
