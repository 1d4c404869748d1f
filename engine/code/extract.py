"""From the bytes of one file to its facts, whatever the language. Called in worker processes by the indexer.

What may not come in: other files, the disk, and any language's own rules (``languages/<module>.py`` has those). A language
module offers ``facts_of(lang, tree, data, path) -> Facts``; it never raises for odd input, never recurses over the tree.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, cast

from tree_sitter import Parser, Tree

from mog.engine.code import facts as schema
from mog.engine.code import grammars

# language → module in engine/code/languages
LANGUAGES: dict[str, str] = {
    "python": "python",
    "javascript": "javascript",
    "typescript": "javascript",
    "tsx": "javascript",
    "jsconfig": "javascript_config",
}
WITHOUT_GRAMMAR = frozenset({"jsconfig"})

FactsOf = Callable[[str, Tree | None, bytes, str], schema.Facts]


def extract(
    lang: str, data: bytes, path: str, gated_spans: Iterable[tuple[int, int]] = (), *, anchored: bool = True
) -> schema.Facts:
    """Facts of one file (see ``facts.py``); JSON-able, and the same for the same bytes, path and grammar.

    Args:
        lang: language name; one without an extractor or grammar gives empty facts with a problem.
        data: the file's bytes, UTF-8 (other encodings are decoded to UTF-8 by the caller).
        path: path relative to the root; decides only what a path can decide (is it a test, a package).
        gated_spans: byte spans (start, end) that must not leave the file: the symbols touching them keep only their name.
        anchored: with both hashes of every symbol; the index does without (anchors are compared with the disk only).
    """
    work = _worker(lang)
    if work is None:
        return _empty(lang, "unsupported_grammar")
    parser, facts_of = work
    tree = grammars.parse(parser, data) if parser is not None else None
    if parser is not None and tree is None:
        return _empty(lang, "parse_timeout")
    found = facts_of(lang, tree, data, path)
    if anchored and tree is not None:
        _anchor(lang, tree, data, found["syms"])
    if tree is not None and tree.root_node.has_error:
        found["problems"].append(["syntax_error", 0])
    schema.apply_gates(found, tuple(gated_spans))
    return found


def supported(lang: str) -> bool:
    """Whether files of this language get symbols (an extractor exists and its grammar loads)."""
    return _worker(lang) is not None


def extractor_version(lang: str) -> str:
    """Key of everything that decides the facts besides bytes and path: schema, extractor, grammar."""
    module = LANGUAGES.get(lang)
    version = getattr(importlib.import_module(f"mog.engine.code.languages.{module}"), "VERSION", 0) if module else 0
    return f"{schema.VERSION}.{version}.{grammars.parser_digest(lang)}"


@cache
def _worker(lang: str) -> tuple[Parser | None, FactsOf] | None:
    module = LANGUAGES.get(lang)
    parser = grammars.parser(lang) if module and lang not in WITHOUT_GRAMMAR else None
    if module is None or (parser is None and lang not in WITHOUT_GRAMMAR):
        return None
    loaded: Any = importlib.import_module(f"mog.engine.code.languages.{module}")
    return parser, cast(FactsOf, loaded.facts_of)


def _anchor(lang: str, tree: Tree, data: bytes, rows: list[list[Any]]) -> None:
    """Fill the hashes of symbol rows in place."""
    from mog.engine.code.anchors import hash_symbols

    hashes = hash_symbols(lang, tree, data, [(row[schema.FULL], row[schema.STOP], row[schema.NAME]) for row in rows])
    for row, (span, body) in zip(rows, hashes, strict=True):
        row[schema.SPAN], row[schema.BODY] = span, body


def _empty(lang: str, reason: str) -> schema.Facts:
    found = schema.empty(lang)
    found["problems"].append([reason, 0])
    return found
