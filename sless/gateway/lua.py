"""The Lua filter `edge.lua`, with the settings it reads written above it."""

import json
from functools import cache
from importlib.resources import files

from sless.gateway.proto import Json, extension
from sless.gateway.settings import GatewaySettings


def render_lua(settings: GatewaySettings) -> Json:
    """The HTTP filter that tidies headers both ways and refuses reserved paths."""
    code = {"inline_string": _settings(settings) + _source()}
    return extension(
        "envoy.filters.http.lua",
        "envoy.extensions.filters.http.lua.v3.Lua",
        {"default_source_code": code},
    )


@cache
def _source() -> str:
    return files("sless.gateway").joinpath("edge.lua").read_text("utf-8")


def _settings(settings: GatewaySettings) -> str:
    issuers = "".join(f"[{_text(issuer)}] = true, " for issuer in settings.token_issuers)
    return (
        f"local PASS_TOKEN = {'true' if settings.pass_token else 'false'}\n"
        f"local TOKEN_ISSUERS = {{ {issuers}}}\n"
    )


def _text(value: str) -> str:
    r"""A Lua string: bytes beyond letters and digits as `\ddd`, so that nothing can end it."""
    escaped = "".join(
        chr(byte) if chr(byte).isalnum() and byte < 128 else f"\\{byte:03d}"  # noqa: PLR2004  # ASCII
        for byte in value.encode()
    )
    return json.dumps(escaped).replace("\\\\", "\\")
