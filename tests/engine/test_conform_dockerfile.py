"""Dockerfiles: stages, keys, what a stage is built and copied from. Expected by the reference of the Dockerfile."""

from __future__ import annotations

import pytest
from conform import anchor, defined, facts, links, row, span

from mog.engine.code import facts as schema

A = "FROM alpine AS a\n"
DEFINED = {
    "named stage": (A, "a"),
    "nameless stage": ("FROM alpine\n", "stage0"),
    "second nameless": ("FROM alpine AS a\nFROM alpine\n", "a stage1"),
    "lower case": ("from alpine as a\n", "a"),
    "platform": ("FROM --platform=linux/amd64 alpine AS a\n", "a"),
    "arg before the first stage": ("ARG V=1\nFROM alpine:$V\n", "V stage0"),
    "arg of a stage": (A + "ARG V\n", "a a.V"),
    "env": (A + "ENV X=1\n", "a a.X"),
    "env of the old form": (A + "ENV X some words\n", "a a.X"),
    "several in one": (A + "ENV X=1 Y=2\n", "a a.X a.Y"),
    "over lines": (A + "ENV X=1 \\\n    Y=2\n", "a a.X a.Y"),
    "quoted value": (A + 'ENV X="a b" Y=2\n', "a a.X a.Y"),
    "same key in two stages": (A + "ARG V\nFROM alpine AS b\nARG V\n", "a a.V b b.V"),
    "same key twice": (A + "ENV X=1\nENV X=2\n", "a a.X a.X#2"),
    "comment": (A + "# ENV X=1\n", "a"),
    "label is no key": (A + "LABEL x=1\n", "a"),
    "run with an assignment": (A + "RUN X=1 make\n", "a"),
    "here document": (A + "RUN <<EOF\nENV X=1\nEOF\n", "a"),
    "name with a dot": ("FROM alpine AS a.b\n", "a.b"),
    "empty": ("", ""),
}
LINKS = {
    "image": (A, {"a inherits !external:alpine"}),
    "tag and digest are left out": ("FROM r.io:5000/x/y:1.2@sha256:ab AS a\n", {"a inherits !external:r.io:5000/x/y"}),
    "stage": (A + "FROM a AS b\n", {"a inherits !external:alpine", "b inherits a"}),
    "stage in another case": (
        "FROM alpine AS Base\nFROM base AS b\n",
        {"Base inherits !external:alpine", "b inherits Base"},
    ),
    "a later stage is an image": (
        "FROM b AS a\nFROM alpine AS b\n",
        {"a inherits !external:b", "b inherits !external:alpine"},
    ),
    "copy": (A + "FROM x AS b\nCOPY --from=a /x /y\n", {"b references a"}),
    "copy by number": (A + "FROM x AS b\nCOPY --from=0 /x /y\n", {"b references a"}),
    "copy with flags": (A + "FROM x AS b\nCOPY --chown=1:1 --from=a /x /y\n", {"b references a"}),
    "copy from an image": (A + "COPY --from=nginx:1 /x /y\n", {"a references !external:nginx"}),
    "copy from a variable": (A + "COPY --from=$X /x /y\n", set()),
    "copy from the context": (A + "COPY x y\n", set()),
    "mount": (A + "FROM x AS b\nRUN --mount=type=bind,from=a,target=/x make\n", {"b references a"}),
}


@pytest.mark.parametrize(("source", "expected"), DEFINED.values(), ids=DEFINED)
def test_stages_and_keys_are_symbols(source: str, expected: str) -> None:
    assert defined("Dockerfile", source) == expected


@pytest.mark.parametrize(("source", "expected"), LINKS.values(), ids=LINKS)
def test_links(source: str, expected: set[str]) -> None:
    kind = "inherits" if any(" inherits " in edge for edge in expected) else "references"
    assert links({"Dockerfile": source}, "Dockerfile", kind) == expected


@pytest.mark.parametrize("path", ["Dockerfile", "Containerfile", "Dockerfile.dev", "x/app.dockerfile"])
def test_every_name_of_such_a_file_is_known(path: str) -> None:
    assert defined(path, A) == "a"


def test_a_stage_ends_with_its_last_instruction() -> None:
    source = A + "RUN x\n\n# of the next\nFROM b\nRUN y\n"
    assert span("Dockerfile", source, "a") == "FROM alpine AS a\nRUN x"
    assert [(one[schema.LINE], one[schema.END]) for one in facts("Dockerfile", source)["syms"]] == [(1, 2), (5, 6)]


def test_no_value_stands_in_the_facts() -> None:
    found = facts("Dockerfile", A + "ENV X=hidden\nARG Y=hidden\n")
    assert "hidden" not in repr(found)
    assert row(found, "a.X")[schema.SIG] == "ENV X"


def test_comments_move_no_anchor_and_values_do() -> None:
    assert anchor("Dockerfile", A + "RUN x\n", "a") == anchor("Dockerfile", A + "# why\nRUN x\n", "a")
    assert anchor("Dockerfile", A + "ENV X=1\n", "a.X") != anchor("Dockerfile", A + "ENV X=2\n", "a.X")
    assert anchor("Dockerfile", A + "RUN x\n", "a") != anchor("Dockerfile", A + "RUN y\n", "a")


@pytest.mark.parametrize(
    "data",
    [b"FROM a\n" * 5_000, b"FROM " + b"x" * 100_000, b"RUN \\\n" * 20_000, b"\xff\xfe\nFROM \xc3(", b"FROM a\x00b\n", b"ENV " + b"a=1 " * 20_000,
     b"RUN --mount=" + b"a," * 20_000, b"RUN <<EOF\n" * 5_000],
    ids=lambda data: str(data[:14]),
)  # fmt: skip
def test_hostile_input_is_survived(data: bytes) -> None:
    assert len(facts("Dockerfile", data)["syms"]) <= 400
