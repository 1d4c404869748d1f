"""Semantic anchors: hashes of spans that change with every semantic edit and with no cosmetic one.

Who calls: extraction (all symbols of a file at once), ``verify`` (one span), continuity after moves (rare terms).
What may not come in: line numbers, file access, storage. Bytes are never decoded; trees are never walked recursively.

Two hashes a span: ``span_hash`` covers it whole; ``body_hash`` masks every occurrence of the symbol's own name as an identifier,
so that it survives a rename even where the body refers to itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b

from tree_sitter import Node, Tree

from mog.engine.code.anchor_python import python_streams
from mog.engine.code.anchor_rules import TEXT_RULES
from mog.engine.code.anchor_streams import NAME, Streams
from mog.engine.code.anchor_text import text_streams
from mog.engine.code.anchor_walk import walk_hashes

VERSION = 1
"""Part of every anchor's grammar tag: raise it when the streams change."""

_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$") | frozenset(range(128, 256))
_TERM = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]{3,}")


def hash_symbols(
    lang: str,
    tree: Tree,
    data: bytes,
    spans: Sequence[tuple[int, int, str]],
    marks: Mapping[str, Sequence[Node]] | None = None,
) -> list[tuple[str, str]]:
    """Both hashes of every span, in the order given.

    Args:
        lang: language name (``python``, ``tsx``, …); one without rules of its own gets the general walk.
        tree: tree of ``data``, parsed by that language's grammar.
        data: the file's bytes, exactly as parsed.
        spans: (start byte, end byte, own name) of nodes or runs of sibling nodes, decorators included where they belong.
        marks: captures of the language's query of ``anchor_rules`` where the caller ran it together with its own.

    Returns:
        (span_hash, body_hash), 32 hex digits each (blake2b-128).
    """
    if not spans:
        return []
    ranges = [(start, end) for start, end, _ in spans]
    if lang == "python":
        streams = python_streams(tree, data, ranges)
    elif lang in TEXT_RULES:
        streams = text_streams(TEXT_RULES[lang], tree, data, ranges, marks)
    else:
        return walk_hashes(lang, tree, data, spans)
    return [_digests(streams, i, spans[i][2]) for i in range(len(spans))]


def hash_span(lang: str, tree: Tree, data: bytes, start: int, end: int, name: str) -> tuple[str, str]:
    """Both hashes of one span; the same as :func:`hash_symbols` gives it among others."""
    return hash_symbols(lang, tree, data, [(start, end, name)])[0]


def rare_terms(data: bytes, name: str = "") -> tuple[str, ...]:
    """The (at most four) longest distinct identifiers of ``data`` other than ``name``, to find a moved body by substring."""
    own = name.encode("utf-8", "surrogateescape")
    terms = {term for term in _TERM.findall(data) if term != own}
    longest = sorted(terms, key=lambda term: (-len(term), term))[:4]
    return tuple(term.decode("utf-8", "surrogateescape") for term in longest)


def _digests(streams: Streams, index: int, name: str) -> tuple[str, str]:
    f0, f1, s0, s1 = streams.slices[index]
    text = streams.glue.join(streams.fragments[f0:f1]).lstrip(b"\x02\x04")
    contents = b"\0" + b"".join(streams.contents[s0:s1])
    masked = _masked(text, name.encode("utf-8", "surrogateescape"))
    span = blake2b(text + contents, digest_size=16).hexdigest()
    return span, span if masked is text else blake2b(masked + contents, digest_size=16).hexdigest()


def _masked(text: bytes, name: bytes) -> bytes:
    """``text`` with every identifier equal to ``name`` replaced by a mark."""
    parts = text.split(name) if name else [text]
    if len(parts) == 1:
        return text
    out = [parts[0]]
    last = len(parts) - 1
    for i in range(last):
        before, after = parts[i], parts[i + 1]
        # An empty part between two occurrences means that one identifier holds the name twice.
        joined = (not before and i > 0) or (not after and i + 1 < last)
        alone = not joined and not (before and before[-1] in _WORD) and not (after and after[0] in _WORD)
        out.append(NAME if alone else name)
        out.append(after)
    return b"".join(out)
