"""Inflating in bounded steps, whatever the data unpack to.

`zipfile` inflates bzip2 and LZMA without a bound: 4 KiB of bzip2 may become 4 GiB at once.
"""

import bz2
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import Protocol

STEP = 64 * 1024
"""Bytes read and inflated at a time."""

METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA})
"""The compression methods that are read."""

DAMAGED = (zlib.error, lzma.LZMAError, EOFError, OSError, ValueError, struct.error)
"""What a decompressor raises for data that are none; bz2 says `OSError` and `ValueError`."""

_LZMA_HEADER = struct.Struct("<2xHBL")
"""APPNOTE 5.8.8: version, size of the properties, then the properties themselves."""
_LZMA_PROPERTIES = 5
_LZMA_CODES = 9 * 5 * 5
"""lc, lp and pb in one byte."""


class DictionaryTooLargeError(Exception):
    """An LZMA entry asks for more memory than allowed."""


class _Bounded(Protocol):
    """What `bz2` and `lzma` decompressors have in common."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


def inflate(raw: Iterator[bytes], method: int, *, dictionary_limit: int) -> Iterator[bytes]:
    """The data of one entry in pieces of at most `STEP` bytes.

    Raises one of `DAMAGED` when the stream is not whole or goes on behind its end, and
    `DictionaryTooLargeError`.
    """
    match method:
        case zipfile.ZIP_STORED:
            return raw
        case zipfile.ZIP_DEFLATED:
            return _inflate_deflate(raw)
        case zipfile.ZIP_BZIP2:
            return _inflate_bounded(raw, bz2.BZ2Decompressor())
        case _:
            return _inflate_lzma(raw, dictionary_limit)


def _inflate_deflate(raw: Iterator[bytes]) -> Iterator[bytes]:
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    for piece in raw:
        if stream.eof:
            raise EOFError("data after the end of the stream")
        data = piece
        while data and not stream.eof:
            yield stream.decompress(data, STEP)
            data = stream.unconsumed_tail
    # What still lies in the window comes out even when no input is left.
    while not stream.eof and (rest := stream.decompress(b"", STEP)):
        yield rest
    if not stream.eof or stream.unused_data:
        raise EOFError("the stream does not end where it should")


def _inflate_bounded(raw: Iterator[bytes], stream: _Bounded) -> Iterator[bytes]:
    for piece in raw:
        if stream.eof:
            raise EOFError("data after the end of the stream")
        yield stream.decompress(piece, STEP)
        while not stream.needs_input and not stream.eof:
            yield stream.decompress(b"", STEP)
    if not stream.eof or stream.unused_data:
        raise EOFError("the stream does not end where it should")


def _inflate_lzma(raw: Iterator[bytes], dictionary_limit: int) -> Iterator[bytes]:
    """LZMA need not mark its end: size and checksum tell whether it is whole."""
    first = next(raw, b"")
    size, codes, dictionary = _LZMA_HEADER.unpack_from(first)
    if size != _LZMA_PROPERTIES or codes >= _LZMA_CODES:
        raise lzma.LZMAError("no LZMA properties")
    if dictionary > dictionary_limit:
        raise DictionaryTooLargeError
    stream = _lzma_stream(codes, dictionary)
    data = first[_LZMA_HEADER.size :]
    while not stream.eof:
        if stream.needs_input and not data:
            data = next(raw, b"")
            if not data:
                return
        yield stream.decompress(data, STEP)
        data = b""
    if stream.unused_data or next(raw, b""):
        raise EOFError("data after the end of the stream")


def _lzma_stream(codes: int, dictionary: int) -> lzma.LZMADecompressor:
    rest, lc = divmod(codes, 9)
    pb, lp = divmod(rest, 5)
    options = {"id": lzma.FILTER_LZMA1, "dict_size": dictionary, "lc": lc, "lp": lp, "pb": pb}
    return lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=[options])
