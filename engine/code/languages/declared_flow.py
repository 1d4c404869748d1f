"""Variables that nobody declares, through branches: what a branch assigns may hold behind it. Mixed into the walks of PHP and Ruby.

What may not come in: the kinds of nodes of one language (query files say what a branch is: ``@branch``, and ``@end`` for what leaves
one). A branch that ends by returning leaves nothing behind.
"""

from __future__ import annotations

from tree_sitter import Node

from mog.engine.code.languages.declared import Walk
from mog.engine.code.languages.declared_tables import ALTERNATIVES, NOTHING, Captures, Chains, Scope

Held = dict[str, Chains]

COPIES = 1_000_000
"""Entries of variables copied at branches; in a file beyond that, whatever a variable was given once stays possible."""


class Branches(Walk):
    """Branches of one file. ``inside`` says by a branch's first byte what is known inside of it, and behind it if it ends."""

    def __init__(self, data: bytes, path: str) -> None:
        super().__init__(data, path)
        self.branches: list[tuple[int, Scope, Held, Held]] = []
        self.ended: list[bool] = []
        self.copied = 0
        self.inside: dict[int, tuple[Held, Held]] = {}

    def on_branch(self, node: Node, captured: Captures) -> None:
        """Something that may not run, with what is known inside of it and behind it."""
        inside, behind = self.inside.pop(node.start_byte, ({}, {}))
        self.copied += len(self.scope.names)
        if self.copied > COPIES:
            return
        self.frames.append((node.end_byte, self.scope, ""))
        self.branches.append((len(self.frames), self.scope, dict(self.scope.names), behind))
        self.ended.append(False)
        self.scope.names.update(inside)

    def given(self, scope: Scope, name: str, chains: Chains) -> Chains:
        """What a variable holds after an assignment."""
        if self.copied <= COPIES or name not in scope.names:
            return chains
        joined = tuple(dict.fromkeys((*scope.names[name], *chains)))
        return joined if len(joined) <= ALTERNATIVES else NOTHING

    def pop(self) -> None:
        if self.branches and self.branches[-1][0] == len(self.frames):
            _, scope, before, behind = self.branches.pop()
            ended = self.ended.pop()
            scope.names = before if ended else merged(before, scope.names)
            if ended:
                scope.names.update(behind)
        super().pop()

    def on_end(self, node: Node, captured: Captures) -> None:
        """What stands behind in this branch does not run."""
        if self.ended and self.branches[-1][1] is self.scope:
            self.ended[-1] = True

    def on_return(self, node: Node, captured: Captures) -> None:
        super().on_return(node, captured)
        self.on_end(node, captured)


def merged(before: Held, after: Held) -> Held:
    """Variables behind a branch that may not have run."""
    for name, held in after.items():
        old = before.get(name)
        if old is None or old is held:
            before[name] = held
            continue
        joined = dict.fromkeys((*old, *held))
        if len(joined) > 1:
            joined.pop("#None", None)
        before[name] = tuple(joined) if len(joined) <= ALTERNATIVES else NOTHING
    return before
