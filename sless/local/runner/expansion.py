"""`$(NAME)` in the values of environment variables, by Kubernetes' rules: pure."""

from collections.abc import Iterable, Mapping

from sless.model.function import EnvVar


def expand_all(variables: Iterable[EnvVar]) -> dict[str, str]:
    """Each variable with its references to those before it put in, in their order."""
    known: dict[str, str] = {}
    for variable in variables:
        known[variable.name] = expand(variable.value, known)
    return known


def expand(text: str, known: Mapping[str, str]) -> str:
    """`$(NAME)` becomes its value if it is known, else it stays; `$$` becomes `$`."""
    parts: list[str] = []
    at = 0
    while (dollar := text.find("$", at)) >= 0 and dollar + 1 < len(text):
        parts.append(text[at:dollar])
        written, at = _read_reference(text, dollar + 1, known)
        parts.append(written)
    return "".join([*parts, text[at:]])


def _read_reference(text: str, at: int, known: Mapping[str, str]) -> tuple[str, int]:
    """What the `$` before `at` stands for, and where reading goes on."""
    if text[at] == "$":
        return "$", at + 1
    if text[at] != "(":
        return f"${text[at]}", at + 1
    end = text.find(")", at)
    if end < 0:
        return "$(", at + 1
    name = text[at + 1 : end]
    return known.get(name, f"$({name})"), end + 1
