"""Small graphs with one question each and the outcome a reader would give it: the labelled set of dead ends.

Who calls: ``benchmarks.walks`` and the tests of dead ends. What may not come in: engines; a case only lays out a board
(``benchmarks.boards``). The expectation is a reason, or the label of the node that answers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

UNRESOLVED, NO_EDGE = "entity_unresolved", "no_typed_edge"
WRONG_TYPE, PRUNED = "wrong_node_type", "pruned_too_early"


@dataclass(frozen=True, slots=True)
class Case:
    """A name, what to lay out, the question, and the reason or answer expected."""

    name: str
    lay: Callable[[Any], None]
    question: str
    expected: str


def _shop(b: Any) -> tuple[str, str]:
    """A known entity with one claim about it."""
    source, gateway = b.source("Design notes"), b.entity("Payment Gateway")
    b.claim("It settles every transfer overnight.", source, gateway)
    return source, gateway


def _unknown(b: Any) -> None:
    _shop(b)


def _contained(b: Any) -> None:
    source, gateway = _shop(b)
    b.claim("The Payment Gateway retries failed captures.", source, gateway)


def _lonely(b: Any) -> None:
    _shop(b)
    b.entity("Ledger Sync")


def _source_only(b: Any) -> None:
    _shop(b)
    b.edge("derived_from", b.entity("Ledger Sync"), b.source("Minutes of the Ledger Sync meeting"))


def _other_matter(b: Any) -> None:
    _shop(b)


def _hub(b: Any, size: int, also: str = "") -> None:
    hub = b.entity("Order Book")
    for i in range(size):
        b.claim(f"Row {i} holds lot {i * 7919 % 10_007}.", b.source(f"Sheet {i}"), hub)
    if also:
        b.claim(also, b.source("Postmortem"), hub)


def _hub_silent(b: Any) -> None:
    _hub(b, 500)


def _hub_speaks(b: Any) -> None:
    _hub(b, 500, "The quarterly audit froze because of a missing index.")


def _leaf(b: Any, source: str, *mentions: str) -> None:
    """A claim that leads to an entity whose only source was pruned: dead, and nothing to do with any question here."""
    brand, guide = b.entity("Brand"), b.source("Brand guide of 2019")
    b.edge("derived_from", brand, guide)
    b.claim("Its logo is green.", source, brand, *mentions)
    b.retire(guide, "pruned")


def _dead_leaf(b: Any) -> None:
    source, gateway = _shop(b)
    _leaf(b, source, gateway)


def _dead_leaf_hub(b: Any) -> None:
    _hub(b, 300)
    _leaf(b, b.source("Sheet of colours"), b.entity("Paint Shop"))


def _pruned_seed(b: Any) -> None:
    _, gateway = _shop(b)
    b.retire(gateway, "pruned")


def _fallen_seed(b: Any) -> None:
    _, gateway = _shop(b)
    b.fell(gateway)


def _retracted_answer(b: Any) -> None:
    source, gateway = _shop(b)
    b.retire(b.claim("It timed out because DNS was slow.", source, gateway), "retracted")


def _fallen_answer(b: Any) -> None:
    source, gateway = _shop(b)
    b.fell(b.claim("It timed out because DNS was slow.", source, gateway))


def _pruned_between(b: Any) -> None:
    _, gateway = _shop(b)
    report = b.source("Incident report")
    b.edge("derived_from", gateway, report)
    b.claim("Timeouts came from a slow resolver.", report)
    b.retire(report, "pruned")


def _fallen_ground(b: Any) -> None:
    source, gateway = _shop(b)
    ground = b.assumption("Traffic doubles every year")
    decision = b.decision("Shard by tenant", "Tenants grow evenly.", source, assumption=ground)
    b.edge("produces", decision, gateway)
    b.fell(ground)


def _words_of_the_dead(b: Any) -> None:
    source, _ = _shop(b)
    b.retire(b.claim("Backups are encrypted with rotating keys.", source), "retracted")


def _dead_and_silent(b: Any) -> None:
    _shop(b)
    leaf = b.claim("Its logo is green.", b.source("Brand guide"), b.entity("Ledger Sync"))
    b.retire(leaf, "pruned")


def _far(b: Any) -> None:
    before = ""
    for i in range(9):
        label = f"Link {i} of the chain." if i < 8 else "Turbines stall below zero."
        here = b.claim(label, b.source(f"Sheet {i}"))
        if before:
            b.edge("cites", before, here)
        else:
            b.edge("mentions", here, b.entity("Wind Farm"))
        before = here


def _decision(b: Any) -> None:
    source, gateway = _shop(b)
    support = b.claim("Quarterly numbers were stable.", source, gateway)
    decision = b.decision("Encrypt backups at rest", "Auditors require encryption of backups.", source, support)
    b.edge("produces", decision, b.entity("Backup Vault"))


def _twins(b: Any) -> None:
    source = b.source("Atlas")
    planet, metal = b.entity("Mercury"), b.entity("Mercury")
    b.claim("It orbits in eighty-eight days.", source, planet)
    b.claim("It boils at three hundred degrees.", source, metal)


def _japanese(b: Any) -> None:
    b.claim("支払いゲートウェイは証明書の期限切れで停止した。", b.source("障害報告"), b.entity("支払いゲートウェイ"))


def _russian(b: Any) -> None:
    b.claim("Шлюз остановился из-за истёкшего сертификата.", b.source("Отчёт"), b.entity("Платёжный шлюз"))


def _words_only(b: Any) -> None:
    _shop(b)
    b.claim("Nightly backups are encrypted with rotating keys.", b.source("Runbook"))


CASES = (
    Case("nothing is known", _unknown, "What is the refund policy for annual plans?", UNRESOLVED),
    Case("a longer name is another thing", _contained, "What do the Payment Gateway Tests cover?", UNRESOLVED),
    Case("an acronym nobody declared", _unknown, "Why did PG break?", UNRESOLVED),
    Case("unknown in Cyrillic", _unknown, "Почему сломалась Служба доставки?", UNRESOLVED),
    Case("an entity without an edge", _lonely, "Why did the Ledger Sync stall?", NO_EDGE),
    Case("an entity with a source and no claim", _source_only, "Why did the Ledger Sync stall?", NO_EDGE),
    Case("its only claim fell and spoke of other things", _dead_and_silent, "Why did the Ledger Sync stall?", NO_EDGE),
    Case("its claims speak of other things", _other_matter, "Why did the Payment Gateway time out?", WRONG_TYPE),
    Case("a hub of 500 claims, none answers", _hub_silent, "Why did the Order Book audit freeze?", WRONG_TYPE),
    Case("an unrelated dead leaf", _dead_leaf, "Why did the Payment Gateway time out?", WRONG_TYPE),
    Case("a hub and a dead leaf elsewhere", _dead_leaf_hub, "Why did the Order Book audit freeze?", WRONG_TYPE),
    Case("beyond the hop budget", _far, "Why do the Wind Farm turbines stall?", WRONG_TYPE),
    Case("the entity was pruned", _pruned_seed, "Why did the Payment Gateway time out?", PRUNED),
    Case("the entity has fallen", _fallen_seed, "Why did the Payment Gateway time out?", PRUNED),
    Case("the answer was retracted", _retracted_answer, "Why did the Payment Gateway time out?", PRUNED),
    Case("the answer was contradicted", _fallen_answer, "Why did the Payment Gateway time out?", PRUNED),
    Case("the only way was pruned", _pruned_between, "Why did the Payment Gateway have timeouts?", PRUNED),
    Case("the decision lost its ground", _fallen_ground, "Why does the Payment Gateway shard by tenant?", PRUNED),
    Case("nothing named, the text that says it was retracted", _words_of_the_dead, "How are backups encrypted?", PRUNED),
    Case("a hub of 500 claims, one answers", _hub_speaks, "Why did the Order Book audit freeze?",
         "The quarterly audit froze because of a missing index."),
    Case("a decision with a supporter", _decision, "Why does the Backup Vault encrypt backups?", "Encrypt backups at rest"),
    Case("two entities of one name", _twins, "When does Mercury boil?", "It boils at three hundred degrees."),
    Case("Japanese", _japanese, "支払いゲートウェイはなぜ停止したか？", "支払いゲートウェイは証明書の期限切れで停止した。"),
    Case("Russian", _russian, "Почему остановился платёжный шлюз?", "Шлюз остановился из-за истёкшего сертификата."),
    Case("nothing named, a text says it", _words_only, "How are nightly backups encrypted?",
         "Nightly backups are encrypted with rotating keys."),
)  # fmt: skip
