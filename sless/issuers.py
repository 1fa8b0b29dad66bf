"""Whose tokens are trusted: the settings of one issuer."""

import ipaddress
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

_PLACE = "{namespace}"


class IssuerSettings(BaseModel):
    """An issuer of tokens that are trusted beside the home's own; an object in JSON."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", use_attribute_docstrings=True, validate_default=True
    )

    allow_http: bool = False
    """Whether `url` and the keys' address may be http on the loopback; for tests alone."""
    url: str
    """The issuer as its tokens name it, letter by letter; its discovery document lies below."""
    ca_file: Path | None = None
    """Certificates, in PEM, that are trusted for this issuer besides the system's."""
    audience: str = Field(min_length=1)
    """What `aud` of a token must have: what the issuer calls this API."""
    claim: str | tuple[str, ...] = "namespaces"
    """The claim that lists namespaces; a list is a way to it: `["realm_access", "roles"]`."""
    template: str = _PLACE
    """What a value of the claim looks like, such as `team-{namespace}`; others are passed over."""
    every: str = ""
    """The value that is good for every namespace, such as `*` or `admins`; empty: none is."""
    spaced: bool = False
    """Whether the claim is a text with spaces between values, as `scope` is."""

    @property
    def path(self) -> tuple[str, ...]:
        """The way to the claim."""
        return (self.claim,) if isinstance(self.claim, str) else self.claim

    @field_validator("url")
    @classmethod
    def _check_url(cls, url: str, info: ValidationInfo) -> str:
        allow_http = bool(info.data.get("allow_http"))
        if "?" in url or not is_safe_address(url, allow_http=allow_http):
            raise ValueError("it must be an https URL without user, query and fragment")
        return url

    @field_validator("claim")
    @classmethod
    def _check_claim(cls, claim: str | tuple[str, ...]) -> str | tuple[str, ...]:
        if not claim or not all(claim):
            raise ValueError("it must name a claim")
        return claim

    @field_validator("template")
    @classmethod
    def _check_template(cls, template: str) -> str:
        if template.count(_PLACE) != 1 or set("{}") & set(template.replace(_PLACE, "")):
            raise ValueError(f"it must have {_PLACE} in it, once, and no other braces")
        return template


def is_safe_address(url: str, *, allow_http: bool) -> bool:
    """Whether keys may be fetched from there: https, or http on the loopback where that may be."""
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname, parts.port
    except ValueError:
        return False
    if not host or parts.username is not None or "#" in url:
        return False
    if not url.isascii() or not url.isprintable() or " " in url:
        return False
    return parts.scheme == "https" or (allow_http and parts.scheme == "http" and _is_loopback(host))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
