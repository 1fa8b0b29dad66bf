"""Builds and revisions: how asks were and are being answered."""

from fastapi import APIRouter

from api import described
from api.answers import describe_present, find_outcome, page_outcomes, parse_token, render_outcome
from api.functions import AfterQuery, LimitQuery, get_stored
from api.identity import FUNCTION, BuildPath, FunctionDep
from api.models import BuildBody, BuildList, RevisionBody, RevisionList
from api.services import Services, ServicesDep
from api.superseded import Span, find_superseded, with_superseded
from sless.errors import BuildNotFound
from sless.model.outcome import Outcome
from sless.model.phase import Phase
from sless.naming import build_id, check_build_id
from sless.ports.functions import StoredFunction

router = APIRouter(prefix=FUNCTION, tags=["builds"])


@router.get(
    "/builds",
    summary="List builds",
    responses=described.problems(400),
)
async def list_builds(
    ref: FunctionDep, services: ServicesDep, limit: LimitQuery = 20, after: AfterQuery = ""
) -> BuildList:
    """How each ask was answered, the newest first; the present one may be under way.

    Builds that a newer ask superseded are among them as long as Temporal keeps their runs.
    """
    stored = await get_stored(services, ref)
    first = await _unanswered(services, stored) if _reaches_present(stored, after) else None
    head = [first] if first is not None else []
    objects, runs = services.ports.objects, services.ports.runs
    page = await page_outcomes(objects, stored.function, token=after, limit=limit - len(head))
    told = head + [render_outcome(each, runs) for each in page.items]
    last = told[-1].generation if len(told) == limit else 1
    span = Span(last, min(parse_token(after), stored.function.generation + 1))
    items = (await with_superseded(told, stored.function, span, runs))[:limit]
    lowest = items[-1].generation if len(items) == limit else 1
    return BuildList(items=items, next=str(lowest) if lowest > 1 else "")


def _reaches_present(stored: StoredFunction, token: str) -> bool:
    return stored.function.generation < parse_token(token)


async def _unanswered(services: Services, stored: StoredFunction) -> BuildBody | None:
    """The present ask, while it has no outcome."""
    function = stored.function
    if await find_outcome(services.ports.objects, function, function.generation) is not None:
        return None
    return await describe_present(stored, services.ports.runs)


@router.get(
    "/builds/{build}",
    summary="Get a build",
    responses=described.problems(400),
)
async def get_build(ref: FunctionDep, build: BuildPath, services: ServicesDep) -> BuildBody:
    """How the newest ask for this build was or is being answered."""
    check_build_id(build)
    stored = await get_stored(services, ref)
    if build_id(stored.function.spec.s3_key) == build:
        present = await _unanswered(services, stored)
        if present is not None:
            return present
    outcome = await _find_answer(services, stored, build)
    if outcome is not None:
        return render_outcome(outcome, services.ports.runs)
    superseded = await find_superseded(stored.function, services.ports.runs)
    found = next((each for each in superseded if each.id == build), None)
    if found is None:
        raise BuildNotFound(f"{stored.function.ref} has no build {build}; list its builds.")
    return found


async def _find_answer(services: Services, stored: StoredFunction, build: str) -> Outcome | None:
    """The newest outcome of a build, or none."""
    page = await page_outcomes(
        services.ports.objects,
        stored.function,
        limit=1,
        wanted=lambda outcome: outcome.build == build,
    )
    return next(iter(page.items), None)


@router.get(
    "/revisions",
    summary="List revisions",
    responses=described.problems(400),
)
async def list_revisions(
    ref: FunctionDep, services: ServicesDep, limit: LimitQuery = 20, after: AfterQuery = ""
) -> RevisionList:
    """What has served, the newest first: each can be rolled back to by its build."""
    stored = await get_stored(services, ref)
    page = await page_outcomes(
        services.ports.objects,
        stored.function,
        token=after,
        limit=limit,
        wanted=lambda outcome: outcome.phase is Phase.READY,
    )
    serving = (stored.manifest.get("status") or {}).get("servingGeneration")
    items = [
        _revision(outcome, serving=outcome.ask.generation == serving) for outcome in page.items
    ]
    return RevisionList(items=items, next=page.next)


def _revision(outcome: Outcome, *, serving: bool) -> RevisionBody:
    return RevisionBody(
        revision=outcome.revision,
        build=outcome.build,
        image=outcome.image,
        generation=outcome.ask.generation,
        ready_at=outcome.ended_at,
        serving=serving,
    )
