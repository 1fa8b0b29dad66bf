"""What OpenAPI says beyond the types: problems, and bodies that are read by hand."""

from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from api.models import FunctionPatch, Problem, RollbackTarget, Settings
from api.problems import MEDIA_TYPE

_REF = "#/components/schemas/{model}"
_BY_HAND: tuple[type[BaseModel], ...] = (FunctionPatch, RollbackTarget, Settings)

_MEANINGS = {
    400: "What was sent is wrong; the reason says how.",
    401: "No token, or one that does not hold.",
    404: "Not there, or not for this token.",
    408: "The body stopped arriving.",
    409: "The present state forbids it.",
    412: "The Function is not at the version that If-Match names.",
    413: "Too large.",
    415: "A media type that is not taken.",
    503: "A part does not answer; try again.",
    507: "The server's disk is full.",
}
_ALWAYS = (401, 404, 503)

UPLOAD_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/zip": {"schema": {"type": "string", "format": "binary"}},
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["code"],
                    "properties": {
                        "code": {"type": "string", "format": "binary"},
                        "settings": {"$ref": _REF.format(model="Settings")},
                    },
                }
            },
        },
    },
    "parameters": [
        {
            "name": "Sless-Content-SHA256",
            "in": "header",
            "required": False,
            "description": "Of the zip, in hexadecimal; other bytes are refused. "
            "`Repr-Digest: sha-256=:<base64>:` does the same.",
            "schema": {"type": "string", "pattern": "^[0-9a-fA-F]{64}$"},
        }
    ],
}


def json_body(model: type[BaseModel], *media: str) -> dict[str, Any]:
    """A body that a route reads strictly by itself."""
    schema = {"schema": {"$ref": _REF.format(model=model.__name__)}}
    return {"requestBody": {"required": True, "content": dict.fromkeys(media, schema)}}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problems that a route under /v1 answers, those of every one included."""
    content = {MEDIA_TYPE: {"schema": {"$ref": _REF.format(model="Problem")}}}
    # `default` also keeps FastAPI from documenting its own 422, which is never answered.
    described: dict[int | str, str] = {"default": "A problem."}
    described |= {status: _MEANINGS[status] for status in sorted({*statuses, *_ALWAYS})}
    return {
        status: {"description": meaning, "content": content}
        for status, meaning in described.items()
    }


def describe(app: FastAPI) -> None:
    """Adds the schemas that no route's types name."""
    render = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = render()
            models = [(model, "validation") for model in _BY_HAND]
            _, schemas = models_json_schema(
                [*models, (Problem, "serialization")],  # type: ignore[list-item]
                ref_template=_REF,
            )
            document.setdefault("components", {}).setdefault("schemas", {}).update(schemas["$defs"])
        return app.openapi_schema or document

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's documented way
