"""Passes requests on to an API server and counts them; plain HTTP on this side."""

import contextlib
import json
import os
import ssl
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
from aiohttp import web
from kubernetes.aio.client import Configuration

from sless.adapters.kubernetes.connection import read_configuration


class _Proxy:
    def __init__(self, configuration: Configuration, counts: Counter[str]) -> None:
        trusted = ssl.create_default_context(cafile=configuration.ssl_ca_cert)
        self.configuration = configuration
        self.session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=trusted, limit=0),
            timeout=aiohttp.ClientTimeout(total=None),
        )
        self.counts = counts

    async def carry(self, request: web.Request) -> web.StreamResponse:
        watched = " (watch)" if request.query.get("watch") == "true" else ""
        name = request.path.rpartition("/")[2] if request.method == "GET" else "…"
        self.counts[f"{request.method} {name}{watched}"] += 1
        token = await self.configuration.get_api_key_with_prefix(
            "BearerToken", alias="authorization"
        )
        kept = {"Accept", "Content-Type"}
        headers = {key: value for key, value in request.headers.items() if key in kept}
        async with self.session.request(
            request.method,
            f"{self.configuration.host}{request.raw_path}",
            data=await request.read() or None,
            headers={**headers, "Authorization": str(token)},
        ) as answer:
            response = web.StreamResponse(status=answer.status)
            response.content_type = answer.content_type
            await response.prepare(request)
            async for chunk in answer.content.iter_any():
                await response.write(chunk)
            return response


@contextlib.asynccontextmanager
async def counting_proxy(folder: Path, counts: Counter[str]) -> AsyncIterator[Path]:
    """A kubeconfig by way of it, with the rights of `KUBECONFIG`."""
    proxy = _Proxy(await read_configuration(os.environ["KUBECONFIG"]), counts)
    app = web.Application(client_max_size=64 * 1024 * 1024)
    app.router.add_route("*", "/{path:.*}", proxy.carry)
    runner = web.AppRunner(app, shutdown_timeout=1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "counted", "cluster": {"server": f"http://{host}:{port}"}}],
        "users": [{"name": "anyone", "user": {}}],
        "contexts": [{"name": "counted", "context": {"cluster": "counted", "user": "anyone"}}],
        "current-context": "counted",
    }
    path = folder / "kubeconfig"
    path.write_text(json.dumps(content))
    try:
        yield path
    finally:
        await runner.cleanup()
        await proxy.session.close()
