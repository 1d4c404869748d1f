"""SCIP's bytes: what google's runtime writes is read as it is, and what is damaged or hostile is counted, never raised."""

from __future__ import annotations

import io
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scip_proto import scip_pb2

from mog.engine.code.scip import decode, schema, stream, wire
from mog.engine.code.scip.symbols import Descriptor, Symbol, dotted, parse, written

texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)
numbers = st.integers(0, 2**31 - 1)


@st.composite
def occurrences(draw: st.DrawFn) -> tuple[list[int], str, int]:
    line, first, more = draw(st.integers(0, 70_000)), draw(st.integers(0, 300)), draw(st.integers(0, 300))
    place = [line, first, first + more] if draw(st.booleans()) else [line, first, line + draw(st.integers(1, 9)), more]
    return place, draw(texts.filter(bool)), draw(st.integers(0, 127))


def read(data: bytes) -> tuple[list[bytes], Counter[tuple[str, str]]]:
    """The document messages of an index and what was wrong with it."""
    problems: Counter[tuple[str, str]] = Counter()
    file = io.BytesIO(data)
    found = [stream.read(file, part) for part in stream.parts(file, len(data), problems) if part.number == schema.DOCUMENTS]
    return found, problems


class TestWhatOthersWrite:
    @given(st.lists(occurrences(), max_size=8), texts, st.integers(0, 3))
    @settings(max_examples=120, deadline=None)
    def test_occurrences(self, several: list[tuple[list[int], str, int]], path: str, encoding: int) -> None:
        document = scip_pb2().Document(relative_path=path, position_encoding=encoding, language="x")
        for place, symbol, roles in several:
            document.occurrences.add(
                range=place, symbol=symbol, symbol_roles=roles, override_documentation=["y"], enclosing_range=[0, 0, 9]
            )
        found = decode.document(document.SerializeToString())
        wanted = [
            (*place[:2], *(place[2:] if len(place) == 4 else (place[0], place[2])), symbol, roles)
            for place, symbol, roles in several
        ]
        assert (found.path, found.encoding, found.occurrences) == (path, encoding, wanted)
        assert not found.problems

    def test_relationships_and_metadata(self) -> None:
        pb = scip_pb2()
        document = pb.Document(relative_path="a.py", text="x\n")
        info = document.symbols.add(symbol="s a b c D#", documentation=["long " * 99], display_name="D")
        info.relationships.add(symbol="s a b c E#", is_implementation=True)
        info.relationships.add(symbol="s a b c F#", is_reference=True)
        found = decode.document(document.SerializeToString())
        assert found.implements == {"s a b c D#": ["s a b c E#"]}
        assert found.text == b"x\n"
        about = pb.Metadata(project_root="file:///x", tool_info=pb.ToolInfo(name="n", version="v", arguments=["a"]))
        data = about.SerializeToString()
        assert decode.metadata(data, 0, len(data)) == schema.Metadata("n", "v", "file:///x")

    def test_lists_that_are_not_packed(self) -> None:
        body = b"".join(wire.packed_varint(schema.RANGE << 3) + wire.packed_varint(number) for number in (3, 1, 200))
        data = wire.delimited(schema.OCCURRENCES, body + wire.text(schema.SYMBOL, "s"))
        assert decode.document(data).occurrences == [(3, 1, 3, 200, "s", 0)]

    @given(numbers)
    def test_numbers_are_what_the_runtime_reads(self, number: int) -> None:
        document = scip_pb2().Occurrence.FromString(wire.number(schema.ROLES, number) + wire.packed(schema.RANGE, [number, 1]))
        assert document.symbol_roles == number
        assert list(document.range) == [number, 1]


