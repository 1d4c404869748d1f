"""What a symbol is to the application: the surfaces it implements or touches, and the layer its place in the tree says.

Who calls: ``annotate`` and ``impact``. What may not come in: rules of frameworks (contract packs write the surfaces and their edges
into the index; here they are only read), text of files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from mog.engine.code.nodes import SURFACE
from mog.engine.code.view import CodeView
from mog.engine.model import Node
from mog.engine.store.schema import SPACE_TYPE

ENTITY = "entity"
BEHIND, TOUCHES = "implements", "touches"
#: Surfaces read at most: enough for any application, and a bound for a hostile one.
MOST = 20_000
#: Roles in the order in which symbols behind them are described first (the first number is the most urgent).
ROLES = {
    "action": 0, "route": 0, "endpoint": 0, "api_endpoint": 0, "command": 1, "job": 1, "event": 1, "service": 2, "repository": 2,
    "repo": 2, "model": 3, "data_entity": 3, "page": 4, "component": 4, "workflow": 5, "agent": 5, "tool": 5, "contract": 5,
    "migration": 8,
}  # fmt: skip
_LAYERS = (
    ("handler", re.compile(r"(^|/)(handlers?|controllers?|views?|routes?|routers?|endpoints?|api)([/._]|$)")),
    ("service", re.compile(r"(^|/)services?([/._]|$)")),
    ("repository", re.compile(r"(^|/)(repo|repos|repository|repositories|dao|stores?)([/._]|$)")),
    ("policy", re.compile(r"(^|/)(policy|policies|permissions?|auth)([/._]|$)")),
    ("schema", re.compile(r"(^|/)(schemas?|models?|serializers?|entities)([/._]|$)")),
    ("page", re.compile(r"(^|/)(pages?|components?|ui)([/._]|$)")),
    ("workflow", re.compile(r"(^|/)(workflows?|agents?|tools?|tasks?|jobs?)([/._]|$)")),
    ("settings", re.compile(r"(^|/)(settings|config)([/._]|$)")),
    ("migration", re.compile(r"(^|/)migrations?/")),
)
_LAYER_ROLES = {
    "handler": 0,
    "service": 2,
    "repository": 2,
    "policy": 2,
    "schema": 3,
    "page": 4,
    "workflow": 5,
    "migration": 8,
}
LAST = 9


class Surfaces:
    """Surfaces of one generation by the symbols behind them; nothing is read before it is asked for."""

    def __init__(self, view: CodeView) -> None:
        self._view = view
        self._known: dict[int, list[tuple[str, Node]]] | None = None

    def of(self, key: int) -> Sequence[tuple[str, Node]]:
        """(edge type, surface) of a symbol, those it implements first."""
        return self._read().get(key, ())

    def symbols(self) -> Iterable[int]:
        """Keys of the symbols behind a surface."""
        return self._read().keys()

    def _read(self) -> dict[int, list[tuple[str, Node]]]:
        if self._known is None:
            self._known = {}
            mask = self._view.graph.mask((BEHIND, TOUCHES))
            for key, surface in self._view.nodes(_entities(self._view)).items():
                for other, kind, _ in self._view.graph.in_(key, mask):
                    self._known.setdefault(other, []).append((kind, surface))
            for held in self._known.values():
                held.sort(key=lambda pair: (pair[0] != BEHIND, ROLES.get(role_of(pair[1]), LAST), pair[1].name))
        return self._known

    def role(self, key: int) -> str:
        """Role of the surface a symbol implements that counts most; "" for none."""
        return next((role_of(surface) for kind, surface in self.of(key) if kind == BEHIND), "")

    def named(self, key: int, *roles: str) -> str:
        """Name of the first surface of one of these roles that a symbol implements."""
        return next((one.name for kind, one in self.of(key) if kind == BEHIND and role_of(one) in roles), "")

    def effects(self, key: int) -> str:
        """What a symbol touches, in words; "" for nothing that is known."""
        found = [f"{role_of(surface) or 'surface'} {surface.name}" for kind, surface in self.of(key) if kind == TOUCHES]
        return "; ".join(dict.fromkeys(found))[:240]

    def rank(self, node: Node) -> int:
        """How early a symbol is described: by its surface, else by its place in the tree."""
        role = self.role(node.key)
        return min(ROLES.get(role, LAST), _LAYER_ROLES.get(layer_of(node.path), LAST))


def _entities(view: CodeView) -> list[int]:
    numbers = [number for number, word in view.db.codes(SPACE_TYPE).items() if word == ENTITY]
    rows = [
        row
        for number in numbers
        for row in view.db.rows("SELECT id FROM nodes WHERE type = ? ORDER BY uid LIMIT ?", (number, MOST))
    ]
    return [row[0] for row in rows]


def role_of(surface: Node) -> str:
    """The role of a surface of the code layer, which its record holds in place of a signature; "" of any other entity."""
    return surface.signature if surface.kind == SURFACE else ""


def layer_of(path: str) -> str:
    """The layer that a path speaks of; "" for none."""
    return next((layer for layer, rule in _LAYERS if rule.search(path.lower())), "")
