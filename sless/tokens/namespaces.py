"""The namespaces that a token of a foreign issuer is good for, by a declared mapping."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sless.errors import InvalidName
from sless.naming import check_namespace
from sless.tokens.identity import EVERY_NAMESPACE

PLACE = "{namespace}"
"""Where a template has the namespace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceClaim:
    """Which claim lists namespaces, and how.

    A value that fits nothing is passed over: groups mostly have nothing to do with us.
    """

    path: tuple[str, ...]
    """The claim, or the way to it through objects."""
    template: str = PLACE
    """What a value looks like, exactly one `{namespace}` in it."""
    every: str = ""
    """The value that is good for every namespace; empty: none is."""
    spaced: bool = False
    """Whether a text lists values between spaces, as `scope` does; otherwise it is one value."""

    def namespaces_of(self, claims: Mapping[str, Any]) -> tuple[str, ...]:
        """The namespaces, in order, each once; none when the claim is not there."""
        found: set[str] = set()
        for value in self._values(claims):
            if self.every and value == self.every:
                return (EVERY_NAMESPACE,)
            namespace = self._namespace_in(value)
            if namespace is not None:
                found.add(namespace)
        return tuple(sorted(found))

    def _values(self, claims: Mapping[str, Any]) -> Iterator[str]:
        claim: Any = claims
        for name in self.path:
            claim = claim.get(name) if isinstance(claim, Mapping) else None
        if isinstance(claim, str):
            yield from claim.split(" ") if self.spaced else (claim,)
        elif isinstance(claim, list):
            yield from (value for value in claim if isinstance(value, str))

    def _namespace_in(self, value: str) -> str | None:
        before, _, after = self.template.partition(PLACE)
        if not (value.startswith(before) and value.endswith(after)):
            return None
        try:
            return check_namespace(value[len(before) : len(value) - len(after)])
        except InvalidName:
            return None
