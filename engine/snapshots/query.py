"""Impact queries as documents: read strictly, every bound checked, every refusal typed.

Who calls: ``room``. What may not come in: the index, the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mog.engine.errors import StoreDamaged, UsageError
from mog.engine.ontology import Ontology
from mog.engine.snapshots.model import IMPACT_QUERY, ImpactQuery
from mog.engine.values import parse

MAX_BYTES = 256_000
SEEDS = 64
KINDS = 64
DEPTH, RESULTS = 8, 500
DIRECTIONS = ("inbound", "outbound", "both")
_FIELDS = frozenset(
    "schema snapshot_digest seeds allowed_edge_types direction max_depth allowed_node_kinds max_results scope_path".split()
)


def read(data: bytes, ontology: Ontology) -> ImpactQuery:
    """The query in a JSON text. Raises UsageError as ``checked``."""
    if len(data) > MAX_BYTES:
        raise _refused(f"it has {len(data):,} bytes, {MAX_BYTES:,} is the limit", "", "name fewer seeds")
    try:
        document = parse(data)
    except StoreDamaged as error:
        raise _refused("it is not JSON, or nested too deep", "", "write one JSON object in UTF-8") from error
    return made(document, ontology)


def made(document: object, ontology: Ontology) -> ImpactQuery:
    """The query in a JSON value. Raises UsageError: no object, an unknown field, and as ``checked``."""
    if not isinstance(document, Mapping):
        raise _refused("it is no JSON object", "", "write one JSON object")
    unknown = sorted(str(name) for name in document.keys() - _FIELDS)
    if unknown:
        raise _refused("it has a field that means nothing", unknown[0][:60], f"known are {', '.join(sorted(_FIELDS))}")
    if document.get("schema", IMPACT_QUERY) != IMPACT_QUERY:
        raise _refused("its schema is another one", "schema", f'write "{IMPACT_QUERY}"')
    asked = ImpactQuery(
        _text(document, "snapshot_digest"), _texts(document, "seeds", SEEDS), _texts(document, "allowed_edge_types", KINDS),
        _text(document, "direction", "inbound"), _whole(document, "max_depth", 2), _texts(document, "allowed_node_kinds", KINDS),
        _whole(document, "max_results", 100), _text(document, "scope_path"),
    )  # fmt: skip
    return checked(asked, ontology)


def checked(query: ImpactQuery, ontology: Ontology) -> ImpactQuery:
    """The same query, its bounds looked at.

    Raises:
        UsageError: no digest, no or too many seeds, an edge type or kind that GRAPH.md does not have, a number out of its bounds, a
            scope that leads out of the repository.
    """
    if not query.snapshot_digest:
        raise _refused(
            "it names no snapshot", "snapshot_digest", "`mog context snapshot --json` says identity.identity_digest"
        )
    if not query.seeds:
        raise _refused("it names no seed", "seeds", "name at least one node by id, locator or name")
    if len(query.seeds) > SEEDS:
        raise _refused(f"it names {len(query.seeds)} seeds", "seeds", f"name at most {SEEDS}")
    code = sorted(name for name, row in ontology.edge_types.items() if row.layer == "code")
    if not query.allowed_edge_types:
        raise _refused("it allows no edge type", "allowed_edge_types", f"name some of {', '.join(code)}")
    _each_of(query.allowed_edge_types, code, "allowed_edge_types")
    _each_of(query.allowed_node_kinds, _kinds(ontology), "allowed_node_kinds")
    _each_of((query.direction,), DIRECTIONS, "direction")
    if not 0 <= query.max_depth <= DEPTH:
        raise _refused(f"it goes {query.max_depth} steps", "max_depth", f"write 0 to {DEPTH}")
    if not 1 <= query.max_results <= RESULTS:
        raise _refused(f"it wants {query.max_results} results", "max_results", f"write 1 to {RESULTS}")
    parts = query.scope_path.split("/")
    if query.scope_path.startswith("/") or ".." in parts or "\0" in query.scope_path or "\\" in query.scope_path:
        raise _refused("its scope leads out of the repository", "scope_path", "write a path relative to the root")
    return query


def _kinds(ontology: Ontology) -> list[str]:
    """Types of nodes and their kinds: either may be named."""
    rows = ontology.node_types.values()
    return sorted({name for row in rows for name in (row.symbol, *row.kinds)})


def _each_of(given: tuple[str, ...], known: object, field: str) -> None:
    names = list(known) if isinstance(known, (list, tuple)) else []
    for name in given:
        if name not in names:
            raise _refused(f"{name!r:.60} is none of {field}", field, f"write some of {', '.join(names)}")


def _text(document: Mapping[str, Any], name: str, usual: str = "") -> str:
    value = document.get(name, usual)
    if not isinstance(value, str) or len(value) > 4_096:
        raise _refused("a text is wanted", name, "write a string")
    return value


def _texts(document: Mapping[str, Any], name: str, most: int) -> tuple[str, ...]:
    value = document.get(name, [])
    if (
        not isinstance(value, list)
        or len(value) > most
        or not all(isinstance(one, str) and len(one) <= 4_096 for one in value)
    ):
        raise _refused(f"a list of at most {most} texts is wanted", name, "write a list of strings")
    return tuple(dict.fromkeys(value))


def _whole(document: Mapping[str, Any], name: str, usual: int) -> int:
    value = document.get(name, usual)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _refused("a whole number is wanted", name, "write a number")
    return value


def _refused(what: str, field: str, way_out: str) -> UsageError:
    return UsageError(f"this impact query cannot be meant: {what}", where=field or "impact query", way_out=way_out)
