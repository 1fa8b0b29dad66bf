"""Functions as they are stored: read, listed, patched, deleted."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from api import described
from api.asks import Change, Write, accepted, look, write
from api.conditions import IfMatchDep, check_match, etag
from api.identity import FUNCTION, FUNCTIONS, FunctionDep, NamespaceDep, no_such_function
from api.json_body import JSON, MERGE_PATCH, read_json
from api.models import AskAccepted, FunctionBody, FunctionDetail, FunctionList, FunctionPatch
from api.services import Services, ServicesDep
from api.wanted import patch_change
from api.warned import find_warnings
from sless.model.function import Function, FunctionRef
from sless.ports.functions import StoredFunction

listing = APIRouter(prefix=FUNCTIONS, tags=["functions"])
router = APIRouter(prefix=FUNCTION, tags=["functions"])

LimitQuery = Annotated[int, Query(ge=1, le=500, description="Items in a page.")]
AfterQuery = Annotated[str, Query(max_length=200, description="`next` of the page before.")]


async def get_stored(services: Services, ref: FunctionRef) -> StoredFunction:
    """The Function; raises `FunctionNotFound`."""
    stored = await services.ports.functions.find(ref.namespace, ref.name)
    if stored is None:
        raise no_such_function(ref)
    return stored


def existing(function: Function | None, ref: FunctionRef) -> Function:
    """The Function that an act needs; raises `FunctionNotFound`."""
    if function is None:
        raise no_such_function(ref)
    return function


@listing.get(
    "",
    summary="List functions",
    responses=described.problems(400),
)
async def list_functions(
    namespace: NamespaceDep, services: ServicesDep, limit: LimitQuery = 100, after: AfterQuery = ""
) -> FunctionList:
    """A namespace's functions by name."""
    page = await services.ports.functions.list(namespace, token=after, limit=limit)
    items = [FunctionBody.model_validate(stored.manifest) for stored in page.items]
    return FunctionList(items=items, next=page.next)


@router.get(
    "",
    summary="Get a function",
    responses=described.problems(400),
)
async def get_function(
    ref: FunctionDep, services: ServicesDep, response: Response
) -> FunctionDetail:
    """The Function with its status, and what its home warns of.

    Its `ETag` makes a later write conditional; warnings are no part of it.
    """
    stored = await get_stored(services, ref)
    response.headers["ETag"] = etag(stored.function.resource_version)
    warnings = await find_warnings(services, stored)
    return FunctionDetail.model_validate({**stored.manifest, "warnings": warnings})


@router.patch(
    "",
    status_code=202,
    summary="Change settings",
    responses=described.problems(400, 409, 412, 413, 415)
    | {200: {"model": AskAccepted, "description": "Nothing changed, so nothing was asked."}},
    openapi_extra=described.json_body(FunctionPatch, JSON, MERGE_PATCH),
)
async def patch_function(
    request: Request,
    response: Response,
    ref: FunctionDep,
    services: ServicesDep,
    if_match: IfMatchDep,
) -> AskAccepted:
    """A JSON merge patch of the spec: handler, command, env, and the key of a stored zip.

    One ask when something changes, none when it does not.
    """
    patch = await read_json(request, FunctionPatch, limit=services.options.request_bytes)
    change = Change(patch_change(patch.spec, ref))

    async def decide(function: Function | None) -> Change:
        existing(function, ref)
        return change

    written, asked = await write(services, Write(ref, "settings", decide, if_match))
    function = written.function
    response.headers["ETag"] = etag(function.resource_version)
    if not asked:
        response.status_code = 200
        return accepted(services, function, ["These settings were in force: nothing was asked."])
    warnings = await _missing_zip(services, function)
    warnings += await look(services, ref, function.ask)
    return accepted(services, function, warnings)


async def _missing_zip(services: Services, function: Function) -> list[str]:
    if await services.ports.objects.exists(function.spec.s3_key):
        return []
    return [f"The zip {function.spec.s3_key} is not there yet: the ask waits for it."]


@router.delete(
    "",
    status_code=204,
    summary="Delete a function",
    responses=described.problems(400, 412),
)
async def delete_function(ref: FunctionDep, services: ServicesDep, if_match: IfMatchDep) -> None:
    """Deletes the Function; its build is cancelled and its processes end. Zips and logs stay."""
    stored = await get_stored(services, ref)
    check_match(if_match, stored, ref)
    await services.ports.functions.delete(ref.namespace, ref.name, uid=stored.function.uid)
    await look(services, ref, None)
