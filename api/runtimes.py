"""The runtimes on offer: what an upload may name."""

import anyio
from fastapi import APIRouter

from api import described
from api.identity import RUNTIMES
from api.models import RuntimeBody, RuntimeList
from api.services import ServicesDep

router = APIRouter(prefix=RUNTIMES, tags=["runtimes"])


@router.get(
    "",
    summary="List runtimes",
    responses=described.problems(),
)
async def list_runtimes(services: ServicesDep) -> RuntimeList:
    """What an upload may name, and what the machine lacks of it; the same for every token.

    A home that has just started answers once it has looked for its interpreters.
    """
    options = services.options
    with anyio.move_on_after(options.runtimes_seconds):
        await options.runtimes_known()
    return RuntimeList(
        items=[
            RuntimeBody(name=name, missing=options.missing_runtimes.get(name, ""))
            for name in options.runtimes
        ]
    )
