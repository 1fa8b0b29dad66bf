"""The API's routes, as methods."""

from collections.abc import Iterator
from contextlib import AbstractContextManager

import httpx

from sless.cli.connection import Connection
from sless.cli.exits import Stop
from sless.cli.output import Json
from sless.cli.shapes import AskReply, objects_at, parse_ask, text_at
from sless.errors import FunctionNotFound, RouteNotFound
from sless.model.function import FunctionRef


class Api:
    """Each method is one request, or one per page, and raises `Stop`."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def functions(self, namespace: str) -> list[Json]:
        """Manifests of all functions in a namespace."""
        return self._pages(f"/namespaces/{namespace}/functions")

    def function(self, ref: FunctionRef) -> Json:
        """A function's manifest."""
        return self.connection.fetch("GET", path_of(ref))

    def find_function(self, ref: FunctionRef) -> Json | None:
        """A function's manifest, or none where there is no such function."""
        try:
            return self.function(ref)
        except Stop as stop:
            if stop.reason == FunctionNotFound.reason:
                return None
            raise

    def find_runtimes(self) -> list[Json] | None:
        """The runtimes on offer, or none where the server is of a version that does not tell."""
        try:
            return self._pages("/runtimes")
        except Stop as stop:
            if stop.reason == RouteNotFound.reason:
                return None
            raise

    def upload(
        self,
        ref: FunctionRef,
        *,
        params: dict[str, str],
        body: Iterator[bytes],
        headers: dict[str, str],
    ) -> Json:
        """Sends a zip, which is an ask unless `params` say otherwise."""
        path = f"{path_of(ref)}/code"
        try:
            return self.connection.fetch("PUT", path, params=params, content=body, headers=headers)
        except Stop as stop:
            if stop.reason != FunctionNotFound.reason:
                raise
            # An upload makes the function: it is the namespace that the token is not good for.
            namespace = f"There is no namespace {ref.namespace} for this token"
            sentence = f"{namespace}: name another by -n, or get another token. [{stop.reason}]"
            raise Stop(sentence, stop.code, reason=stop.reason) from None

    def patch(self, ref: FunctionRef, spec: Json, *, version: str = "") -> AskReply:
        """Changes settings, which is an ask; refused if the version is given and another now."""
        headers = {"If-Match": f'"{version}"'} if version else {}
        return parse_ask(
            self.connection.fetch("PATCH", path_of(ref), json={"spec": spec}, headers=headers)
        )

    def act(self, ref: FunctionRef, verb: str, body: Json | None = None) -> AskReply:
        """`retry`, `rebuild` or `rollback`, which is an ask."""
        return parse_ask(self.connection.fetch("POST", f"{path_of(ref)}/{verb}", json=body))

    def cancel(self, ref: FunctionRef, build: str) -> Json:
        """Cancels a build."""
        return self.connection.fetch("POST", f"{path_of(ref)}/builds/{build}/cancel")

    def delete(self, ref: FunctionRef) -> Json:
        """Deletes a function."""
        return self.connection.fetch("DELETE", path_of(ref))

    def builds(self, ref: FunctionRef) -> list[Json]:
        """How each ask was answered, the newest first."""
        return self._pages(f"{path_of(ref)}/builds")

    def some_builds(self, ref: FunctionRef, count: int) -> list[Json]:
        """The builds of that many newest asks."""
        params = {"limit": str(count)}
        return objects_at(
            self.connection.fetch("GET", f"{path_of(ref)}/builds", params=params), "items"
        )

    def newest_build(self, ref: FunctionRef) -> Json | None:
        """The newest ask's build, or none where nothing was ever built."""
        return next(iter(self.some_builds(ref, 1)), None)

    def build(self, ref: FunctionRef, build: str) -> Json:
        """One build."""
        return self.connection.fetch("GET", f"{path_of(ref)}/builds/{build}")

    def revisions(self, ref: FunctionRef) -> list[Json]:
        """What was ready once, the newest first."""
        return self._pages(f"{path_of(ref)}/revisions")

    def log(self, ref: FunctionRef, build: str) -> bytes:
        """A build's log so far."""
        return self.connection.fetch_bytes(f"{path_of(ref)}/builds/{build}/log")

    def follow(
        self, ref: FunctionRef, build: str, *, last: str
    ) -> AbstractContextManager[httpx.Response]:
        """The events of a build's log after the one with that id, as they come."""
        headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": last} if last else {})
        return self.connection.stream(
            "GET",
            f"{path_of(ref)}/builds/{build}/log",
            params={"follow": "true"},
            headers=headers,
        )

    def _pages(self, path: str) -> list[Json]:
        items: list[Json] = []
        params: dict[str, str] = {}
        while True:
            page = self.connection.fetch("GET", path, params=params)
            items += objects_at(page, "items")
            after = text_at(page, "next")
            if not after or params.get("after") == after:
                return items
            params = {"after": after}


def path_of(ref: FunctionRef) -> str:
    """A function's path; its names were checked when they were read."""
    return f"/namespaces/{ref.namespace}/functions/{ref.name}"
