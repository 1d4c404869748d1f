"""Answers of retrieval as lines a person or a prompt reads.

Who calls: ``app/cli``. What may not come in: widths of a terminal, questions to the workspace. The lines of an item are
those that were paid for (``retrieval/pack.printed``). Everything is cleaned; what comes from the repository is shown as data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from mog.app.plain import Glyphs, Line, safe
from mog.app.present import Block
from mog.engine.model import Tier
from mog.engine.retrieval.model import Advice, Item, Pack
from mog.engine.retrieval.pack import printed

if TYPE_CHECKING:
    from mog.engine.retrieval.handles import Handle
    from mog.engine.retrieval.shapes import Catalog, PromptPack, Scope

PROMPT_HEAD, PROMPT_TAIL = "[CONTEXT GRAPH]", "[/CONTEXT GRAPH]"
PROMPT_EDGES, PROMPT_WARNINGS = 8, 6


def pack(made: Pack, glyphs: Glyphs, *, explain: bool = False) -> list[Line]:
    """The items, then one line that says what they cost and what is not here."""
    lines: list[Line] = []
    for one in made.items:
        lines += _item(one)
        lines += _explained(one) if explain else []
    lines.append(((_foot(made), "muted"),))
    lines += [((f"! {warning}", "attn"),) for warning in made.warnings[:4]]
    lines += [((note, "muted"),) for note in made.boundary.notes]
    if made.page:
        lines.append((("more: ", "muted"), (f"mog search {made.page} --budget {max(512, made.budget)}", "name")))
    return [safe(line) for line in lines]


def _item(one: Item) -> list[Line]:
    head, *rest = printed(one).rstrip("\n").split("\n")
    return [((head, "name"),), *(((Block(line), ""),) for line in rest)]


def _explained(one: Item) -> list[Line]:
    parts = " + ".join(
        f"{name} {value:.2f}" for name, value in sorted(one.parts.items(), key=lambda part: (-part[1], part[0]))
    )
    lines: list[Line] = [((f"  score {one.score:.2f} = {parts or 'asked for'}", "muted"),)]
    for hop in one.path:
        way = f"{hop.kind} of" if not hop.outgoing else hop.kind
        tier = "" if hop.tier is Tier.certain else f" ({hop.tier.name})"
        lines.append(((f"  from {hop.node.locator} by {way}{tier}", "muted"),))
    return lines


def _foot(made: Pack) -> str:
    left = ", ".join(f"{count} {reason}" for reason, count in sorted(made.omitted.items()) if count)
    rest = f"; left out: {left}" if left else ""
    need = f"; the next needs {made.needed}" if made.needed else ""
    cost = f"{made.tokens} of {made.budget} tokens ({made.estimator}), {made.size} bytes"
    return f"{len(made.items)} of {made.found}, {cost}{rest}{need}"


def catalog(made: Catalog) -> list[Line]:
    """The catalog: counts, candidate files with their reasons, nodes, warnings."""
    if not made.present:
        return [safe(((f"unavailable: {made.reason}", "attn"),))]
    lines: list[Line] = [
        ((f"{made.graph_id}  {made.stale_status}  {made.file_count} files", "name"),),
        ((_counts("nodes", made.node_counts), "muted"),),
        ((_counts("edges", made.edge_counts), "muted"),),
    ]
    lines += _list("keywords", [", ".join(made.request_keywords)] if made.request_keywords else [])
    lines += _list(
        "candidate files",
        [f"{one.path}  ({one.score:g}; {', '.join(one.matched_terms)})" for one in made.candidate_files],
    )
    lines += _list("nodes", [f"{one.locator} [{one.kind}]" for one in made.matched_nodes])
    lines += _list("advice, not verified", map(_advice, made.semantic_annotations))
    lines += _list("warnings", made.warnings)
    return [safe(line) for line in lines]


def _advice(one: Advice) -> str:
    """One annotation in a line that says what it is worth."""
    worth = f"{one.stale_status}; risk {one.risk_level}; by {one.annotator}"
    return f"{one.locator}: {one.purpose or '; '.join(one.side_effects)}  ({worth})"


def prompt(made: PromptPack) -> list[Line]:
    """The section for a prompt, between its own marks so that it can be replaced as a whole."""
    lines: list[Line] = [((PROMPT_HEAD, ""),)]
    if not made.present:
        lines.append(((f"unavailable: {made.reason}", ""),))
    else:
        labels = {one.node_id: one.locator for one in made.matched_nodes}
        lines.append(((f"{made.app_id} {made.stale_status}", ""),))
        lines += _list("paths", made.relevant_paths)
        lines += _list("nodes", [f"{one.locator} [{one.kind}]" for one in made.matched_nodes])
        edges = [one for one in made.matched_edges if one.source_node_id in labels and one.target_node_id in labels]
        shown = [
            f"{labels[one.source_node_id]} {one.edge_type} {labels[one.target_node_id]}" for one in edges[:PROMPT_EDGES]
        ]
        lines += _list("edges", shown)
        lines += _list("annotate", [one.locator for one in made.semantic_annotation_targets])
        lines += _list("advice, not verified", map(_advice, made.semantic_annotations))
        lines += _list("warnings", made.warnings[:PROMPT_WARNINGS])
    return [safe(line) for line in [*lines, ((PROMPT_TAIL, ""),)]]


def into(text: str, section: str) -> str:
    """A prompt with the section in it: in the place of the one that is there, else at the end.

    Only whole lines count as marks, and no line of a section can be one, so a section ends where it ended when it was made.
    """
    lines = text.split("\n")
    if PROMPT_HEAD in lines and PROMPT_TAIL in lines[lines.index(PROMPT_HEAD) :]:
        start = lines.index(PROMPT_HEAD)
        end = lines.index(PROMPT_TAIL, start)
        return "\n".join([*lines[:start], section, *lines[end + 1 :]])
    return f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}{section}\n"


def scope(made: Scope) -> list[Line]:
    """What proposed paths mean, questions first."""
    lines: list[Line] = []
    for one in made.clarifications:
        lines.append(((f"? {one.question}", "attn"),))
        lines += [((f"    {path}", ""),) for path in one.nearest]
    for path, chosen in made.selected_scope.items():
        lines.append(((path, "name"),))
        lines.append(((f"    {', '.join(chosen.symbols[:12])}", "muted"),))
    lines += _list("related files", made.related_file_paths)
    lines += _list("advice, not verified", map(_advice, made.semantic_annotations))
    lines.append((("This informs; it grants no right to edit.", "muted"),))
    return [safe(line) for line in lines]


def handle(made: Handle) -> list[Line]:
    """The handle to pass on."""
    return [safe(((made.name, "name"),))]


def _list(title: str, rows: Iterable[str]) -> list[Line]:
    found = list(rows)
    return [((f"{title}:", "muted"),), *(((f"  {row}", ""),) for row in found)] if found else []


def _counts(title: str, counts: Mapping[str, int]) -> str:
    return f"{title}: " + ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
