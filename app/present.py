"""The view edge: records of the engine become JSON objects and plain lines here, and are made safe to show, once.

Who calls: ``app/cli`` (stdout), ``app/tui``, ``app/mcp``. ``app/plain.py`` builds the lines, this file the JSON.
What may not come in: asking the workspace, writing to a stream, knowing a terminal, adding to what a record says.

The promise: a string that left ``clean`` holds no control character, no bidirectional override, nothing invisible and
no half of a surrogate pair. Names in a repository are written by strangers; a terminal obeys such characters.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, TypeVar

from mog.engine import model as m
from mog.engine.errors import NotFound

T = TypeVar("T")
JsonObject = dict[str, Any]

_SPACES = frozenset("\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000")
# printable to Python, drawn as nothing: Hangul fillers, braille blank, variation selectors (not the emoji ones)
_BLANK = re.compile("[\u115f\u1160\u2800\u3164\uffa0\u034f\ufe00-\ufe0d\U000e0100-\U000e01ef]")
_ESCAPE = re.compile(r"\\x([0-9a-f]{2})|\\u([0-9a-f]{4})|\\U([0-9a-f]{8})|\\([nrt])")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


class Block(str):
    """A text whose line breaks and tabs are its own (source code); ``clean`` keeps them."""

    __slots__ = ()


def _visible(char: str) -> str:
    """One unsafe character as an escape: ``\\x1b``, ``\\u202e``, ``\\U000e0041``; an undecodable byte as ``\\xff``."""
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    if char in _SHORT:
        return _SHORT[char]
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def clean(text: str, *, keep: str = "") -> str:
    """``text`` with every character that could steer or deceive a terminal written as a visible escape.

    Args:
        text: anything, in ``os.fsdecode`` form where it is a path.
        keep: control characters to leave alone (``"\\n\\t"`` for a block of source).
    """
    plain = text
    for char in keep:
        plain = plain.replace(char, "")
    if plain.isprintable() and not _BLANK.search(plain):
        return text
    safe = [c if (c.isprintable() and not _BLANK.match(c)) or c in _SPACES or c in keep else _visible(c) for c in text]
    return "".join(safe)


def restore(text: str) -> str:
    """Inverse of ``clean`` for names typed back by a person or a script: escapes become what they stand for."""

    def back(match: re.Match[str]) -> str:
        byte, short, long, letter = match.groups()
        if letter:
            return {"n": "\n", "r": "\r", "t": "\t"}[letter]
        code = int(byte or short or long, 16)
        if code > 0x10FFFF:
            return match.group()
        return chr(code + 0xDC00) if byte and code >= 0x80 else chr(code)

    return _ESCAPE.sub(back, text)


def meant(ask: Callable[[str], T], target: str) -> T:
    """``ask(target)``, and where nothing answers once more with the escapes of our own output turned back.

    Raises:
        NotFound, UsageError: neither spelling is known, or several answer.
    """
    try:
        return ask(target)
    except NotFound:
        spelled = restore(target)
        if spelled == target:
            raise
        return ask(spelled)


def clean_tree(value: Any) -> Any:
    """A JSON value with every string in it cleaned, keys included."""
    if isinstance(value, Block):
        return Block(clean(value, keep="\n\t"))  # still a block where a tree is cleaned a second time
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {clean(str(key)): clean_tree(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean_tree(item) for item in value]
    return value


def as_json(record: object) -> JsonObject:
    """Any record of ``engine/model.py`` as a JSON object, safe to print.

    Raises:
        TypeError: the record has no JSON form.
    """
    return clean_tree(_raw(record))  # type: ignore[no-any-return]


def _raw(record: object) -> JsonObject:
    shape = _JSON.get(type(record))
    if shape is None:
        raise TypeError(f"no JSON form for {type(record).__name__}")
    return shape(record)


def _plain(record: Any) -> JsonObject:
    """Field by field, records inside included."""
    return {field.name: _value(getattr(record, field.name)) for field in fields(record)}


def _value(value: Any) -> Any:
    if type(value) in _JSON:
        return _raw(value)
    if isinstance(value, m.Tier):
        return value.name
    if isinstance(value, m.Freshness):
        return value.value
    if isinstance(value, (tuple, list)):
        return [_value(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _value(item) for key, item in value.items()}
    return value


def _node(node: m.Node) -> JsonObject:
    out: JsonObject = {
        "id": node.id,
        "locator": node.locator,
        "type": node.type,
        "kind": node.kind,
        "name": node.name,
        "qual": node.qual,
        "path": node.path,
        "line": node.line,
        "end_line": node.end_line,
        "signature": node.signature,
        "doc": node.doc,
        "gated": node.gated,
    }
    if node.path and clean(node.path) != node.path:
        out["path_hex"] = os.fsencode(node.path).hex()
    return out


def _edge(edge: m.Edge) -> JsonObject:
    return {
        **_node(edge.other),
        "direction": "out" if edge.outgoing else "in",
        "edge": edge.kind,
        "tier": edge.tier.name,
        "freshness": edge.freshness.value,
        "written_as": edge.name,
        "count": edge.count,
        **({"known_by": edge.known_by} if edge.known_by else {}),
    }


def _boundary(boundary: m.Boundary) -> JsonObject:
    """The limits of an answer, as top-level keys of the answer."""
    return _plain(boundary)


def _hit(hit: m.Hit) -> JsonObject:
    return {**_node(hit.node), "score": round(hit.score, 6), "freshness": hit.freshness.value, "tier": "certain"}


def _search(answer: m.SearchAnswer) -> JsonObject:
    return {
        "index": _plain(answer.index),
        "query": answer.query,
        "items": [_hit(hit) for hit in answer.hits],
        "total": answer.total,
        **_boundary(answer.boundary),
    }


def _totals(totals: Mapping[tuple[str, m.Tier], int]) -> JsonObject:
    out: dict[str, dict[str, int]] = {}
    for (kind, tier), count in sorted(totals.items()):
        out.setdefault(kind, {})[tier.name] = count
    return out


def _neighborhood(answer: m.Neighborhood) -> JsonObject:
    return {
        "index": _plain(answer.index),
        "node": {**_node(answer.node), "freshness": answer.freshness.value, "tier": "certain"},
        "items": [_edge(edge) for edge in (*answer.edges_in, *answer.edges_out)],
        "totals": {"in": _totals(answer.totals_in), "out": _totals(answer.totals_out)},
        "pins": [_pin_state(state) for state in answer.pins],
        "co_changed": [_co_changed(one) for one in answer.co_changed],
        "history": answer.history,
        **_boundary(answer.boundary),
    }


def _co_changed(one: m.CoChanged) -> JsonObject:
    return {**_plain(one), "confidence": round(one.confidence, 4)}


def _named(one: m.Named) -> JsonObject:
    return {**_node(one.node), "count": one.count}


def _reached(item: m.Reached) -> JsonObject:
    return {
        **_node(item.node),
        "depth": item.depth,
        "via": item.via.locator if item.via else "",
        "edge": item.kind,
        "tier": item.tier.name,
        "freshness": item.freshness.value,
    }


def _impact(answer: m.ImpactAnswer) -> JsonObject:
    return {
        "index": _plain(answer.index),
        "seed": _node(answer.seed),
        "items": [_reached(item) for item in answer.reached],
        "total": answer.total,
        "per_depth": list(answer.per_depth),
        "tests": [_node(node) for node in answer.tests],
        "tests_total": answer.tests_total,
        "files": answer.files,
        "seeds": [_node(node) for node in answer.seeds or (answer.seed,)],
        "maybe_total": answer.maybe_total,
        "test_files": list(answer.test_files),
        "test_files_total": answer.test_files_total,
        "importers": [node.path for node in answer.importers],
        "importers_total": answer.importers_total,
        "importers_all": answer.importers_all,
        "named": [_named(one) for one in answer.named],
        "named_total": answer.named_total,
        "co_changed": [_co_changed(one) for one in answer.co_changed],
        "history": answer.history,
        "after": answer.after,
        "next": answer.next or None,
        "surfaces": [_node(node) for node in answer.surfaces],
        "surfaces_by_role": dict(answer.surfaces_by_role),
        **_boundary(answer.boundary),
    }


def _surface(row: m.Surface) -> JsonObject:
    return {
        **_node(row.node),
        "role": row.node.signature,
        "files": list(row.files),
        "behind": [_node(node) for node in row.behind],
        "behind_total": row.behind_total,
        "used": dict(row.used),
    }


def _contracts(answer: m.ContractsAnswer) -> JsonObject:
    return {
        "index": _plain(answer.index),
        "role": answer.role,
        "items": [_surface(row) for row in answer.rows],
        "total": answer.total,
        "by_role": dict(answer.by_role),
        "packs": [_plain(state) for state in answer.packs],
        "after": answer.after,
        "next": answer.next or None,
        **_boundary(answer.boundary),
    }


def _pin(pin: m.Pin) -> JsonObject:
    where = pin.anchor.locator
    return {"id": pin.id, "locator": where, "note": pin.note, "recorded_at": pin.recorded_at, "seq": pin.seq}


def _pin_state(state: m.PinState) -> JsonObject:
    return {
        **_pin(state.pin),
        "freshness": state.freshness.value,
        "reason": state.reason,
        "now_at": state.now_at,
        "lines": list(state.lines) if state.lines else None,
    }


def _verify(report: m.VerifyReport) -> JsonObject:
    """``items`` lists what is not fresh; ``mog pins`` lists all."""
    return {
        "checked": report.checked,
        "fresh": report.fresh,
        "drifted": report.drifted,
        "moved": report.moved,
        "missing": report.missing,
        "unknown": report.unknown,
        "fixed": report.fixed,
        "drift_rate": round(report.drift_rate, 6),
        "items": [_pin_state(state) for state in report.states if state.freshness is not m.Freshness.fresh],
        "index": _plain(report.index),
    }


_TIERS = ("certain", "hierarchy", "candidate")


def _counts(health: m.ScanHealth) -> JsonObject:
    """What was and was not indexed, as top-level keys of an answer."""
    return {
        "skipped": dict(health.skipped),
        "gated": health.gated,
        "gated_symbols": health.gated_symbols,
        "languages": dict(health.languages),
        "seen": health.seen,
        "text_only": health.text_only,
        "no_symbols": dict(health.no_symbols),
        "problems": dict(health.problems),
        "problem_count": health.problem_count,
        "warnings": list(health.warnings),
        "git": health.git,
        **({"scip": _plain(health.scip)} if health.scip is not None else {}),
    }


def _calls(tiers: Mapping[str, int]) -> JsonObject:
    return {"calls_by_tier": {tier: tiers.get(tier, 0) for tier in _TIERS}, "unknown": tiers.get("unknown", 0)}


def _index_report(report: m.IndexReport) -> JsonObject:
    return {
        "files": report.files,
        "symbols": report.symbols,
        "edges": dict(report.edges),
        **_calls(report.calls_by_tier),
        **_counts(report.health),
        "facts_hash": report.facts_hash,
        "generation": report.generation,
        "parsed": report.parsed,
        "relinked": report.relinked,
        "changed": report.changed,
        "seconds": round(report.seconds, 3),
        "cpu_seconds": round(report.cpu_seconds, 3),
    }


def _status(status: m.Status) -> JsonObject:
    return {
        "root": status.root,
        "indexed": status.indexed,
        "index": _plain(status.index),
        "files": status.files,
        "symbols": status.symbols,
        "edges": dict(status.edges),
        **_calls(status.calls_by_tier),
        **_counts(status.health),
        "pending": status.pending,
        "pins": status.pins,
        "bytes_on_disk": status.bytes_on_disk,
        "age_seconds": round(status.age_seconds, 1),
        "facts_hash": status.facts_hash,
        "watcher": status.watcher,
    }


def _map_row(row: m.MapRow) -> JsonObject:
    return {
        "path": row.path,
        "locator": f"file:{row.path}",
        "language": row.language,
        "symbols": row.symbols,
        "rank": round(row.rank, 6),
        "top": [_node(node) for node in row.top],
        **({"past": _past(row.past)} if row.past is not None else {}),
    }


def _past(past: m.Past) -> JsonObject:
    return {**_plain(past), "along": [_plain(one) for one in past.along]}


def _map(answer: m.MapAnswer) -> JsonObject:
    return {
        "index": _plain(answer.index),
        "items": [_map_row(row) for row in answer.rows],
        **_boundary(answer.boundary),
    }


_JSON: dict[type, Callable[[Any], JsonObject]] = {
    m.Node: _node,
    m.Edge: _edge,
    m.Boundary: _boundary,
    m.Hit: _hit,
    m.SearchAnswer: _search,
    m.Neighborhood: _neighborhood,
    m.CoChanged: _co_changed,
    m.Along: _plain,
    m.Past: _past,
    m.Named: _named,
    m.Reached: _reached,
    m.ImpactAnswer: _impact,
    m.Surface: _surface,
    m.PackState: _plain,
    m.ContractsAnswer: _contracts,
    m.Pin: _pin,
    m.PinState: _pin_state,
    m.VerifyReport: _verify,
    m.IndexReport: _index_report,
    m.Status: _status,
    m.MapRow: _map_row,
    m.MapAnswer: _map,
    m.IndexStamp: _plain,
    m.Anchor: _plain,
    m.ScanHealth: _plain,
    m.ScipHealth: _plain,
    m.ScipExport: _plain,
    m.Progress: _plain,
    m.Check: _plain,
    m.GrammarInfo: _plain,
    m.Change: _plain,
}
