"""Proposals by a language model: the narrow interface they come in through, and nothing else of models.

Called by whoever configured a proposer; by default nobody does. What may not come in: network, keys, prompts of one
provider, anything that lets a model decide. What a proposer says is checked field by field and enters the mesh only as a claim
of kind ``annotation`` or ``proposal``, derived from a source of kind ``run`` that stands for the asking, with the extractor
``model:<name>``. It judges nothing: a proposed verdict is text for an auditor to read, never a judgement.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from mog.engine import ids
from mog.engine.errors import PolicyDenied, UsageError
from mog.engine.reason.mesh import Mesh
from mog.engine.values import canonical

TASKS = ("annotation", "audit")
VERDICTS = ("", "contradicts", "dismissed", "unsure")
MAX_REQUEST = 65_536
MAX_TEXT = 2_000
MAX_ITEMS = 32
MAX_ANSWER = 65_536
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,79}")
_FIELDS = frozenset(("items", "model"))
_ITEM_FIELDS = frozenset(("target", "text", "verdict"))


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked: a task of ``TASKS`` about nodes of the mesh, each with the text that may be shown to the model."""

    task: str
    targets: Mapping[str, str]
    question: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing proposed about one target; ``verdict`` only for audits, and only as an opinion."""

    target: str
    text: str
    verdict: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A checked answer: which model, and what it proposes."""

    model: str
    items: tuple[Item, ...]


class Proposer(Protocol):
    """Whatever asks a model. It gets a request and returns plain JSON; ``check`` decides whether that is a proposal."""

    def propose(self, request: Request) -> Mapping[str, Any]: ...


@dataclass(slots=True)
class Scripted:
    """A stand-in for tests: no model, no network. It gives the answers it was given, one after the other."""

    answers: Sequence[Mapping[str, Any]]
    asked: list[Request] = field(default_factory=list)

    def propose(self, request: Request) -> Mapping[str, Any]:
        """The next answer of the script. Raises UsageError when it has run out."""
        if len(self.asked) >= len(self.answers):
            raise UsageError("the script has no further answer", where="Scripted", way_out="give it more answers")
        self.asked.append(request)
        return self.answers[len(self.asked) - 1]


def check(request: Request, answer: Any) -> Proposal:
    """The proposal in an answer.

    Raises:
        UsageError: too large, a field too many or too few, a target that was not asked about, a verdict where none belongs;
            ``where`` names the field.
    """
    if not isinstance(answer, Mapping) or set(answer) != _FIELDS:
        raise _wrong("answer", f"exactly the fields {', '.join(sorted(_FIELDS))}")
    if len(canonical(answer)) > MAX_ANSWER:
        raise _wrong("answer", f"at most {MAX_ANSWER} bytes")
    model, items = answer["model"], answer["items"]
    if not isinstance(model, str) or not _NAME.fullmatch(model):
        raise _wrong("model", "a name of at most 80 letters, digits and . _ : / -")
    if not isinstance(items, list | tuple) or len(items) > MAX_ITEMS:
        raise _wrong("items", f"a list of at most {MAX_ITEMS}")
    return Proposal(model, tuple(_item(request, item, f"items[{at}]") for at, item in enumerate(items)))


def _item(request: Request, item: Any, where: str) -> Item:
    if not isinstance(item, Mapping) or not {"target", "text"} <= set(item) <= _ITEM_FIELDS:
        raise _wrong(where, f"the fields {', '.join(sorted(_ITEM_FIELDS))} and no other")
    target, text, verdict = item["target"], item["text"], item.get("verdict", "")
    if not isinstance(target, str) or target not in request.targets:
        raise _wrong(f"{where}.target", "a node that was asked about")
    if not isinstance(text, str) or not text.strip() or len(text) > MAX_TEXT or "\0" in text:
        raise _wrong(f"{where}.text", f"a text of at most {MAX_TEXT} characters")
    if not isinstance(verdict, str) or verdict not in VERDICTS or (verdict and request.task != "audit"):
        raise _wrong(f"{where}.verdict", "for audits one of contradicts, dismissed, unsure; else none")
    return Item(target, " ".join(text.split()), verdict)


def _wrong(where: str, wanted: str) -> UsageError:
    return UsageError(
        f"expected {wanted}", where=where, way_out="the answer was refused as a whole; nothing was recorded"
    )


def propose(mesh: Mesh, proposer: Proposer | None, request: Request) -> tuple[str, ...]:
    """Ask, check and record; ids of the claims, in the order of the answer.

    Raises:
        PolicyDenied: no proposer is configured: proposals are off. UsageError: the request or the answer is not well formed;
            then nothing was recorded. NotFound: a target that is not in the mesh.
    """
    if proposer is None:
        raise PolicyDenied("proposals by models are off", way_out="configure a proposer; none comes with mog")
    _check_request(mesh, request)
    return record(mesh, request, check(request, proposer.propose(request)))


def _check_request(mesh: Mesh, request: Request) -> None:
    if request.task not in TASKS or not request.targets:
        raise UsageError("a request needs a task and targets", where=request.task, way_out=f"one of {', '.join(TASKS)}")
    for target in sorted(request.targets):
        mesh.graph.node(target)
    if len(canonical([request.task, dict(request.targets), request.question])) > MAX_REQUEST:
        raise UsageError(f"a request beyond {MAX_REQUEST} bytes", way_out="ask about fewer nodes")


def record(mesh: Mesh, request: Request, proposal: Proposal) -> tuple[str, ...]:
    """Record a checked proposal: a source of kind run, and a claim for each item that cites its target when it is a claim."""
    asked = canonical([request.task, dict(request.targets), request.question, proposal.model])
    run = f"{request.task} by {proposal.model} {ids.digest(b'mog.proposal.1', asked).hex()[:12]}"
    with mesh.writing("proposed", task=request.task, model=proposal.model) as writer:
        source = writer.source(run, origin=f"model:{proposal.model}", kind="run", attrs={"task": request.task})
        made = []
        for item in proposal.items:
            attrs = {"target": item.target, **({"verdict": item.verdict} if item.verdict else {})}
            kind = "annotation" if request.task == "annotation" else "proposal"
            claim = writer.claim(item.text, source=source, extractor=f"model:{proposal.model}", kind=kind, attrs=attrs)
            _tie(mesh, writer, claim, item.target)
            made.append(claim)
    return tuple(made)


def _tie(mesh: Mesh, writer: Any, claim: str, target: str) -> None:
    """Tie a claim to what it is about, by whichever edge GRAPH.md has for the pair; with none, the attribute says it."""
    type = mesh.tables.nodes[target].type
    for kind in ("about", "cites", "mentions"):
        if claim != target and mesh.ontology.legal(kind, "claim", type):
            writer.edge(kind, claim, target)
            return
