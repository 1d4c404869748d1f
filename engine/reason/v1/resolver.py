"""``contextmesh.resolver v1`` as records: the strict reader and the writer of its exact bytes.

Called by the two bridges to the mesh. What may not come in: the mesh, matching.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mog.engine.reason.v1 import fields
from mog.engine.reason.v1.fields import damaged
from mog.engine.reason.v1.records import RESOLVER_SCHEMA, VERSION, ResolutionV1, ResolverV1

_RESOLVER = ("threshold", "canonical", "aliases", "blocks", "log")
_RESOLUTION = ("mention", "canonical_id", "canonical_label", "score", "reason")


def read_resolver(data: bytes, where: str = "resolver") -> ResolverV1:
    """The resolver of a ``contextmesh.resolver v1`` text; ``where`` is the file's name for errors.

    Raises:
        UsageError: another format or version.
        StoreDamaged: anything the format forbids; the error names the field.
    """
    top = fields.schema(fields.load(data, where), RESOLVER_SCHEMA, _RESOLVER, where)
    threshold = fields.number(top["threshold"], f"{where}: threshold")
    if not 0 <= threshold <= 1:
        raise damaged(f"{threshold} is not between 0 and 1", f"{where}: threshold")
    canonical = _names(top["canonical"], f"{where}: canonical")
    aliases = _names(top["aliases"], f"{where}: aliases")
    for alias, id in aliases.items():
        _check_known(id, canonical, f"{where}: aliases[{alias!r}]")
    blocks = _blocks(top["blocks"], canonical, f"{where}: blocks")
    log = enumerate(fields.rows(top["log"], f"{where}: log"))
    rows = tuple(_resolution(row, canonical, f"{where}: log[{i}]") for i, row in log)
    return ResolverV1(threshold, canonical, aliases, blocks, rows)


def _names(value: Any, where: str) -> dict[str, str]:
    if not isinstance(value, dict):
        raise damaged("expected an object", where)
    return {fields.text(key, where): fields.text(item, f"{where}[{key!r}]") for key, item in value.items()}


def _blocks(value: Any, canonical: Mapping[str, str], where: str) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise damaged("expected an object", where)
    out = {}
    for key, ids in value.items():
        at = f"{where}[{fields.text(key, where)!r}]"
        out[key] = tuple(sorted(set(fields.texts(ids, at))))
        for id in out[key]:
            _check_known(id, canonical, at)
    return out


def _resolution(value: Any, canonical: Mapping[str, str], where: str) -> ResolutionV1:
    row = fields.record(value, _RESOLUTION, where)
    found = ResolutionV1(
        fields.text(row["mention"], f"{where}.mention"),
        fields.maybe_text(row["canonical_id"], f"{where}.canonical_id"),
        fields.maybe_text(row["canonical_label"], f"{where}.canonical_label"),
        fields.number(row["score"], f"{where}.score"),
        fields.text(row["reason"], f"{where}.reason"),
    )
    if (found.canonical_id is None) != (found.canonical_label is None):
        raise damaged("an id without a label, or a label without an id", f"{where}.canonical_label")
    if found.canonical_id is not None:
        _check_known(found.canonical_id, canonical, f"{where}.canonical_id")
        if found.canonical_label != canonical[found.canonical_id]:
            raise damaged(f"the entity is called {canonical[found.canonical_id]!r}", f"{where}.canonical_label")
    return found


def _check_known(id: str, canonical: Mapping[str, str], where: str) -> None:
    if id not in canonical:
        raise damaged(f"{id!r} is not among the canonical entities", where)


def write_resolver(resolver: ResolverV1) -> bytes:
    """The text of a resolver, byte for byte as the format has it (``fields.pretty``)."""
    return fields.pretty(
        {
            "schema": RESOLVER_SCHEMA,
            "version": VERSION,
            "threshold": resolver.threshold,
            "canonical": resolver.canonical,
            "aliases": resolver.aliases,
            "blocks": resolver.blocks,
            "log": [{name: getattr(row, name) for name in _RESOLUTION} for row in resolver.log],
        }
    )
