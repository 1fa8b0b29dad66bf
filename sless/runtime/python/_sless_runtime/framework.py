"""Functions written for functions-framework, which run unchanged when it is among their packages.

Such a function is whatever `FUNCTION_TARGET` names, what a decorator of the framework marks in
`main.py`, or what the handler setting names if that is a plain function. The framework makes a
Flask app (or, for its `aio` functions, an ASGI app) of it.
"""

import ast
import importlib
import importlib.util
import os
from pathlib import Path
from typing import Any

from .failure import StartFailed
from .loading import guarded, parse_target
from .offers import parse_module

PACKAGE = "functions_framework"


def find_framework_target(code: Path, handler: str | None) -> tuple[str, str] | None:
    """Module and function to hand to the framework; None if that is not how this one runs.

    Raises `StartFailed` when several functions are marked and none is named.
    """
    if importlib.util.find_spec(PACKAGE) is None:
        return None
    if handler is not None:
        module, name = parse_target(handler)
        return (module, name) if name in _functions(code, module) else None
    marked = [name for name, is_marked in _functions(code, "main").items() if is_marked]
    named = os.environ.get("FUNCTION_TARGET")
    if named and named in _functions(code, "main"):
        return "main", named
    if len(marked) > 1:
        raise StartFailed(
            "HandlerNotFound",
            f"main.py marks several functions: {', '.join(marked)}. Name one with "
            f"--handler module:attribute, for example --handler main:{marked[0]}.",
        )
    return ("main", marked[0]) if marked else None


def make_framework_app(module: str, name: str, *, code: Path) -> object:
    """The framework's own app for that function; raises `StartFailed`."""
    source = code / f"{module.replace('.', '/')}.py"

    def create() -> object:
        framework: Any = importlib.import_module(PACKAGE)
        app: object = framework.create_app(target=name, source=str(source))
        return app

    return guarded(create, module=module, code=code)


def _functions(code: Path, module: str) -> dict[str, bool]:
    """The functions at the top of that module, and whether the framework marks them."""
    path = code / f"{module.replace('.', '/')}.py"
    tree = parse_module(path) if path.is_file() else None
    if tree is None:
        return {}
    ours = _framework_names(tree)
    return {
        node.name: any(_root(each) in ours for each in node.decorator_list)
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def _framework_names(tree: ast.Module) -> set[str]:
    """Names that the module's imports bind to the framework or a part of it."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            ours = [each for each in node.names if each.name.partition(".")[0] == PACKAGE]
            names |= {each.asname or PACKAGE for each in ours}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == PACKAGE:
            names |= {each.asname or each.name for each in node.names}
    return names


def _root(node: ast.expr) -> str:
    """The leftmost name of a decorator: `a` of `@a.b.c(d)`."""
    while isinstance(node, ast.Attribute | ast.Call):
        node = node.value if isinstance(node, ast.Attribute) else node.func
    return node.id if isinstance(node, ast.Name) else ""
