"""EXTRACT: which sentences state something, and of which kind; by rules over closed classes of words and endings.

Called by ``pipeline.py``. What may not come in: lists of the verbs or names of one subject, the graph, models. The same
sentence in the same block gives the same answer everywhere.

What is turned away carries a reason, one of ``REASONS``. A statement is *bound* when its words alone do not say what it is
about ("It defaults to None."): two such sentences in two places are two claims.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from mog.engine.reason.prose import words
from mog.engine.reason.prose.chunk import MAX_SENTENCE, Sentence
from mog.engine.reason.prose.marked import Block

REASONS = ("question", "lead_in", "fragment", "list", "code", "pointer", "boilerplate", "too_long", "no_predicate")

_WORD = re.compile(r"`[^`]*`|[^\W_](?:[\w'’./+-]*[\w+])?|[^\W_]")
_CODE = re.compile(r"`[^`]*`")
_CODE_SIGNS = re.compile(r"[{}<>=;|\\$@#%^~]|\(\)|->|::|//")
_FIELD = re.compile(r"^[A-Z][a-z]+(?: [a-z]+)?: \S.{0,200}$")
"""A field of an object description ("Default: `300`"): it states something of the object."""
_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://\S+")
_QUESTION = re.compile("[?？][\"'”’»)\\]]*$|か。?$")
_STOPPED = re.compile("[.!…。！][\"'”’»)\\]`*]*$")
_JAPANESE = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_CYRILLIC = re.compile("[\u0400-\u04ff]")
_JAPANESE_END = re.compile(
    "(?:です|ます|ました|ません|した|する|いる|ある|ない|である|れる|せる|だ|った|った|です|なる|う|く|つ|ぬ|む|る)$"
)
_POINTER = re.compile(
    r"^(?:\W*(?:please )?(?:see|refer to|consult|check out|cf\.|click here|for (?:more|further|full|an?|the)"
    r"(?: \w+){0,3} (?:information|details?|examples?|list|reference|discussion|explanation|description|documentation)"
    r"(?: \w+){0,6},? (?:see|refer|read|consult|check))\b)"
    r"|^(?:\w+ ){0,8}(?:is|are) (?:documented|described|listed|covered|explained|discussed) (?:in|below|above|under|here)\b",
    re.IGNORECASE,
)
_BOILERPLATE = re.compile(
    r"all rights reserved|copyright (?:\(c\)|©|\d{4})|^(?:table of contents|edit this page|last updated|back to top)"
    r"|without warranty|^new in (?:version|\w+ \d)|^changed in (?:version|\w+ \d)|^deprecated since"
    r"|^(?:thanks|thank you)\b|^this (?:page|section|document|chapter|guide|tutorial|topic)\b(?: \w+){0,3} "
    r"(?:describes?|covers?|explains?|lists?|contains?|shows?|documents?|details?|discusses)|^for example[,:]?$"
    r"|^(?:signed-off-by|co-authored-by|reviewed-by)\b|^the (?:following|above) (?:example|code|sections?)\b",
    re.IGNORECASE,
)
_DO_NOT = re.compile(
    r"^(?:please )?(?:do not|don['’]t|never|always|avoid|prefer|ensure|make sure|be sure)\b", re.IGNORECASE
)
_REQUIRED = re.compile(r"\b(?:is|are) (?:required to|forbidden|not allowed|prohibited)\b", re.IGNORECASE)
_ENDING = re.compile(r"^[a-z][a-z-]{2,}(?:ed|[^s'u i]s|ies)$")
_NO_VERB = re.compile(r"(?:ss|us|ous|ness|less|ics|ings|ers|ors|tions|ments|ities)$")
_RUSSIAN_ORDER = re.compile("^[\u0400-\u04ff]{2,}(?:йте|ите|йтесь|итесь)$")


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence that states something; ``label`` is what people read, ``kind`` a kind of claim, ``bound`` as above."""

    label: str
    kind: str
    start: int
    end: int
    heading: tuple[str, ...]
    topic: str
    bound: bool


