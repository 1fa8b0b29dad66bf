"""What a home warns of about a function, beyond what its status says."""

from collections.abc import Sequence
from typing import Protocol

from sless.model.function import FunctionRef
from sless.model.warning import HomeWarning


class Warnings(Protocol):
    """Every method may raise `StoreUnavailable`."""

    async def find(self, function: FunctionRef, *, build: str) -> Sequence[HomeWarning]:
        """Of its last hour, or of what still is: the newest first, at most ten.

        They are about what carries the function, and about the Jobs of that build. They come by
        the function's name: one that was deleted and made again may be told of its forebear's.
        """
        ...
