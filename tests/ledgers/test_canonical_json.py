"""One value, one text (RFC 8785), and no text from outside that is anything but a value or a typed error."""

from __future__ import annotations

import json
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mog.engine.errors import MogError, StoreDamaged, UsageError
from mog.engine.ledgers import chain
from mog.engine.values import canonical, parse

# RFC 8785, appendix B: the bits of a double, and its only text.
NUMBERS = {
    "0000000000000000": "0", "8000000000000000": "0", "0000000000000001": "5e-324", "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308", "ffefffffffffffff": "-1.7976931348623157e+308",
    "4340000000000000": "9007199254740992", "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000", "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23", "44b52d02c7e14af7": "1.0000000000000001e+23", "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef4f": "999999999999999900000", "444b1ae4d6e2ef50": "1e+21", "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001", "41b3de4355555553": "333333333.3333332", "41b3de4355555554": "333333333.33333325",
    "41b3de4355555555": "333333333.3333333", "41b3de4355555556": "333333333.3333334", "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333", "43143ff3c1cb0959": "1424953923781206.2",
}  # fmt: skip

plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)  # fmt: skip


@pytest.mark.parametrize(("bits", "text"), NUMBERS.items())
def test_a_number_has_the_text_of_the_rfc(bits, text):
    (number,) = struct.unpack(">d", bytes.fromhex(bits))
    assert canonical(number) == text.encode() and chain._canonical({"x": number}) == f'{{"x":{text}}}'.encode()


@pytest.mark.parametrize("bits", ["7fffffffffffffff", "7ff0000000000000"])
def test_what_is_no_number_is_refused(bits):
    with pytest.raises(UsageError):
        canonical(struct.unpack(">d", bytes.fromhex(bits))[0])


def test_keys_go_by_their_utf16_units_and_only_what_must_is_escaped():
    # U+1F600 is written as two units from D83D on, so it comes before U+FB33; by code points it would come after.
    value = {"\ufb33": 1, "\U0001f600": 2, "\u20ac": 3, "\r": 4, "1": 5, "\x80": 6, "\xf6": 7}
    expected = ["\r", "1", "\x80", "\xf6", "\u20ac", "\U0001f600", "\ufb33"]
    assert list(json.loads(canonical(value))) == expected
    assert list(json.loads(chain._canonical(value))) == expected
    text = "\x00\x1f\b\t\n\f\r\"\\/\x7f\u2028é\U0001f600"
    assert chain._canonical({"": text}) == ('{"":"\\u0000\\u001f\\b\\t\\n\\f\\r\\"\\\\/\x7f\u2028é\U0001f600"}').encode()


@settings(max_examples=120, deadline=None)
@given(st.dictionaries(st.text(), plain, max_size=5))
def test_the_quick_text_of_an_event_is_the_canonical_one(value):
    assert chain._canonical(value) == canonical(value)


@settings(max_examples=80, deadline=None)
@given(st.dictionaries(st.text(), plain, max_size=5))
def test_what_was_written_is_read_and_written_again_the_same(value):
    text = canonical(value)
    assert canonical(parse(text)) == text


@settings(max_examples=80, deadline=None)
@given(st.dictionaries(st.text(max_size=5), plain, max_size=5), st.data())
def test_a_stored_event_comes_back_and_a_changed_one_is_no_other_event(value, data):
    text = canonical(value) * data.draw(st.integers(1, 30))
    body = chain.stored(text)
    assert chain.restored(body) == text and len(body) <= len(text)
    bad = bytearray(body)
    at = data.draw(st.integers(0, len(bad) * 8 - 1))
    bad[at // 8] ^= 1 << at % 8
    assert isinstance(chain.restored(bytes(bad)), bytes)


def test_a_small_body_that_inflates_without_end_is_not_inflated():
    import zlib

    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    bomb = b"\1" + packer.compress(b"{" * (64 << 20)) + packer.flush()
    assert chain.restored(bomb) == bomb


HOSTILE = [
    b"[" * 100_000, b'{"a":' * 100_000, b"[" * 3000 + b"]" * 3000, b"\xff", b'"\xc3"', b'"\xed\xa0\x80"', b"\xef\xbb\xbf{}",
    b"", b" ", b"nul", b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999", b"01", b"1.", b".5", b"+1", b"--1", b"1e",
    b"0x10", b"'a'", b'"a', b'"\\x"', b'"\\u12"', b'"\n"', b'"\x00"', b"[1,]", b"[,1]", b"[1 2]", b'{"a" 1}', b"{a:1}",
    b'{"a":1,}', b'{"a":1,"a":1}', b'{"a":{"b":1,"b":2}}', b"{}{}", b"[]]", b"\0", b"{}\0", b"/*x*/1", b"\x0c1", b"True",
    '["\uff11"]'.encode("utf-16"),
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_no_json_is_a_typed_error(text):
    try:
        found = parse(text)
    except StoreDamaged as error:
        assert error.way_out
    else:
        with pytest.raises(MogError):  # deep, but read: then it cannot be written
            canonical(found)


@pytest.mark.parametrize("text", [b"1" * 5000, b"-" + b"9" * 400, b"1" + b"0" * 308, b"123456789012345678901234567890"])
def test_a_huge_number_is_a_finite_double_or_a_typed_error(text):
    try:
        assert abs(parse(text)) < float("inf")
    except StoreDamaged as error:
        assert error.way_out


@settings(max_examples=120, deadline=None)
@given(st.binary(max_size=40) | st.text(alphabet='{}[]",:0123456789.eE+-\\utrfalsn \n', max_size=40).map(str.encode))
def test_any_bytes_are_a_value_or_a_typed_error(text):
    try:
        found = parse(text)
    except StoreDamaged as error:
        assert error.way_out
    else:
        assert found == json.loads(text, parse_int=float)  # beyond 2^53 a reader may round


@pytest.mark.parametrize("value", [float("nan"), {1: 2}, {"a": {1}}, b"x", "\udc80", {"\udc80": 1}, 2**53, -(2**60), object()])
def test_what_has_no_single_text_is_refused(value):
    with pytest.raises(UsageError) as caught:
        chain.text_of("a.b", {"x": value})
    assert caught.value.way_out


def test_nesting_has_a_limit():
    value: dict[str, object] = {}
    for _ in range(3000):
        value = {"a": value}
    with pytest.raises(UsageError, match="nested"):
        chain.text_of("a.b", value)
