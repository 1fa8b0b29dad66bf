"""Objects of an API server as dicts: read, written by one manager, watched; errors are ours."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import aiohttp

from sless.adapters.kubernetes.connection import (
    Connection,
    Object,
    Query,
    parse_body,
    read_configuration,
)
from sless.adapters.kubernetes.refusals import translate
from sless.adapters.kubernetes.resources import Resource
from sless.errors import StoreUnavailable

WATCH_SECONDS = 20
"""The server ends a watch then, so that one on a dead connection is noticed soon after."""
_QUIET_SECONDS = 25.0

MERGE_PATCH = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
_METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
_APPLY_PATCH = "application/apply-patch+yaml"


@dataclass(frozen=True, slots=True)
class ObjectPage:
    """Some objects of a list, in the order of their keys in the API server's store."""

    items: tuple[Object, ...]
    next: str = ""
    """Token for the next page; empty at the end."""
    resource_version: str = ""
    """Of the list: where a watch begins."""


@dataclass(frozen=True, slots=True)
class Change:
    """An event of a watch."""

    kind: str
    """ADDED, MODIFIED, DELETED or BOOKMARK, which brings a resourceVersion alone."""
    object: Object = field(hash=False)


async def connect(kubeconfig: str | None = None) -> "ApiServer":
    """To the cluster of that kubeconfig, else of the one whose pod this is, else of `KUBECONFIG`.

    Nothing is sent yet. Raises `StoreUnavailable` when none of them tells.
    """
    return ApiServer(Connection(await read_configuration(kubeconfig)))


