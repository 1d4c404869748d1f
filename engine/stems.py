"""Word forms brought to one key by a few suffix rules: English, and the case endings of Russian.

Called by ``reason/terms`` and ``retrieval/words``. What may not come in: word lists of a whole language, anything but one
folded word in and one key out. A key need not be a word; it only has to be the same for the forms that belong together,
and rarely for others.
"""

from __future__ import annotations

import functools
import re

_IRREGULAR_NOUNS = {
    "ids": "id",
    "apis": "api",
    "clis": "cli",
    "guis": "gui",
    "indices": "index",
    "vertices": "vertex",
    "matrices": "matrix",
    "children": "child",
    "people": "person",
    "schemata": "schema",
    "criteria": "criterion",
    "analyses": "analysis",
    "hypotheses": "hypothesis",
    "grey": "gray",
    "programme": "program",
}
_IRREGULAR_VERBS = {
    "ran": "run", "made": "make", "chose": "choose", "chosen": "choose", "took": "take", "taken": "take",
    "gave": "give", "given": "give", "found": "find", "built": "build", "broke": "break", "broken": "break",
    "went": "go", "gone": "go", "wrote": "write", "written": "write", "grew": "grow", "grown": "grow",
    "kept": "keep", "lost": "lose", "held": "hold", "sent": "send", "fell": "fall", "fallen": "fall",
    "became": "become", "left": "leave", "paid": "pay", "sold": "sell", "said": "say", "knew": "know",
    "known": "know", "rose": "rise", "risen": "rise", "spent": "spend", "began": "begin", "begun": "begin",
    "brought": "bring", "bought": "buy", "thought": "think", "led": "lead", "met": "meet", "won": "win",
}  # fmt: skip
_KEEP_S = ("ss", "us", "is")
_SINGULAR_S = frozenset("alias atlas bias canvas lens pandas news series species".split())
_SIBILANT_E = re.compile(r"(?:s|x|z|ch|sh)e$")
_BRITISH = (
    (re.compile(r"(?<=.{3})our(?=$|s$|able$|ed$|ing$|ite$)"), "or"),
    (re.compile(r"(?<=.{2})is(?=e$|ed$|er$|ing$|ation$)"), "iz"),
    (re.compile(r"(?<=.{2})ys(?=e$|ed$|er$|ing$)"), "yz"),
    (re.compile(r"(?<=.{2}[tb])re$"), "er"),
    (re.compile(r"(?<=.{2})ogue$"), "og"),
    (re.compile(r"(?<=[a-z]{2}en)ce$"), "se"),
    (re.compile(r"(?<=[aeiou]l)l(?=ed$|er$|ing$)"), ""),
)
_CYRILLIC = re.compile("[\u0400-\u04ff]")
_RUSSIAN = re.compile(
    "(?<=[\u0430-\u044f]{4})(?:иями|ями|ами|ого|его|ому|ему|ыми|ими|иях|ях|ах|ям|ам|ая|яя|ое|ее|ый|ий|ой|ые|ие|ую|юю|ых|их|"
    "ым|им|ом|ем|ов|ев|ей|ия|ию|ии|а|я|о|е|ы|и|у|ю|ь|й)$"
)


@functools.lru_cache(maxsize=16384)
def singular(word: str) -> str:
    """Key of a noun: plural and singular, British and American give the same one."""
    if _CYRILLIC.search(word):
        return _RUSSIAN.sub("", word)
    if not word.isascii():
        return word[:-1] if len(word) > 2 and word[-1] == "ー" else word  # サーバー, サーバ
    word = _IRREGULAR_NOUNS.get(word, word)
    if len(word) < 4 or any(c.isdigit() for c in word):
        return word
    return _sibilant(_american(_without_s(word)))


def _without_s(word: str) -> str:
    if word[-1] != "s" or word.endswith(_KEEP_S) or word in _SINGULAR_S:
        return word
    return word[:-1]


def _american(word: str) -> str:
    for pattern, instead in _BRITISH:
        word = pattern.sub(instead, word)
    return word


def _sibilant(word: str) -> str:
    if word.endswith("ie") and len(word) > 3:
        return word[:-2] + "y"
    if word.endswith("oe"):
        return word[:-1]
    return word[:-1] if len(word) > 3 and _SIBILANT_E.search(word) else word


@functools.lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """Key of a word in a sentence: forms of a verb and what is made from it fall together, more loosely than a noun's."""
    word = _IRREGULAR_VERBS.get(word, word)
    word = singular(word)
    if not word.isascii() or len(word) < 4 or any(c.isdigit() for c in word):
        return word
    return _without_e(_without_ending(word))


_ENDINGS = (
    ("ization", "iz", 3), ("ation", "at", 3), ("fulness", "ful", 3), ("ingly", "", 4), ("edly", "", 4), ("ness", "", 3),
    ("ment", "", 4), ("ing", "", 3), ("ed", "", 3), ("ly", "", 4), ("tion", "t", 3), ("sion", "s", 3), ("er", "", 4),
    ("or", "", 5),
)  # fmt: skip
_VOWEL = re.compile("[aeiouy]")


def _without_ending(word: str) -> str:
    for ending, instead, least in _ENDINGS:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            return _single(rest) + instead if len(rest) >= least and _VOWEL.search(rest) else word
    return word


def _single(word: str) -> str:
    """Without the consonant that was doubled before the ending: running, run."""
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls" else word


def _without_e(word: str) -> str:
    if len(word) > 3 and word[-1] == "e":
        word = word[:-1]
    if len(word) > 3 and word[-1] == "y":
        word = word[:-1] + "i"
    return word[:-2] if len(word) > 6 and word.endswith("at") else word
