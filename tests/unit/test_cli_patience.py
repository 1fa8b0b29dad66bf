import time

import pytest

from sless.cli.exits import Exit, Stop
from sless.cli.patience import Patience


def test_a_server_that_stays_away_ends_the_waiting_in_time() -> None:
    told: list[str] = []
    patience = Patience(told.append, limit=1.0)
    away = Stop("It is away.", Exit.UNREACHABLE)
    start = time.monotonic()
    with pytest.raises(Stop) as stopped:
        _endure_for_ever(patience, away)
    assert stopped.value is away
    assert 0.2 < time.monotonic() - start < 1.5
    assert told == ["The server went away; waiting up to 1.0s for it."]


def _endure_for_ever(patience: Patience, stop: Stop) -> None:
    while True:
        patience.endure(stop)


def test_each_outage_is_counted_anew_and_said_once() -> None:
    told: list[str] = []
    patience = Patience(told.append, limit=0.5)
    away = Stop("It is away.", Exit.UNREACHABLE)
    for _ in range(3):
        patience.endure(away)
        patience.answered()
        patience.answered()
    assert told == ["The server went away; waiting up to 0.5s for it.", "The server is back."] * 3


def test_a_refusal_is_not_waited_for() -> None:
    told: list[str] = []
    with pytest.raises(Stop):
        Patience(told.append).endure(Stop("No.", Exit.FAILED))
    assert told == []