class TestDamage:
    def whole(self) -> bytes:
        index = scip_pb2().Index()
        index.metadata.tool_info.name = "t"
        for name in ("a.py", "b.py", "c.py"):
            document = index.documents.add(relative_path=name)
            document.occurrences.add(range=[1, 2, 3], symbol="s a b c D#", symbol_roles=1)
        return bytes(index.SerializeToString())

    def test_cut_anywhere_keeps_what_came_before_and_says_so(self) -> None:
        data = self.whole()
        ends = [0]
        for part in stream.parts(io.BytesIO(data), len(data), Counter()):
            ends.append(part.at + part.size)
        for cut in range(len(data) + 1):
            found, problems = read(data[:cut])
            assert len(found) == max(0, sum(end <= cut for end in ends) - 2)
            assert bool(problems) == (cut not in ends)

    @given(st.binary(max_size=200))
    @settings(max_examples=120, deadline=None)
    def test_any_bytes_at_all(self, data: bytes) -> None:
        for document in read(data)[0]:
            decode.document(document)
        decode.document(data)

    @given(st.data())
    @settings(max_examples=80, deadline=None)
    def test_flipped_bytes(self, data: st.DataObject) -> None:
        raw = bytearray(self.whole())
        for _ in range(data.draw(st.integers(1, 4))):
            raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
        for document in read(bytes(raw))[0]:
            decode.document(document)

    @pytest.mark.parametrize(
        ("place", "why"), [([1], "not_a_range"), ([1, 2], "not_a_range"), ([2, 9, 1, 1], "not_a_range"), ([1, -4, 3], "not_a_range")]
    )
    def test_a_range_that_is_none_is_counted_by_its_field(self, place: list[int], why: str) -> None:
        document = scip_pb2().Document(relative_path="a.py")
        document.occurrences.add(range=place, symbol="s")
        document.occurrences.add(range=[0, 0, 1], symbol="s")
        found = decode.document(document.SerializeToString())
        assert found.problems == {("documents.occurrences.range", why): 1}
        assert len(found.occurrences) == 1

    def test_a_symbol_without_end_is_left_out(self) -> None:
        document = scip_pb2().Document(relative_path="a.py")
        document.occurrences.add(range=[0, 0, 1], symbol="s" * (decode.MAX_SYMBOL + 1))
        found = decode.document(document.SerializeToString())
        assert (found.occurrences, found.problems) == ([], {("documents.occurrences.symbol", "too_long"): 1})

    def test_a_document_beyond_the_limit_is_stepped_over(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(stream, "MAX_FIELD", 40)
        index = scip_pb2().Index()
        for name in ("a.py", "b" * 100, "c.py"):
            index.documents.add(relative_path=name)
        found, problems = read(index.SerializeToString())
        assert [decode.document(data).path for data in found] == ["a.py", "c.py"]
        assert problems == {("documents", "too_large"): 1}

    def test_a_length_that_lies_about_gigabytes_reads_nothing(self) -> None:
        data = b"\x12" + wire.packed_varint(1 << 40) + b"x"
        assert read(data) == ([], {("documents", "truncated"): 1})


names = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=12)
packages = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=8).filter(lambda s: s != ".")


class TestSymbols:
    @given(
        packages,
        packages,
        st.lists(st.tuples(names, st.sampled_from(["/", "#", ".", "().", "[]", "()", ":", "!"])), min_size=1, max_size=5),
    )
    @settings(max_examples=120, deadline=None)
    def test_written_and_read_back(self, manager: str, package: str, steps: list[tuple[str, str]]) -> None:
        whole = Symbol("mog", manager, package, "", tuple(Descriptor(*step) for step in steps))
        found = parse(written(whole))
        # a package that ends in a blank runs into the blank that separates: doubled blanks cannot tell
        if not any(part.startswith(" ") or part.endswith(" ") for part in (manager, package)):
            assert found == whole

    @pytest.mark.parametrize(
        ("text", "name"),
        [
            ("scip-python python python-stdlib 3.11 os/path/join().", "os.path.join"),
            ("s . . . `a.b`/C#m(+1).", "a.b.C.m"),
            ("s m p  q . `we``ird`#", "we`ird"),
        ],
    )
    def test_names_for_people(self, text: str, name: str) -> None:
        found = parse(text)
        assert found is not None
        assert dotted(found) == name

    @pytest.mark.parametrize(
        "text",
        ["", "local 3", "s", "s a b c", "s a b c ", "s a b c x", "s a b c `x", "s a b c x(", "s a b c x(é).", "s a b c (x"],
    )
    def test_no_symbol(self, text: str) -> None:
        assert parse(text) is None

    @given(st.text(max_size=60))
    @settings(max_examples=120, deadline=None)
    def test_any_text(self, text: str) -> None:
        found = parse(text)
        assert found is None or found.descriptors