def extract(sentence: Sentence) -> Statement | str:
    """The statement in a sentence, or the reason why there is none."""
    label = sentence.shown
    if sentence.block.role == "subject":
        return _subject(sentence)
    reason = _turned_away(label, sentence.block.role)
    if reason:
        return reason
    found = _WORD.findall(label)
    block = sentence.block
    if _FIELD.match(label) and _topic(block):
        return Statement(label, "statement", sentence.start, sentence.end, block.heading, _topic(block), True)
    kind = _kind(label, found) if _JAPANESE.search(label) else _latin_kind(label, found, sentence)
    if not kind:
        return "no_predicate"
    return Statement(label, kind, sentence.start, sentence.end, block.heading, _topic(block), _bound(label, found))


def _topic(block: Block) -> str:
    """The object being described: as the markup says, or by a heading that is nothing but a name of code."""
    heading = block.heading[-1] if block.heading else ""
    named = len(heading) > 2 and heading[0] == heading[-1] == "`" and "`" not in heading[1:-1]
    return block.topic or (heading[1:-1] if named else "")


def _subject(sentence: Sentence) -> Statement | str:
    """The subject line of a commit or the title of an issue says what was done or found, whatever its grammar."""
    label, block = sentence.shown, sentence.block
    if _QUESTION.search(label):
        return "question"
    if len(_WORD.findall(label)) < 3 and not _JAPANESE.search(label):
        return "fragment"
    return Statement(label, "statement", sentence.start, sentence.end, block.heading, block.topic, False)


def _turned_away(label: str, role: str) -> str:
    """Reasons that hold in every language and need no grammar."""
    if role == "term":
        return "fragment"
    if len(label) > MAX_SENTENCE:
        return "too_long"
    if _QUESTION.search(label):
        return "question"
    if label.endswith((":", "：", "::", ",")):
        return "lead_in"
    bare = _URL.sub("", _CODE.sub("c", label))
    if len(bare.strip(" .()<>-*")) < 6:
        return "fragment"
    if len(_CODE_SIGNS.findall(bare)) * 12 > len(bare) or label.startswith(("$ ", ">>>", "{", "#!")):
        return "code"
    if _BOILERPLATE.search(label):
        return "boilerplate"
    return "pointer" if _POINTER.search(label) else ""


def _latin_kind(label: str, found: list[str], sentence: Sentence) -> str:
    """Kind of a sentence in a language that parts words by spaces, "" when it states nothing."""
    plain = [word for word in found if not word.startswith("`")]
    stopped = bool(_STOPPED.search(label)) or (label.endswith(";") and sentence.block.role == "item")
    if len(found) < 3 or not plain or _is_list(label, found, stopped):
        return ""
    if not (_CYRILLIC.search(label) or _has_predicate(found, stopped)):
        return ""
    if _CYRILLIC.search(label) and not stopped and len(found) < 5:
        return ""
    return _kind(label, found)


def _is_list(label: str, found: list[str], stopped: bool) -> bool:
    """Nothing but words side by side: commas between nearly all, or capitals on all."""
    if (label.count(",") + label.count("、")) * 2 >= len(found):
        return True
    capital = sum(word[:1].isupper() for word in found)
    return not stopped and capital == len(found)


def _has_predicate(found: list[str], stopped: bool) -> bool:
    lower = [word.lower() for word in found]
    if any(word in words.AUXILIARIES for word in lower) or is_imperative(found):
        return True
    if lower[0] in words.PRONOUNS or any(word in words.STRONG_PASTS for word in lower[1:]):
        return True
    if any(_verb_at(lower, at, stopped) for at in range(len(lower))):
        return True
    # A full sentence of English has a verb; the present plural ("enzymes bind ATP") carries no ending to know it by.
    return stopped and _plural_subject(lower)


