"""What a question asks for, and how a sentence is built: small marks up and down. Called by ``relevance.py``.

What may not come in: words of one subject field, the graph. English only; texts in other languages get few marks. Nothing
here decides whether a text answers (``relevance.py`` does); it chooses between texts that fit about equally. A pointer
("For more information, see …") is the exception: it hardly ever answers, so it loses against much.
"""

from __future__ import annotations

import functools
import itertools
import re
from dataclasses import dataclass

from mog.engine.reason import terms

POINTER = 0.3  # it only says where to read on
TITLE = 0.2  # a heading that asks what its text answers, or a question
EXAMPLE = 0.12
DEPENDENT = 0.08  # it begins with a pronoun or a connective, so it leans on the sentence before
FRAGMENT = 0.05  # no full stop, and it begins in the middle of a sentence
FIELD = 0.12  # "Default: None" does not say what something is or does
QUANTITY, LIST, REASONED, KIND = 0.1, 0.08, 0.1, 0.04  # it has the number, list, reason … that the question wants
OPENS, DEFINES = 0.06, 0.08  # the sentence is about the name: it begins with it; "A name is …"
VERBATIM = 0.04  # the name is there letter for letter, as it was asked
PAIR, PAIRS = 0.04, 3  # two words of the question that stand together in the text too; so many pairs count at most
LOOKED_AT = 500  # characters of a text or question that are looked at
MOST = QUANTITY + DEFINES + OPENS + VERBATIM + PAIRS * PAIR  # what marks may add at most

_QUANTITY = re.compile(r"\bhow\s+(?:long|much|many|often|old|big|large|far|fast|deep|soon)\b", re.I)
_ASKS = (
    ("difference", re.compile(r"\bdifferen(?:ce|t)\b|\bdiffers?\b|\bcompared?\b", re.I)),
    ("why", re.compile(r"\b(?:why|what\s+for|for\s+what\s+reason)\b", re.I)),
    ("when", re.compile(r"\b(?:when|since\s+when|until\s+when)\b", re.I)),
    ("how", re.compile(r"\bhow\b", re.I)),
    ("where", re.compile(r"\bwhere\b", re.I)),
    ("which", re.compile(r"\bwhich\b", re.I)),
)
_WHAT_IS = re.compile(r"^\W*(?:what|who)\s*(?:is|are|was|were|['’]s)\b", re.I)
_WHAT_DOES = re.compile(r"^\W*what\s+(?:does|do|did)\b.*\b(?:do|mean|return)\W*$", re.I)
_ASKED_NAME = re.compile(
    r"^\W*(?:what|who)\s*(?:is|are|was|were|['’]s|does|do|did)\s+(?:(?:the|an?)\s+)?"
    r"(.{1,60}?)(?:\s+(?:do|mean|return))?\W*$", re.I,
)  # fmt: skip

_NUMBER = r"(?:\d[\d,.]*|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|few|several|half)"
_UNITS = (
    r"(?:milli|micro)?seconds?|ms|minutes?|hours?|days?|weeks?|months?|years?|times|bytes?|characters?|rows?|[kmgt]i?b|"
    r"(?:kilo|mega|giga)bytes?|percent|per\s+\w+"
)
_GIVES = {
    "difference": re.compile(r"\b(?:whereas|while|unlike|than|instead\s+of|in\s+contrast|on\s+the\s+other\s+hand)\b", re.I),
    "quantity": re.compile(
        rf"\b{_NUMBER}[\s-]+(?:{_UNITS})\b|\d\s?%|\bin\s+(?:{_UNITS})\b|(?<![\w.])\d{{2,}}(?![\w.])", re.I
    ),
    "why": re.compile(
        r"\b(?:because|since|so\s+that|due\s+to|reasons?|therefore|in\s+order\s+to|to\s+(?:avoid|prevent|keep|protect)|"
        r"otherwise|thus|rejected|lacks?|cannot|would|owing\s+to|as\s+(?:it|they|this))\b", re.I,
    ),
    "when": re.compile(
        r"\b(?:when(?:ever)?|if|after|before|until|once|while|as\s+soon\s+as|(?:1[89]|20)\d\d|v?\d+\.\d+[\d.]*)\b", re.I
    ),
    "how": re.compile(r"\b(?:by\s+(?:\w+ing|default)|use|using|set|call|run|add|pass|must|should|always|never|via)\b", re.I),
    "where": re.compile(r"\b(?:in|into|under|inside|within|at|to|on)\s+(?:the|an?|your|its|each|`)", re.I),
    "which": re.compile(
        r"[\w`'\")]+,\s+(?:[^,]{1,40},\s+)*(?:and|or)\s+[`'\"]?\w|\w, [\w`'\". ]{1,40}, \w", re.I
    ),
}  # fmt: skip

