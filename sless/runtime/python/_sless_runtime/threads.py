"""Where what blocks is run, so that health and other requests go on."""

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

THREADS = 40
"""Calls that block at the same time; a further one waits for its turn."""

_T = TypeVar("_T")


class Threads:
    """A pool of the runtime's own: the loop's default one belongs to the function."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="function")

    async def run(self, function: Callable[..., _T], *arguments: object) -> _T:
        """The result of the call, made in a thread and in a copy of this context."""
        context = contextvars.copy_context()

        def call() -> _T:
            try:
                return context.run(function, *arguments)
            except StopIteration as error:  # a future cannot carry it and would never be done
                raise RuntimeError("The function raised StopIteration.") from error

        return await asyncio.get_running_loop().run_in_executor(self._pool, call)
