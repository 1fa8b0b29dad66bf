"""A container's log as a kubelet keeps it, and answers for it (`kubelet/kuberuntime/logs`)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_PIECE = 64
"""Bytes after which this node cuts a line in pieces, each with a time; a real one takes 16 KiB."""


@dataclass
class KubeletLog:
    """One container's."""

    zone: bytes = b"Z"
    pieces: list[tuple[int, bytes]] = field(default_factory=list)
    """Each with its time in tenths of a second; one that does not end with a newline goes on."""

    def write(self, time: int, line: bytes) -> None:
        whole = line + b"\n"
        self.pieces += [(time, whole[i : i + _PIECE]) for i in range(0, len(whole), _PIECE)]

    @property
    def content(self) -> bytes:
        return b"".join(content for _, content in self.pieces)

    def rotate(self) -> None:
        self.pieces = []

    def answer(self, query: Mapping[str, str]) -> bytes:
        since = self._tenths(query["sinceTime"]) if "sinceTime" in query else 0
        told, begins = b"", True
        stamps = query.get("timestamps") == "true"

        def stamp(time: int) -> bytes:
            return self._stamp(time) + b" " if stamps else b""

        for time, content in self.pieces:
            if time >= since:
                told += (stamp(time) if begins else b"") + content
            begins = content.endswith(b"\n")
        if "tailLines" in query:
            told = b"".join(told.splitlines(keepends=True)[-int(query["tailLines"]) :])
        return told[: int(query.get("limitBytes", len(told)))]

    def _stamp(self, time: int) -> bytes:
        seconds, tenth = divmod(time, 10)
        minutes, seconds = divmod(seconds, 60)
        return b"2026-01-01T00:%02d:%02d.%d00000000%s" % (minutes, seconds, tenth, self.zone)

    def _tenths(self, text: str) -> int:
        found = re.fullmatch(r"2026-01-01T00:(\d\d):(\d\d)(.*)", text)
        assert found
        assert found[3].encode() == self.zone
        return (int(found[1]) * 60 + int(found[2])) * 10
