"""How a root serves HTTP until its process is told to end."""

import asyncio

import uvicorn


async def serve_until_told(server: uvicorn.Server) -> None:
    """Serves until uvicorn hears the signal, or we do: either way requests under way end first."""
    serving = asyncio.create_task(server.serve())
    try:
        await asyncio.shield(serving)
    except asyncio.CancelledError:
        server.should_exit = True
        await serving
