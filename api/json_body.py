"""JSON bodies, read strictly: a name given twice is a mistake, not a choice."""

import json
from typing import Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError

from api.problems import describe_invalid
from sless.errors import ContentTypeUnsupported, InvalidSetting, RequestTooLarge

MERGE_PATCH = "application/merge-patch+json"
JSON = "application/json"

Body = TypeVar("Body", bound=BaseModel)


async def read_json(request: Request, model: type[Body], *, limit: int) -> Body:
    """The request's body as that model.

    Raises `ContentTypeUnsupported`, `RequestTooLarge` over `limit` bytes, `InvalidSetting`.
    """
    media = request.headers.get("content-type", JSON).partition(";")[0].strip().lower()
    if media not in {JSON, MERGE_PATCH}:
        raise ContentTypeUnsupported(f"Send the body as {JSON}, not as {media[:80]!r}.")
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > limit:
            raise RequestTooLarge(f"The body is over {limit} bytes.")
    return parse_json(bytes(content), model)


def parse_json(content: bytes, model: type[Body]) -> Body:
    """Bytes as that model; raises `InvalidSetting`, saying where."""
    if not content.strip():
        raise InvalidSetting("The body is empty: send a JSON object.")
    try:
        value = json.loads(content, object_pairs_hook=_unique, parse_constant=_refuse)
        return model.model_validate(value)
    except ValidationError as error:
        raise InvalidSetting(describe_invalid(error.errors(include_url=False))) from error
    except (ValueError, RecursionError) as error:
        raise InvalidSetting(f"The body is no JSON object: {error}.") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidSetting(f"{twice[:80]!r} is given twice.")
    return found


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON value")
