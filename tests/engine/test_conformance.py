"""Every language against cases written from its own rules: ``tests/conformance/README.md`` says how a case is written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from mog.engine.code import facts as schema
from mog.engine.code.extract import extract, supported
from mog.engine.code.languages.paths import is_test_path
from mog.engine.code.languages_map import language_of
from mog.engine.code.link import Linker
from mog.engine.code.link_calls import CANDIDATE, CERTAIN, HIERARCHY, UNRESOLVED
from mog.engine.code.link_view import MemoryView

CASES = Path(__file__).parents[1] / "conformance"
TIERS = {CERTAIN: "", HIERARCHY: " hierarchy", CANDIDATE: " candidate", UNRESOLVED: ""}
LEAST = 60
CORE = ("go", "rust", "java", "c", "cpp", "csharp", "ruby", "php")


@dataclass
class Case:
    """One case: files by path, those of a second version by path, and what is expected."""

    lang: str
    name: str
    files: dict[str, str] = field(default_factory=dict)
    after: dict[str, str] = field(default_factory=dict)
    wanted: list[str] = field(default_factory=list)


def cases() -> Iterator[Case]:
    for path in sorted(CASES.glob("*.cases")):
        text = path.read_text(encoding="utf-8").partition("\n=== ")[2]
        for part in text.split("\n=== "):
            name, _, body = part.partition("\n")
            yield parsed(Case(path.stem, name.strip()), body)


def parsed(case: Case, body: str) -> Case:
    for section in re.split(r"^--- ", body, flags=re.M)[1:]:
        title, _, text = section.partition("\n")
        place, _, version = title.strip().partition(" ")
        if place == "expected":
            case.wanted = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
        else:
            (case.after if version == "after" else case.files)[place] = text.rstrip("\n") + "\n"
    assert case.files and case.wanted, f"{case.lang}: {case.name} has no files, or expects nothing"
    return case


class Found:
    """What mog says of a case, as lines of the same form."""

    def __init__(self, case: Case) -> None:
        self.facts = facts_of(case.files)
        self.after = facts_of(case.after)
        self.lines = set(self._symbols()) | set(self._anchors())
        linker = Linker(MemoryView(self.facts))
        for path in self.facts:
            self.lines |= set(self._links(path, linker))
            self.lines.add(f"{'test' if is_test_path(path) else 'not-test'} {path}")

    def _symbols(self) -> Iterator[str]:
        for path, facts in self.facts.items():
            for row in facts["syms"]:
                qual = row[schema.QUAL]
                yield f"sym {path} {qual} {row[schema.KIND]}"
                yield f"line {path}::{qual} {row[schema.LINE]}-{row[schema.END]}"
                yield f"sig {path}::{qual} {' '.join(row[schema.SIG].split())}"
                yield f"doc {path}::{qual} {' '.join(row[schema.DOC].split())}".rstrip()

    def _anchors(self) -> Iterator[str]:
        for path, facts in self.after.items():
            new = {row[schema.QUAL]: row for row in facts["syms"]}
            for row in self.facts[path]["syms"]:
                other = new.get(row[schema.QUAL])
                if other is not None:
                    same = row[schema.SPAN] == other[schema.SPAN]
                    yield f"anchor {path}::{row[schema.QUAL]} {'same' if same else 'changed'}"

    def _links(self, path: str, linker: Linker) -> Iterator[str]:
        for scope, target, at, verb, tier, _ in linker.link_file(path).edges:
            source = path if scope < 0 else f"{path}::{self.facts[path]['syms'][scope][schema.QUAL]}"
            if not target:
                yield f"{verb} {source} -> {at}"
            else:
                to = target if at == -1 else f"{target}::{self.facts[target]['syms'][at][schema.QUAL]}"  # type: ignore[index]
                yield f"{verb} {source} -> {to}{TIERS[tier]}"


def facts_of(files: dict[str, str]) -> dict[str, schema.Facts]:
    """Facts by path; a file of no language with symbols has none, as in the index."""
    return {path: extract(language_of(path), text.encode(), path) for path, text in files.items() if supported(language_of(path))}


def compared(case: Case) -> tuple[set[str], set[str]]:
    """What is expected and what was found of the same questions."""
    found = Found(case).lines
    asked = {question(line) for line in case.wanted}
    wanted = {line for line in case.wanted if not line.endswith("-> -")}
    return wanted, {line for line in found if question(line) in asked}


def question(line: str) -> str:
    """What a line answers: all lines with the same question are its whole answer."""
    verb, rest = line.split(" ", 1)
    if verb in ("calls", "inherits", "imports", "references"):
        return f"{verb} {rest.partition(' -> ')[0]}"
    if verb in ("test", "not-test"):
        return f"test {rest}"
    return f"{verb} {rest.split()[0]}"


ALL = list(cases())


@pytest.mark.parametrize("case", ALL, ids=lambda case: f"{case.lang}: {case.name}")
def test_a_case_of_a_language(case: Case) -> None:
    wanted, found = compared(case)
    assert sorted(found) == sorted(wanted)


@pytest.mark.parametrize("lang", sorted({case.lang for case in ALL} & set(CORE)))
def test_a_language_has_cases_of_every_kind(lang: str) -> None:
    mine = [case for case in ALL if case.lang == lang]
    assert len(mine) >= LEAST and len({case.name for case in mine}) == len(mine)
    verbs = {line.split()[0] for case in mine for line in case.wanted}
    assert verbs >= {"sym", "calls", "imports", "inherits", "test", "not-test", "anchor", "line", "sig"}
