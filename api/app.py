"""The application: routes, and what surrounds each request."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import APIRouter, Depends, FastAPI

from api import acts, builds, code, functions, health, logs, runtimes
from api.described import describe
from api.identity import Authenticated, documented
from api.observed import Observed
from api.options import ApiOptions
from api.problems import handle_problems
from api.services import Ports, Services
from api.spool import sweep

VERSION = "1"


def create_app(ports: Ports, options: ApiOptions) -> FastAPI:
    """The API on those adapters. It builds nothing and writes no status."""
    services = Services(ports, options)
    app = FastAPI(
        title="sless",
        version=VERSION,
        summary="From a zip to a URL, durably.",
        # Their pages fetch scripts from elsewhere: this server may have no way there.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan,
    )
    app.state.services = services
    app.include_router(health.router)
    app.include_router(_guarded())
    handle_problems(app)
    # The last one added is the outermost.
    app.add_middleware(Authenticated, verifier=ports.verifier, metrics=services.metrics)
    app.add_middleware(Observed, metrics=services.metrics)
    describe(app)
    return app


def _guarded() -> APIRouter:
    router = APIRouter(dependencies=[Depends(documented)])
    modules = (functions, code, acts, builds, logs, runtimes)
    routers = (functions.listing, *(module.router for module in modules))
    for each in routers:
        router.include_router(each)
    return router


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    services: Services = app.state.services
    await asyncio.to_thread(sweep, services.options.spool)
    yield
    services.feeds.close()
