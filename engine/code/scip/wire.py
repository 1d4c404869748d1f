"""The protobuf wire format, as far as SCIP needs it: varints and delimited fields, read from bytes and written to bytes.

Called by ``decode``, ``stream`` and ``export``. What may not come in: what any field means, files. Everything that is read comes
from strangers: each length is checked against what is there before it is believed. Format: protobuf.dev, "Encoding".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

VARINT, FIXED64, DELIMITED, FIXED32 = 0, 1, 2, 5
_VARINT_BYTES = 10
_NUMBERS = 1 << 29
_WORD = 0xFFFF_FFFF_FFFF_FFFF

# (field number, wire type, value or where the bytes begin, where they end)
Field = tuple[int, int, int, int]


class Malformed(ValueError):
    """Bytes that are no protobuf message; the text says why, ``at`` where. Never leaves this package."""

    def __init__(self, why: str, at: int) -> None:
        super().__init__(why)
        self.at = at


def varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """An unsigned varint and where it ends. Raises Malformed when it is cut short or longer than ten bytes."""
    value = shift = 0
    for here in range(at, min(end, at + _VARINT_BYTES)):
        byte = data[here]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & _WORD, here + 1
        shift += 7
    raise Malformed("truncated" if at + _VARINT_BYTES > end else "bad_varint", at)


def fields(data: bytes, at: int, end: int) -> Iterator[Field]:
    """The fields of the message in ``data[at:end]``, in order; of a delimited one the place of its bytes, which are not copied.

    Raises:
        Malformed: a length that leads outside, a group, field number 0, or a wire type that does not exist.
    """
    while at < end:
        key = data[at]
        at += 1
        if key >= 0x80:
            key, at = varint(data, at - 1, end)
        number, wire = key >> 3, key & 7
        if not 0 < number < _NUMBERS:
            raise Malformed("bad_field_number", at)
        if wire == DELIMITED:
            size, at = varint(data, at, end)
            if size > end - at:
                raise Malformed("truncated", at)
            yield number, wire, at, at + size
            at += size
        elif wire == VARINT:
            value, at = varint(data, at, end)
            yield number, wire, value, at
        else:
            at = skipped(wire, at, end)
            yield number, wire, 0, at


def skipped(wire: int, at: int, end: int) -> int:
    """Where a field of fixed width ends. Raises Malformed for groups, unknown wire types and what is cut short."""
    width = {FIXED64: 8, FIXED32: 4}.get(wire, 0)
    if not width:
        raise Malformed("bad_wire_type", at)
    if width > end - at:
        raise Malformed("truncated", at)
    return at + width


def numbers(data: bytes, at: int, end: int) -> list[int]:
    """A packed ``repeated int32``; negative ones come back negative. Raises Malformed."""
    found = []
    value = shift = 0
    for byte in data[at:end]:
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            found.append(value if value < 1 << 31 else signed(value & _WORD))
            value = shift = 0
        elif shift >= 7 * (_VARINT_BYTES - 1):
            raise Malformed("bad_varint", at)
        else:
            shift += 7
    if shift:
        raise Malformed("truncated", at)
    return found


def signed(value: int) -> int:
    """An ``int32`` from its varint (negative numbers are written with 64 bits)."""
    return value - (1 << 64) if value >= 1 << 63 else value


# ── writing ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def packed_varint(value: int) -> bytes:
    """A number from 0 on as a varint."""
    if value < 0x80:
        return bytes((value,))
    parts = bytearray()
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def delimited(number: int, body: bytes) -> bytes:
    """A field of bytes, text or a message."""
    return packed_varint(number << 3 | DELIMITED) + packed_varint(len(body)) + body


def text(number: int, value: str) -> bytes:
    """A string field; nothing when it is empty, as proto3 has it. What is no Unicode becomes visible escapes."""
    return delimited(number, value.encode("utf-8", "backslashreplace")) if value else b""


def number(number: int, value: int) -> bytes:
    """An integer, enum or bool field; nothing for 0."""
    return packed_varint(number << 3 | VARINT) + packed_varint(value) if value else b""


def packed(number: int, values: Iterable[int]) -> bytes:
    """A packed ``repeated int32`` of numbers from 0 on."""
    body = b"".join(map(packed_varint, values))
    return delimited(number, body) if body else b""
