"""What the function's files define at their top, read without running them."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SHOWN_NAMES = 12
"""Names per file in a message; more would bury the sentence."""
SHOWN_FILES = 8


@dataclass(frozen=True, slots=True)
class Offer:
    """One top-level module or package."""

    module: str
    path: Path
    callables: tuple[str, ...]
    """Public functions, and names bound to what a call made, as in `app = FastAPI()`."""
    names: frozenset[str]
    """Everything that is bound, imports included."""
    open_ended: bool
    """Whether there may be more names: `from x import *`, or a `__getattr__`."""
    broken: bool
    """Whether it is no valid Python; then nothing else is known."""

    def may_have(self, name: str) -> bool:
        """Whether importing it could yield that name."""
        return self.broken or self.open_ended or name in self.names


def read_offers(code: Path) -> dict[str, Offer]:
    """The modules at the top of the code folder by name, sorted."""
    files = {path.stem: path for path in code.glob("*.py")}
    packages = {path.parent.name: path for path in code.glob("*/__init__.py")}
    found = {**files, **packages}
    return {name: _read(name, found[name]) for name in sorted(found) if name.isidentifier()}


def parse_module(path: Path) -> ast.Module | None:
    """The syntax tree of a file; None if it is no valid Python."""
    try:
        return ast.parse(path.read_bytes(), filename=str(path))
    except (SyntaxError, ValueError, RecursionError):
        return None


def list_below(code: Path) -> str:
    """For code without a file at its top: where there are some, in a sentence."""
    files = sorted(path.relative_to(code).as_posix() for path in code.glob("*/*.py"))
    if not files:
        return ""
    target = files[0].removesuffix(".py").replace("/", ".")
    return f"Below there is {files[0]}, which is named as --handler {target}:attribute."


def list_offers(offers: dict[str, Offer]) -> str:
    """A sentence or more: `app.py offers: create, main.`."""
    if not offers:
        return "The code has no Python file at its top."
    told = [_tell(offer) for offer in offers.values()]
    more = [f"And {len(told) - SHOWN_FILES} more files."] if len(told) > SHOWN_FILES else []
    return " ".join(told[:SHOWN_FILES] + more)


def _tell(offer: Offer) -> str:
    name = offer.path.name if offer.path.stem == offer.module else f"{offer.module}/__init__.py"
    if offer.broken:
        return f"{name} is no valid Python."
    if not offer.callables:
        return f"{name} offers nothing callable."
    rest = ", …" if len(offer.callables) > SHOWN_NAMES else ""
    return f"{name} offers: {', '.join(offer.callables[:SHOWN_NAMES])}{rest}."


def _read(module: str, path: Path) -> Offer:
    tree = parse_module(path)
    bound = list(_bindings(tree.body)) if tree else []
    names = frozenset(name for name, _ in bound)
    public = dict.fromkeys(name for name, called in bound if called and not name.startswith("_"))
    return Offer(
        module=module,
        path=path,
        callables=tuple(public),
        names=names,
        open_ended=bool({"*", "__getattr__"} & names),
        broken=tree is None,
    )


def _bindings(body: list[ast.stmt]) -> Iterator[tuple[str, bool]]:
    """Names bound by those statements, also below `if`, `try` and `with`; and if callable."""
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield node.name, True
            case ast.ClassDef():
                yield node.name, False
            case ast.Import() | ast.ImportFrom():
                for alias in node.names:
                    yield alias.asname or alias.name.partition(".")[0], False
            case ast.Assign() | ast.AnnAssign():
                yield from _assigned(node)
            case ast.If() | ast.Try() | ast.With():
                yield from _bindings(_blocks(node))
            case _:
                pass


def _blocks(node: ast.If | ast.Try | ast.With) -> list[ast.stmt]:
    """The statements directly below, of every branch."""
    children = list(ast.iter_child_nodes(node))
    handled = [
        each for child in children if isinstance(child, ast.ExceptHandler) for each in child.body
    ]
    return [child for child in children if isinstance(child, ast.stmt)] + handled


def _assigned(node: ast.Assign | ast.AnnAssign) -> Iterator[tuple[str, bool]]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    called = isinstance(node.value, ast.Call | ast.Lambda)
    for target in targets:
        for part in ast.walk(target):
            if isinstance(part, ast.Name):
                yield part.id, called
