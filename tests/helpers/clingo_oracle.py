"""What should stand, by an answer-set solver: the meaning of DESIGN §6 as a logic program, solved from nothing each time.

Who calls: tests and ``benchmarks/standing.py``. What may not come in: anything of the engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import clingo


@dataclass
class Model:
    """A structure as plain Python; the test's own idea of what was written."""

    nodes: list[str] = field(default_factory=list)
    grounds: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = field(default_factory=dict)
    defeats: dict[tuple[str, str], int] = field(default_factory=dict)
    out: set[str] = field(default_factory=set)

    def negative_links(self) -> Iterable[tuple[str, str]]:
        """(defeater, defeated) pairs."""
        yield from ((by, node) for (node, by), times in self.defeats.items() if times)
        yield from ((barred, head) for head, _, none_of in self.grounds.values() for barred in none_of)

    def positive_links(self) -> Iterable[tuple[str, str]]:
        """(premise, conclusion) pairs."""
        yield from ((premise, head) for head, all_of, _ in self.grounds.values() for premise in all_of)


def program(model: Model) -> tuple[str, Mapping[int, str]]:
    """The rules, with nodes as numbers, and which number is whom."""
    number = {node: at for at, node in enumerate(model.nodes)}
    derived = {head for head, _, _ in model.grounds.values()}
    free = "not out({0}), not defeated({0})"
    lines = ["out(-1). defeated(-1) :- in(-1). in(-1) :- out(-2). out(-2) :- in(-2). in(-2) :- #false."]
    lines += [f"out({number[node]})." for node in sorted(model.out)]
    lines += [f"defeated({number[n]}) :- in({number[by]})." for (n, by), times in model.defeats.items() if times]
    lines += [f"in({at}) :- {free.format(at)}." for node, at in number.items() if node not in derived]
    for head, all_of, none_of in model.grounds.values():
        body = [f"in({number[p]})" for p in all_of] + [f"not in({number[p]})" for p in none_of]
        lines.append(f"in({number[head]}) :- {', '.join([*body, free.format(number[head])])}.")
    return "\n".join([*lines, "#show in/1."]), {at: node for node, at in number.items()}


def standing(model: Model) -> set[str]:
    """The nodes that stand. AssertionError when there is not exactly one stable model."""
    rules, names = program(model)
    control = clingo.Control(["0", "--warn=none"])
    control.add("base", [], rules)
    control.ground([("base", [])])
    with control.solve(yield_=True) as answers:
        models = [{names[atom.arguments[0].number] for atom in answer.symbols(shown=True)} for answer in answers]
    assert len(models) == 1, f"{len(models)} stable models"
    return models[0]
