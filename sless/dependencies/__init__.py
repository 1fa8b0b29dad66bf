"""What a function depends on: a pure look at its files, shared by every builder."""

from collections.abc import Mapping

from sless.dependencies.model import Dependencies, DependencyFile, DependencyKind, Language
from sless.dependencies.node import find_node_dependencies
from sless.dependencies.python import find_python_dependencies

__all__ = ["Dependencies", "DependencyFile", "DependencyKind", "Language", "find_dependencies"]


def find_dependencies(files: Mapping[str, bytes], language: Language) -> Dependencies:
    """What to install for a function of that language.

    `files` has each file's content by its path below the function's folder; it may read lazily.
    Raises `DependencyFileInvalid` or `DependencyUnsupported`, naming the file and the cure.
    """
    match language:
        case Language.PYTHON:
            return find_python_dependencies(files)
        case Language.NODE:
            return find_node_dependencies(files)
