"""The manifest of a ``contextmesh.session`` generation, versions 1 and 2: the strict reader, names of files, the writer.

Called by ``session_dir`` and ``session_write``. A manifest is the commit: it names the files of its generation, and no
others. Version 2 adds plan, run ledger and the ledger's head; a later version is refused. What may not come in: files.
"""

from __future__ import annotations

import re
from typing import Any

from mog.engine.errors import UsageError
from mog.engine.executor.v1.records import SESSION_SCHEMA, SESSION_VERSION, ManifestV1, WalkerV1
from mog.engine.executor.v1.runledger import digest
from mog.engine.reason.v1 import fields
from mog.engine.reason.v1.fields import damaged
from mog.engine.reason.v1.records import PAIRS

POINTER = "session.json"
LOCK = "session.lock"
LOCK_NOTE = "session.lock.meta"
SUMS_SCHEMA = "mog.session-sums"
STEMS = {"graph": "graph", "resolver": "resolver", "execution": "execution", "ledger": "runledger"}
MAX_GENERATION = 999_999_998
LAST_OF_SIX = 999_999
"""Highest generation whose manifest the earlier package finds by its numbered name; later ones it finds by the pointer."""
_V1 = ("generation", "rounds", "walker", "graph", "resolver")
_V2 = (*_V1, "execution", "ledger", "ledger_head")
_WALKER = ("hop_budget", "policy", "flat_k", "max_expand")
_NUMBERED = re.compile(r"session-([0-9]{6}|[1-9][0-9]{6,8})\.json")


def file_name(stem: str, generation: int) -> str:
    """Name of a file of a generation: ``graph-000003.json``."""
    return f"{stem}-{generation:06d}.json"


def generation_of(name: str) -> int | None:
    """The generation a file name claims to be the manifest of; None when it is no such name."""
    match = _NUMBERED.fullmatch(name)
    return int(match.group(1)) if match and int(match.group(1)) else None


def read_manifest(data: bytes, where: str = POINTER) -> ManifestV1:
    """The manifest of its text; ``where`` is the file's name for errors.

    Raises:
        UsageError: a version from the future.
        StoreDamaged: another format, missing or unknown fields, names that are not those of the generation, half a plan.
    """
    value = fields.load(data, where)
    if not isinstance(value, dict) or value.get("schema") != SESSION_SCHEMA:
        raise damaged(f"this is no {SESSION_SCHEMA} file", f"{where}: schema")
    version = value.get("version")
    if type(version) is int and version > SESSION_VERSION:
        way_out = "upgrade mog, or export it as version 2"
        raise UsageError(f"version {version} of {SESSION_SCHEMA} comes from the future", where=where, way_out=way_out)
    if type(version) is not int or version < 1:
        raise damaged(f"a version from 1 to {SESSION_VERSION}, not {str(version)[:40]!r}", f"{where}: version")
    row = fields.record(value, ("schema", "version", *(_V1 if version == 1 else _V2)), where)
    generation = fields.count(row["generation"], f"{where}: generation", 1)
    names = {name: _named(row.get(name), name, generation, f"{where}: {name}") for name in STEMS}
    manifest = ManifestV1(
        version, generation, fields.count(row["rounds"], f"{where}: rounds"), walker_of(row["walker"], f"{where}: walker"),
        _there(names["graph"], f"{where}: graph"), _there(names["resolver"], f"{where}: resolver"), names["execution"],
        names["ledger"], _head(row.get("ledger_head"), f"{where}: ledger_head"),
    )  # fmt: skip
    _check_unit(manifest, where)
    return manifest


def _named(value: Any, field: str, generation: int, where: str) -> str | None:
    if value is None:
        return None
    text = fields.text(value, where)
    expected = file_name(STEMS[field], generation)
    if text != expected:  # no path, no other generation
        raise damaged(f"generation {generation} names {text!r:.80}, where only {expected!r} may stand", where)
    return text


def _there(name: str | None, where: str) -> str:
    if name is None:
        raise damaged("a session without this file is none", where)
    return name


def _head(value: Any, where: str) -> str | None:
    return None if value is None else digest(value, where)


def _check_unit(manifest: ManifestV1, where: str) -> None:
    """Plan, run ledger and its head are there together or not at all."""
    unit = {"execution": manifest.execution, "ledger": manifest.ledger, "ledger_head": manifest.ledger_head}
    missing = sorted(name for name, value in unit.items() if value is None)
    if missing and len(missing) < len(unit):
        what = f"{' and '.join(missing)} missing: plan, run ledger and its head are there together or not at all"
        raise damaged(what, f"{where}: {missing[0]}")


def walker_of(value: Any, where: str) -> WalkerV1:
    """Settings of walks of their JSON. Raises StoreDamaged."""
    row = fields.record(value, _WALKER, where)
    policy = fields.texts(row["policy"], f"{where}.policy")
    for k, name in enumerate(policy):
        if name not in PAIRS:
            raise damaged(f"no edge type {name!r:.80}", f"{where}.policy[{k}]")
        if name in policy[:k]:
            raise damaged(f"the edge type {name!r} stands twice", f"{where}.policy[{k}]")
    budget, baseline, most = (fields.count(row[n], f"{where}.{n}", 1) for n in ("hop_budget", "flat_k", "max_expand"))
    return WalkerV1(budget, policy, baseline, most)


def walker_json(walker: WalkerV1) -> dict[str, Any]:
    """Plain JSON of settings of walks."""
    return {name: list(v) if isinstance(v := getattr(walker, name), tuple) else v for name in _WALKER}


def write_manifest(manifest: ManifestV1) -> bytes:
    """The text of a manifest, byte for byte as its version has it (``fields.pretty``)."""
    keys = _V1 if manifest.version == 1 else _V2
    row: dict[str, Any] = {name: getattr(manifest, name) for name in keys}
    return fields.pretty({"schema": SESSION_SCHEMA, "version": manifest.version, **row, "walker": walker_json(manifest.walker)})