_POINTS = re.compile(
    r"^\W*(?:(?:please|also|but)\s+)*(?:see|read|refer\s+to|consult|check\s+out|have\s+a\s+look|take\s+a\s+look|look\s+at|"
    r"continue\s+(?:reading|to|with))\b"
    r"|\bfor\s+(?:(?:some|any|much)\s+)?(?:more|further|full|complete|additional|detailed|other)\s+(?:\w+\s+)?"
    r"(?:information|details?|info|documentation|explanations?|examples?|discussion|on|about)\b"
    r"|\bto\s+(?:learn|read|find\s+out)\s+more\b|\blearn\s+more\b|\bread\s+more\b|\bfor\s+(?:the\s+)?details\b"
    r"|\b(?:see|read|refer\s+to|consult)\s+(?:also\s+)?(?:the\s+)?[^.;(]*(?:documentation|docs|section|reference|guide|below|"
    r"above|page|topic)\W*$"
    r"|\b(?:is|are)\s+(?:\w+\s+)?(?:described|documented|explained|discussed|covered|detailed|listed)\s+(?:\w+\s+)?"
    r"(?:in|under|below|above|here|at)\b",
    re.I,
)  # fmt: skip
_TITLE = re.compile(r"^\W*(?:what|how|why|when|where|which|who)\b[^.!]*$|\?\W*$", re.I)
_EXAMPLE = re.compile(
    r"^\W*(?:for\s+(?:example|instance)|e\.g\.|suppose|assum(?:e|ing)|say|let['’]?s|imagine|consider)\b", re.I
)
_FIELD = re.compile(r"^\W*\w+:(?!:)\s")
_PRONOUN = re.compile(
    r"^\W*(?:it|its|this|that|these|those|they|their|them|he|she|his|her|such|here|there|you|we|both|either)\b", re.I
)
_CONNECTIVE = re.compile(
    r"^\W*(?:however|then|therefore|thus|hence|also|otherwise|instead|additionally|furthermore|moreover|similarly|likewise|"
    r"but|and|or|so|yet|again|besides|meanwhile|nevertheless|consequently|in\s+(?:this|that|these|those|such|both|either)|"
    r"on\s+the\s+other\s+hand|as\s+a\s+result|before\s+doing|after\s+(?:doing|that|this)|at\s+(?:this|that)|by\s+doing|"
    r"note|to\s+do\s+(?:this|so))\b",
    re.I,
)  # fmt: skip
_AMID = re.compile(r"^\W*(?:[a-z]|(?:In|On|At|With|For|From|By|Of|As|If|When|Where|Which|That|Because|And|Or|But)\b)")
_ENDS = re.compile(r"[.!:;。！][\s`'\"”’)\]*]*$")
_ARTICLE = re.compile(r"^\W*(?:(?:the|an?|each|every)\s+)?[`'\"“*]*", re.I)
_IS = re.compile(
    r"[\s`'\"”*()]*\s(?:(?:is|are|was|were)\s+(?!\w+(?:ed|en)\b|not\b|now\b|also\b|only\b|still\b)|means?\b|refers?\s+to\b|"
    r"stands?\s+for\b|denotes?\b|describes?\b)", re.I,
)  # fmt: skip
_ACTS = re.compile(r"[\s`'\"”*()]*\s(?:\w+ly\s)?(?!is\b|was\b|has\b|does\b)[a-z]+s\b", re.I)
_DOES = re.compile(  # "Returns …", "It collects …"
    r"^\W*(?:[A-Z][a-z]+[a-rt-z]s\s|(?:It|This(?:\s\w+)?)\s+(?!is\b|was\b|has\b|does\b)[a-z]+s\b)"
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question asks for.

    Attributes:
        kind: ``difference``, ``quantity``, ``why``, ``when``, ``how``, ``where``, ``which``, or "".
        defines: ``is`` when it asks what something is, ``does`` when it asks what something does, else "".
        name: what it asks that of, as it was written, "" when it asks something else.
        idle: stems of words that belong to the way of asking ("how long").
    """

    kind: str
    defines: str
    name: str
    idle: frozenset[str]


def asked(question: str) -> Asked:
    """What a question asks for, by its question words."""
    question = question[:LOOKED_AT]
    quantity, difference = _QUANTITY.search(question), _ASKS[0][1].search(question)
    if quantity or difference:
        kind, match = ("quantity", quantity) if quantity else ("difference", difference)
        return Asked(kind, "", "", frozenset(terms.tokens(match.group() if match else "")))
    found = ((match.start(), kind) for kind, pattern in _ASKS if (match := pattern.search(question)))
    defines = "is" if _WHAT_IS.search(question) else "does" if _WHAT_DOES.search(question) else ""
    named = _ASKED_NAME.search(question) if defines else None
    kind = "" if defines else min(found, default=(0, ""))[1]
    return Asked(kind, defines, named.group(1).strip("`'\"") if named else "", frozenset())


@functools.lru_cache(maxsize=4096)
def shape(label: str, tied: bool = False) -> float:
    """Marks down, 0 or less, for what a text is whatever was asked. ``tied``: it stands in the section about what was asked,
    so a pronoun at its beginning is about that.
    """
    head = label[:LOOKED_AT]
    for pattern, mark in ((_POINTS, POINTER), (_TITLE, TITLE), (_EXAMPLE, EXAMPLE)):
        if pattern.search(head):
            return -mark
    depends = DEPENDENT if _CONNECTIVE.search(head) or (not tied and _PRONOUN.search(head)) else 0.0
    fragment = FRAGMENT if _AMID.search(head) and head == label and not _ENDS.search(head) else 0.0
    return -depends - fragment


def suits(asked_for: Asked, label: str, type: str = "claim") -> float:
    """Marks up for having what the question asks for: a number, a reason, a date or condition, a place, a list."""
    if asked_for.defines and _FIELD.search(label):
        return -FIELD
    if asked_for.kind == "why" and type == "decision":
        return REASONED
    pattern = _GIVES.get(asked_for.kind)
    if pattern is None or not pattern.search(label[:LOOKED_AT]):
        return 0.0
    return {"quantity": QUANTITY, "which": LIST}.get(asked_for.kind, KIND)


def speaks_of(asked_for: Asked, label: str, names: tuple[str, ...], tied: bool = False) -> float:
    """Marks up for how a text names what was asked about: letter for letter, at its beginning, defining it.

    ``tied``: it stands in the section about it, where "Returns …" needs no name.
    """
    names = (*names, asked_for.name) if asked_for.name else names
    unsaid = DEFINES if tied and asked_for.defines == "does" and _DOES.search(label) else 0.0
    return max((_names(asked_for, label, name) for name in names), default=0.0) + unsaid


def _names(asked_for: Asked, label: str, name: str) -> float:
    opening = _ARTICLE.match(label)
    begins = opening.end() if opening else 0
    at = label[begins : begins + len(name)]
    if at.casefold() != name.casefold() or label[begins + len(name) : begins + len(name) + 1].isalnum():
        return VERBATIM if _within(name, label) else 0.0
    verbatim = VERBATIM if at == name or at[1:] == name[1:] else 0.0
    says = {"is": _IS, "does": _ACTS}.get(asked_for.defines)
    defines = DEFINES if says is not None and says.match(label, begins + len(name)) else 0.0
    return verbatim + OPENS + defines


def together(pairs: frozenset[tuple[str, str]], label: str) -> float:
    """Marks up for pairs of neighbouring words of the question (stems) that are neighbours in the text."""
    if not pairs:
        return 0.0
    found = terms.tokens(label[:LOOKED_AT])
    return PAIR * min(PAIRS, len(pairs.intersection(itertools.pairwise(found))))


def _within(name: str, label: str) -> bool:
    at = label.find(name)
    while at >= 0:
        if not label[at - 1 : at].isalnum() and not label[at + len(name) : at + len(name) + 1].isalnum():
            return True
        at = label.find(name, at + 1)
    return False
