"""The gateway's writer on Kubernetes, beside an Envoy: `python -m sless.cluster.gateway`."""

import asyncio

from sless.cluster.board import Board
from sless.cluster.compose import open_server
from sless.cluster.envoy_folder import envoy_folder
from sless.cluster.gateway_writer import GatewayWriter
from sless.cluster.routed_server import make_routed_server
from sless.gateway.files import GatewayFiles
from sless.roots.envoy_settings import envoy_settings
from sless.roots.process import run_role
from sless.roots.serving import serve_until_told
from sless.settings import Settings


async def write(settings: Settings) -> None:
    """Keeps Envoy's routes, and tells of them, until it is cancelled."""
    gateway = settings.gateway
    board = Board()
    writer = GatewayWriter(GatewayFiles(envoy_folder(settings), envoy_settings(settings)), board)
    async with open_server(settings) as server:
        telling = asyncio.create_task(
            serve_until_told(make_routed_server(board, host=gateway.host, port=gateway.tell_port))
        )
        try:
            await writer.run(server)
        finally:
            board.close()
            telling.cancel()
            await telling


if __name__ == "__main__":
    run_role(write, part="gateway")
