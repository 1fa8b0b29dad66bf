"""How often those ask who wait for something outside: the more of them, the less often each."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(slots=True)
class Pace:
    """What all that wait in one worker share, so that together they ask no oftener than is sane."""

    shortest: float
    """Seconds between two looks of one that waits alone."""
    apart: float = 0.0
    """Seconds between the looks of any two, once there are many."""
    waiting: int = 0
    """How many wait now."""

    @property
    def seconds(self) -> float:
        """From one look to the next."""
        return max(self.shortest, self.waiting * self.apart)

    @contextmanager
    def shared(self) -> Iterator[None]:
        """One more waits meanwhile."""
        self.waiting += 1
        try:
            yield
        finally:
            self.waiting -= 1
