"""Whether the tree of a file is deeper than patterns are looked for. Called by ``extract``. What may not come in: a language."""

from __future__ import annotations

from tree_sitter import Tree

from mog.engine.code.grammars import LEVELS

_NO_BRACKET = bytes(set(range(256)) - set(b"()[]{}"))
_SUSPECT = LEVELS // 4


def too_deep(tree: Tree, data: bytes) -> bool:
    """Whether something of a tree lies too deep to be found; only a file whose brackets may nest deeply is walked to tell."""
    return _nests_deeply(data) and _deeper_than(tree, LEVELS)


def _nests_deeply(data: bytes) -> bool:
    if data.count(b"(") + data.count(b"[") + data.count(b"{") <= _SUSPECT:
        return False
    signs = data.translate(None, _NO_BRACKET)
    depth = 0
    for at in range(0, len(signs), 256):
        part = signs[at : at + 256]
        opened = part.count(b"(") + part.count(b"[") + part.count(b"{")
        if depth + opened > _SUSPECT:
            return True
        depth = max(0, depth + 2 * opened - len(part))
    return False


def _deeper_than(tree: Tree, levels: int) -> bool:
    at, depth = tree.walk(), 0
    while True:
        if at.goto_first_child():
            depth += 1
            if depth > levels:
                return True
            continue
        while not at.goto_next_sibling():
            if not at.goto_parent():
                return False
            depth -= 1
