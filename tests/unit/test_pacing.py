"""Many that wait ask less often, each."""

import pytest

from activities.pacing import Pace


@pytest.mark.parametrize(
    ("waiting", "seconds"), [(0, 0.5), (1, 0.5), (50, 0.5), (51, 0.51), (200, 2.0), (1000, 10.0)]
)
def test_together_they_ask_no_oftener_than_one_each_hundredth(waiting: int, seconds: float) -> None:
    assert Pace(0.5, 0.01, waiting=waiting).seconds == pytest.approx(seconds)


def test_whoever_leaves_counts_no_more() -> None:
    pace = Pace(0.1, 1.0)
    with pace.shared(), pace.shared():
        assert pace.seconds == pytest.approx(2.0)
    with pytest.raises(RuntimeError, match="broken"), pace.shared():
        raise RuntimeError("broken")
    assert pace.seconds == pytest.approx(0.1)
