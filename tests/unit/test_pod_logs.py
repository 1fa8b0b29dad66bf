"""Logs by byte offsets, out of an API server that only knows times: exact, however they are cut."""

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from sless.adapters.kubernetes.pod_logs import Mark, read_from
from tests.fakes.kubelet import KubeletLog


@dataclass
class Reader:
    """Reads on from where it was; a forgetful one starts with no mark."""

    node: KubeletLog
    data: bytes = b""
    mark: Mark = field(default_factory=Mark)
    transferred: int = 0

    def read(self, limit: int) -> bytes:
        answer = self.node.answer(self.mark.query(start=len(self.data), limit=limit))
        self.transferred += len(answer)
        reading = read_from(answer, self.mark, start=len(self.data), limit=limit)
        assert len(reading.data) <= limit
        self.data += reading.data
        self.mark = reading.mark
        return reading.data

    def drain(self, limit: int) -> None:
        while self.read(limit):
            pass


texts = st.one_of(
    st.binary(max_size=150).filter(lambda line: b"\n" not in line),
    st.sampled_from([b"", b"2026-01-01T00:00:01.000000000Z ", b"a\rb", b"\xff\xfe"]),
)
steps = st.lists(st.tuples(st.integers(0, 25), texts, st.integers(0, 40)), max_size=30)


@given(steps=steps, limit=st.integers(1, 300), zone=st.sampled_from([b"Z", b"+02:00"]))
def test_whatever_is_written_and_read_in_turn_arrives_once(
    steps: list[tuple[int, bytes, int]], limit: int, zone: bytes
) -> None:
    node, time = KubeletLog(zone), 0
    reader = Reader(node)
    for later, line, wanted in steps:
        time += later
        node.write(time, line)
        if wanted:
            reader.read(wanted)
    reader.drain(limit)
    assert reader.data == node.content


@given(steps=steps, split=st.integers(0, 2000))
def test_it_goes_on_without_a_mark_from_any_offset(
    steps: list[tuple[int, bytes, int]], split: int
) -> None:
    node = KubeletLog()
    for number, (_, line, _) in enumerate(steps):
        node.write(number * 3, line)
    reader = Reader(node, data=node.content[:split])
    reader.drain(1000)
    assert reader.data == node.content


def test_a_long_log_is_not_read_again_each_time() -> None:
    node = KubeletLog()
    reader = Reader(node)
    for time in range(1000):
        node.write(time, b"a line of some length")
        reader.read(100_000)
    assert reader.data == node.content
    assert reader.transferred < 20 * len(node.content)  # not 500 times


def test_after_a_rotation_it_goes_on_with_what_is_there() -> None:
    node = KubeletLog()
    reader = Reader(node)
    node.write(1, b"one")
    node.write(15, b"two")
    reader.drain(100)
    node.rotate()
    node.write(16, b"of the same second")
    node.write(31, b"three")
    reader.drain(100)
    assert reader.data == b"one\ntwo\nof the same second\nthree\n"
