"""Log events: text whole by character, and ids from which a reader goes on."""

import json
from itertools import pairwise

from httpx_sse._decoders import SSEDecoder
from hypothesis import given
from hypothesis import strategies as st

from api.log_chunks import Chunk, parse_chunk, parse_offsets, render_offsets
from api.log_events import Position, render_end, render_event
from api.log_feed import LogEnd

STREAM = "n1/build"


def decode(event: bytes) -> tuple[str, str, str]:
    decoder = SSEDecoder()
    for line in event.decode().split("\n"):
        found = decoder.decode(line)
        if found is not None:
            return found.event, found.data, found.id
    raise AssertionError(event)


def test_text_survives_the_format() -> None:
    text = "one\ntwo\n\n  three: x\n"
    assert decode(render_event("log", text, event_id="n/c/9")) == ("log", text, "n/c/9")


def test_a_progress_bar_becomes_lines() -> None:
    assert decode(render_event("log", "10%\r20%\r\ndone"))[1] == "10%\n20%\ndone"


def test_the_end_is_json() -> None:
    event, data, _ = decode(render_end(LogEnd("Failed", "BuildFailed", "It\nfailed.")))
    assert event == "end"
    assert json.loads(data) == {
        "phase": "Failed",
        "reason": "BuildFailed",
        "message": "It\nfailed.",
    }


def test_offsets_are_read_back() -> None:
    offsets = {"n1/build": 5, "n2/push": 0}
    assert parse_offsets(render_offsets(offsets)) == offsets


@given(st.text())
def test_any_last_event_id_is_read(text: str) -> None:
    assert all(offset >= 0 for offset in parse_offsets(text).values())


def test_a_last_event_id_that_is_none_counts_as_nothing() -> None:
    assert parse_offsets("x, n/c/-1, n/c/x, /5, n/c/d/5, n/c/²") == {}


def test_keys_of_others_are_no_chunks() -> None:
    prefix = "logs/a/b/c/"
    assert parse_chunk(f"{prefix}n/c/000000000012", prefix) == Chunk(
        f"{prefix}n/c/000000000012", "n/c", 12
    )
    for key in ("readme", "n/c/x", "n/5", "n/c/d/5"):
        assert parse_chunk(prefix + key, prefix) is None


def pieces(data: bytes, cuts: list[int]) -> list[tuple[Chunk, bytes]]:
    edges = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [
        (Chunk(f"{STREAM}/{start}", STREAM, start), data[start:end])
        for start, end in pairwise(edges)
    ]


@given(st.text(), st.lists(st.integers(0, 10_000)))
def test_chunks_cut_anywhere_give_the_text(text: str, cuts: list[int]) -> None:
    position = Position({})
    taken = [position.take(chunk, data) for chunk, data in pieces(text.encode(), cuts)]
    assert "".join(taken) == text


@given(st.text(min_size=1), st.lists(st.integers(0, 10_000)), st.integers(0, 10_000))
def test_a_reader_that_resumes_misses_nothing_and_reads_nothing_twice(
    text: str, cuts: list[int], stop: int
) -> None:
    parts = pieces(text.encode(), cuts)
    stop %= len(parts) + 1
    before = Position({})
    first = [before.take(chunk, data) for chunk, data in parts[:stop]]
    after = Position(parse_offsets(render_offsets(before.offsets)))
    second = [after.take(chunk, data) for chunk, data in parts]
    assert "".join(first + second) == text


def test_two_copies_of_the_same_bytes_are_told_once() -> None:
    position = Position({})
    first = position.take(Chunk("a", STREAM, 0), b"hello ")
    second = position.take(Chunk("b", STREAM, 3), b"lo world")
    assert first + second == "hello world"


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert Position({}).take(Chunk("a", STREAM, 0), b"a\xffb") == "a�b"