class ApiServer:
    """Every method may raise `StoreUnavailable`; writes also what `refusals.translate` makes.

    What is addressed by name and is not there is None (or False), never an error.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def close(self) -> None:
        """Closes its connections."""
        await self._connection.close()

    async def find(self, resource: Resource, namespace: str | None, name: str) -> Object | None:
        """An object, or none."""
        return await self._named("GET", resource.path(namespace, name))

    async def list(  # noqa: PLR0913  # a list has this many sides, all named
        self,
        resource: Resource,
        namespace: str | None = None,
        *,
        labels: str = "",
        fields: str = "",
        limit: int | None = None,
        token: str = "",
        metadata_only: bool = False,
    ) -> ObjectPage:
        """Objects of a namespace, or of all; a page of them when a limit is given.

        Raises `InvalidSetting` when the token is none. One that outlived the API server's memory
        (5 minutes) goes on after the same key, in what there is now.
        """
        query: Query = {
            "labelSelector": labels or None,
            "fieldSelector": fields or None,
            "limit": limit,
            "continue": token or None,
        }
        accept = _METADATA if metadata_only else ""
        status, body = await self._connection.send(
            "GET", resource.path(namespace), query=query, accept=accept
        )
        renewed = (body.get("metadata") or {}).get("continue", "")
        if status == HTTPStatus.GONE and renewed:
            status, body = await self._connection.send(
                "GET",
                resource.path(namespace),
                query={**query, "continue": renewed},
                accept=accept,
            )
        _check(status, body)
        listed = body.get("metadata") or {}
        return ObjectPage(
            # Items of a list do not say what they are.
            tuple(
                {"apiVersion": resource.api_version, "kind": resource.kind, **item}
                for item in body.get("items") or ()
            ),
            next=listed.get("continue") or "",
            resource_version=listed.get("resourceVersion") or "",
        )

    async def pages(  # noqa: PLR0913  # likewise
        self,
        resource: Resource,
        namespace: str | None = None,
        *,
        size: int,
        labels: str = "",
        fields: str = "",
        metadata_only: bool = False,
    ) -> AsyncIterator[ObjectPage]:
        """All of a list, `size` objects at a time, of the first page's version or newer."""
        token = ""
        while True:
            page = await self.list(
                resource,
                namespace,
                labels=labels,
                fields=fields,
                limit=size,
                token=token,
                metadata_only=metadata_only,
            )
            yield page
            token = page.next
            if not token:
                return

    async def create(
        self, resource: Resource, namespace: str | None, body: Object, *, manager: str
    ) -> Object:
        """Makes an object; raises `AlreadyExists`, `NamespaceNotFound`."""
        whole = {"apiVersion": resource.api_version, "kind": resource.kind, **body}
        status, made = await self._connection.send(
            "POST", resource.path(namespace), query=_writing(manager), body=whole
        )
        _check(status, made)
        return made

    async def patch(  # noqa: PLR0913  # a patch has this many sides, all named
        self,
        resource: Resource,
        namespace: str | None,
        name: str,
        body: Object | Sequence[Object],
        *,
        manager: str,
        subresource: str = "",
    ) -> Object | None:
        """A merge patch when the body is an object, a JSON patch when it is a list.

        A `metadata.uid` or `metadata.resourceVersion` in it must be the present one: raises
        `VersionConflict`.
        """
        path = resource.path(namespace, name) + (f"/{subresource}" if subresource else "")
        kind = MERGE_PATCH if isinstance(body, Mapping) else JSON_PATCH
        query = _writing(manager, strict=not subresource)
        return await self._named("PATCH", path, query=query, body=body, content=kind)

    async def apply(
        self, resource: Resource, namespace: str | None, body: Object, *, manager: str, force: bool
    ) -> Object:
        """A server-side apply; makes what is not there, unless the body names a `metadata.uid`.

        A stale `metadata.resourceVersion` or `metadata.uid` raises `VersionConflict` even when
        forced; a field that another manager owns raises `ManagedElsewhere` unless forced.
        """
        whole = {"apiVersion": resource.api_version, "kind": resource.kind, **body}
        status, made = await self._connection.send(
            "PATCH",
            resource.path(namespace, body["metadata"]["name"]),
            query=_writing(manager) | {"force": "true" if force else None},
            body=whole,
            content=_APPLY_PATCH,
        )
        _check(status, made)
        return made

    async def delete(
        self, resource: Resource, namespace: str | None, name: str, *, uid: str | None = None
    ) -> bool:
        """Deletes it, in the background what it owns; False when it, or that uid, is not there."""
        body: Object = {"propagationPolicy": "Background"}
        if uid is not None:
            body["preconditions"] = {"uid": uid}
        status, told = await self._connection.send(
            "DELETE", resource.path(namespace, name), body=body
        )
        if _is_missing(status, told) or (uid is not None and status == HTTPStatus.CONFLICT):
            return False
        _check(status, told)
        return True

    async def read_log(
        self, namespace: str, pod: str, *, container: str, query: Query | None = None
    ) -> bytes | None:
        """A container's log so far, with the API's own options such as `limitBytes`."""
        path = f"/api/v1/namespaces/{namespace}/pods/{pod}/log"
        asked = {"container": container, **(query or {})}
        async with self._connection.answer("GET", path, query=asked) as response:
            content = await response.read()
        # Of a pod without a node there is no log yet, nor anybody who could say so.
        if response.status in {HTTPStatus.OK, HTTPStatus.NO_CONTENT}:
            return content
        told = parse_body(content)
        if _is_missing(response.status, told):
            return None
        raise translate(response.status, told)

    async def watch(
        self, resource: Resource, namespace: str | None = None, *, since: str, labels: str = ""
    ) -> AsyncIterator[Change]:
        """Changes after the version `since`, for some 20 s; then call it again.

        Raises `VersionConflict` when the API server forgot that version: list again.
        """
        query: Query = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": since,
            "labelSelector": labels or None,
            "timeoutSeconds": WATCH_SECONDS,
        }
        patience = aiohttp.ClientTimeout(total=None, sock_connect=5, sock_read=_QUIET_SECONDS)
        async with self._connection.answer(
            "GET", resource.path(namespace), query=query, patience=patience
        ) as response:
            if response.status != HTTPStatus.OK:
                raise translate(response.status, parse_body(await response.read()))
            async for line in response.content:
                change = _parse_change(line)
                if change.kind == "ERROR":
                    raise translate(change.object.get("code", 500), change.object)
                yield change

    async def _named(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: Any = None,
        content: str = "",
    ) -> Object | None:
        status, told = await self._connection.send(
            method, path, query=query, body=body, content=content
        )
        if _is_missing(status, told):
            return None
        _check(status, told)
        return told


def _parse_change(line: bytes) -> Change:
    """An event; a line that is none was cut, or comes from a proxy."""
    event = parse_body(line)
    kind, thing = event.get("type"), event.get("object")
    if not isinstance(kind, str) or not isinstance(thing, dict):
        said = line[:200].decode(errors="replace").strip()
        raise StoreUnavailable(f"The API server's watch broke off with {said!r}.")
    return Change(kind, thing)


def _writing(manager: str, *, strict: bool = True) -> dict[str, str | int | None]:
    # Strict: what people ask for must not vanish silently where the server's schema is older than
    # we are; a status had better lose a field than not be written.
    return {"fieldManager": manager, "fieldValidation": "Strict" if strict else "Ignore"}


def _is_missing(status: int, told: Mapping[str, Any]) -> bool:
    # Without a Status it is the kind that is missing, or something else that answers here.
    kind = (told.get("details") or {}).get("kind")
    return status == HTTPStatus.NOT_FOUND and told.get("kind") == "Status" and kind != "namespaces"


def _check(status: int, told: Mapping[str, Any]) -> None:
    if not HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        raise translate(status, told)
