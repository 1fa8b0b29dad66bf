"""The ranges of npm, as `engines.node` in package.json has them, for major versions alone."""

import re
from dataclasses import dataclass
from functools import reduce

_Version = tuple[int, int, int]
_ENDLESS = (10**9, 0, 0)
_NUMBER = r"(?:[0-9]{1,6}|[xX*])"
_PARTIAL = rf"[v=]?({_NUMBER}(?:\.{_NUMBER}){{0,2}})(?:[-+][0-9A-Za-z.+-]+)?"
_COMPARATOR = rf"(>=|<=|>|<|=|\^|~>?|)\s*{_PARTIAL}"
_SET = re.compile(rf"\s*(?:{_COMPARATOR}(?:\s+|$))*", re.ASCII)
_HYPHEN = re.compile(rf"\s*{_PARTIAL}\s+-\s+{_PARTIAL}\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Span:
    """Versions from the first one up to, and without, the second."""

    start: _Version = (0, 0, 0)
    end: _Version = _ENDLESS

    def holds_some(self, major: int) -> bool:
        """Whether a release of that major version is in it."""
        return max(self.start, (major, 0, 0)) < min(self.end, (major + 1, 0, 0))

    def meet(self, other: "Span") -> "Span":
        """What is in both; perhaps nothing."""
        return Span(max(self.start, other.start), min(self.end, other.end))


def parse_range(text: str) -> tuple[Span, ...] | None:
    """The spans any of which a version may be in; none for what is no range of npm's.

    Which pre-releases are meant is passed over: no runtime is one.
    """
    spans = [_parse_set(part) for part in text.split("||")]
    found = tuple(span for span in spans if span is not None)
    return found if len(found) == len(spans) else None


def _parse_set(text: str) -> Span | None:
    if between := _HYPHEN.fullmatch(text):
        return _span(">=", between[1]).meet(_span("<=", between[2]))
    if not _SET.fullmatch(text):
        return None
    found = re.findall(_COMPARATOR, text, re.ASCII)
    return reduce(Span.meet, (_span(sign, partial) for sign, partial in found), Span())


def _span(sign: str, partial: str) -> Span:
    given = _numbers(partial)
    start = _filled(given)
    if not given:  # `*`: all, and nothing is beyond it
        return Span(end=start) if sign in {"<", ">"} else Span()
    match sign:
        case ">=":
            return Span(start)
        case ">":
            return Span(_after(given))
        case "<":
            return Span(end=start)
        case "<=":
            return Span(end=_after(given))
        case "^":
            return Span(start, _after(_caret(given)))
        case "~" | "~>":
            return Span(start, _after(given[:2]))
        case _:
            return Span(start, _after(given))


def _numbers(partial: str) -> tuple[int, ...]:
    """The numbers before the first `x`."""
    numbers: list[int] = []
    for part in partial.split("."):
        if not part.isdigit():
            break
        numbers.append(int(part))
    return tuple(numbers)


def _caret(given: tuple[int, ...]) -> tuple[int, ...]:
    """What may not change: up to the first number that is not zero."""
    leading = next((at for at, number in enumerate(given) if number), len(given) - 1)
    return given[: leading + 1]


def _after(given: tuple[int, ...]) -> _Version:
    """The first version beyond all that begin so."""
    return _filled((*given[:-1], given[-1] + 1))


def _filled(given: tuple[int, ...]) -> _Version:
    major, minor, patch = (*given, 0, 0, 0)[:3]
    return major, minor, patch
