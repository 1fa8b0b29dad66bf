"""Whether the API lives, whether it can serve, and what it counted: no token is asked for."""

import asyncio
from collections.abc import Awaitable

from fastapi import APIRouter, Response

from api import metrics
from api.models import Readiness
from api.services import ServicesDep
from sless.errors import SlessError
from sless.naming import function_workflow_id

router = APIRouter(tags=["operation"])

OK = "ok"
_NO_FUNCTION = function_workflow_id("-", "-")
"""Such a run cannot be: a name never begins with a hyphen."""


@router.get("/healthz", summary="Is it alive?")
async def healthz() -> dict[str, str]:
    """Answers as long as the process does."""
    return {"status": OK}


@router.get(
    "/readyz",
    summary="Can it serve?",
    responses={503: {"model": Readiness, "description": "A part does not answer."}},
)
async def readyz(services: ServicesDep, response: Response) -> Readiness:
    """Asks each part for something small, and names the one that does not answer."""
    ports, seconds = services.ports, services.options.probe_seconds
    probes = {
        "objects": ports.objects.list("outcomes/", limit=1),
        "functions": ports.functions.list(limit=1),
        "workflows": ports.runs.find(_NO_FUNCTION),
    }
    found = await asyncio.gather(*(_probe(probe, seconds) for probe in probes.values()))
    checks = dict(zip(probes, found, strict=True))
    ready = all(result == OK for result in found)
    response.status_code = 200 if ready else 503
    return Readiness(ready=ready, checks=checks)


async def _probe(probe: Awaitable[object], seconds: float) -> str:
    try:
        async with asyncio.timeout(seconds):
            await probe
    except TimeoutError:
        return f"does not answer within {seconds:.0f} s"
    except SlessError as error:
        return error.reason
    return OK


@router.get("/metrics", summary="Metrics for Prometheus", response_class=Response)
async def show_metrics(services: ServicesDep) -> Response:
    """Counters and histograms in Prometheus' text format."""
    return Response(services.metrics.render(), media_type=metrics.MEDIA_TYPE)