def _verb_at(lower: list[str], at: int, stopped: bool) -> bool:
    """Does the word have the ending of a finite verb, and stand where a verb stands?"""
    word = lower[at]
    if not _ENDING.match(word) or _NO_VERB.search(word) or word in words.FUNCTION_WORDS:
        return False
    before = lower[at - 1] if at else ""
    after = lower[at + 1] if at + 1 < len(lower) else ""
    if before in words.DETERMINERS or before in words.PREPOSITIONS or before in ("and", "or"):
        return False
    if at == 0:  # "Returns the …", "Added a …": what descriptions of code begin with
        return (
            after in words.DETERMINERS
            or after in words.PREPOSITIONS
            or after.startswith("`")
            or after in words.CONJUNCTIONS
        )
    takes = after in words.DETERMINERS or after in words.PRONOUNS or after in words.PREPOSITIONS or after.endswith("ly")
    return stopped or takes or after in ("that", "if", "when", "how", "whether") or after.startswith("`")


def _plural_subject(lower: list[str]) -> bool:
    """A plural noun with a bare word after it that is no function word, before any preposition: subject and verb."""
    for word, after in pairwise(lower):
        if word.endswith("s") and len(word) > 3 and after.isalpha() and after not in words.FUNCTION_WORDS:
            return True
    return len(lower) >= 5 and any(word in words.DETERMINERS for word in lower[1:])


def is_imperative(found: list[str]) -> bool:
    """An order: a bare verb first and then what takes its object, or one of the words that only orders begin with."""
    at = 1 if found[0].lower() in words.LEADING else 0
    if len(found) <= at + 1:
        return False
    first, second = found[at].lower(), found[at + 1].lower()
    if first in words.TELLING and second == "that":
        return False
    if first in words.FORBIDDING or (first, second) in (("do", "not"), ("make", "sure"), ("be", "sure")):
        return True
    if first in words.FUNCTION_WORDS or first in words.STRONG_PASTS - words.UNCHANGED or not first.isalpha():
        return False
    if first.endswith(("ing", "ed", "ly", "tion", "ness", "ment")):
        return False
    if first.endswith("s") and not first.endswith("ss"):
        return False
    takes = second in words.DETERMINERS or second in ("it", "them", "you", "yourself") or second.startswith("`")
    return takes or (found[at][:1].isupper() and _ordered_use(found[at:]))


def _ordered_use(found: list[str]) -> bool:
    """Verb, name, preposition with nothing finite after it, as in "Use Redis for sessions"."""
    lower = [word.lower() for word in found]
    if len(found) < 4 or found[1][:1].islower() or any(word in words.AUXILIARIES for word in lower[1:]):
        return False
    return lower[2] in words.PREPOSITIONS and not any(_verb_at(lower, at, False) for at in range(2, len(lower)))


def _kind(label: str, found: list[str]) -> str:
    lower = {word.lower() for word in found}
    if _JAPANESE.search(label):
        if not _japanese_statement(label):
            return ""
        orders = any(word in label for word in words.JAPANESE_DEONTIC)
    else:
        orders = bool(
            lower & words.DEONTIC or lower & words.RUSSIAN_DEONTIC or _DO_NOT.match(label) or _REQUIRED.search(label)
        )
        orders = orders or is_imperative(found) or bool(_RUSSIAN_ORDER.match(found[0].lower()))
    if orders:
        return "convention"
    return "risk" if any(word in label.lower() for word in words.RISKS) else "statement"


def _japanese_statement(label: str) -> bool:
    body = label.rstrip("。！｡.!)）」』")
    return len(_JAPANESE.findall(body)) >= 5 and (body != label or bool(_JAPANESE_END.search(body)))


def _bound(label: str, found: list[str]) -> bool:
    """Does the sentence point back, or say too little to stand alone?"""
    first = found[0].lower() if found else ""
    if _JAPANESE.search(label):
        return label.startswith(("これ", "それ", "この", "その", "あれ")) or len(label) < 10
    if first in words.POINTING or first in words.CONJUNCTIONS or len(found) < 6:
        return True
    return _verb_at([word.lower() for word in found[:2]], 0, False) or label.lower().startswith(
        ("the default", "a list of", "the name of", "the value")
    )
