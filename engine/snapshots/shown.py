"""Annotations as they are shown beside code: records for the three shapes, framed items for a pack.

Who calls: ``room`` for ``workspace.context``. What may not come in: the ledger, the disk. Every line says that it is advice, of which
code, and whether that code is still the one it was said of; every text is quoted, so that none passes for a line of the frame.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mog.engine.model import Freshness
from mog.engine.retrieval import estimator
from mog.engine.retrieval.model import Advice, Item, Zoom
from mog.engine.snapshots.model import CURRENT, STALE, Annotation

REF = "annotation:"


def status_of(one: Annotation) -> str:
    """``current`` or ``stale``: advice does not follow code that moved."""
    return CURRENT if one.freshness is Freshness.fresh else STALE


def advice(one: Annotation) -> Advice:
    """An annotation as the shapes carry it."""
    return Advice(
        one.node_id, one.locator, one.purpose, one.domain_concepts, one.side_effects, one.invariants, one.risk_level,
        one.test_targets, one.confidence, one.annotator, status_of(one),
    )  # fmt: skip


def items(found: Sequence[Annotation], budget: int) -> tuple[Item, ...]:
    """Items of annotations in their order, together at most ``budget`` tokens; one that does not fit is left out."""
    made: list[Item] = []
    left = budget
    for one in map(_item, found):
        if one.tokens <= left:
            left -= one.tokens
            made.append(one)
    return tuple(made)


def _item(one: Annotation) -> Item:
    text = framed(one)
    warnings = ("the code it was said of changed",) if one.stale else ()
    return Item(
        f"{REF}{one.record}", "annotation", text, Zoom.L2, estimator.tokens(text), estimator.size(text), one.freshness, "advisory",
        provenance=f"annotation by {one.annotator}", warnings=warnings,
    )  # fmt: skip


def framed(one: Annotation) -> str:
    """What was said under a line that says what that is worth."""
    state = "current" if not one.stale else f"stale: {' '.join(one.reason.split()) or 'the code changed'}"
    worth = f"confidence {one.confidence:g} · risk {one.risk_level}"
    head = f"[annotation · advisory, not verified · by {one.annotator} · {state} · {worth}]"
    return "\n".join([head, f"about {one.locator}", *(f"> {line}" for line in said(one))])


def said(one: Annotation) -> Iterable[str]:
    """Its own words, a line for each sort."""
    if one.purpose:
        yield one.purpose
    for word, texts in (
        ("concepts", one.domain_concepts), ("side effects", one.side_effects), ("invariants", one.invariants),
        ("tests", one.test_targets),
    ):  # fmt: skip
        if texts:
            yield f"{word}: {'; '.join(texts)}"
