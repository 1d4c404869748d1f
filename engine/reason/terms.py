"""Words of names and questions in one normal form. Called by the resolver, the walker, the prose pipeline, the mesh.

What may not come in: the graph, dictionaries of a language, anything learned. Every rule is a table or a few lines
below, so the same text gives the same words on every machine.

Three depths, each for another purpose:

    normal(text)   how a name is written: case, punctuation, camelCase, articles, legal forms do not count
    name(text)     what makes two spellings one name: plural, British or American, umlauts, hyphens
    tokens(text)   what makes a question and a sentence talk of the same thing: word stems, no stop words
"""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mog.engine.stems import singular, stem

MAX_TEXT = 16_000  # characters looked at; a label is never longer
STOP = frozenset(
    """a about above after again against all also am an and any are as at be because been before being below between
    both but by can cannot could did do does doing down during each few for from further get got had has have having
    he her here hers him his how however i if in into is it its just may me might more most must my no nor not of off
    on once only or other our ours out over own please same shall she should so some such tell than that the their
    them then there these they this those through to too under until up upon us very was we were what when where
    whether which while who whom whose why will with within without would you your yours since although though
    unless via per like among across along around besides despite instead""".split()
)
# question words and glue of other languages, as far as they are no English words
STOP |= frozenset(
    """der das den dem ein eine einer eines ist warum wieso wie wer wann wo welche welcher welches und oder nicht für von
    mit le la les un une des du est pourquoi quand où qui que quel quelle et dans avec el los las una por qué cómo
    cuándo dónde quién почему что кто где когда как какой какая какое какие зачем и в на с к о по не из для это был
    была было были ли от до за 什么 为什 怎么 为何 如何 哪些 哪个 何故""".split()
)
ARTICLES = frozenset("the a an our their its".split())
LEGAL = frozenset(
    "inc incorporated llc ltd corp corporation co gmbh plc ag kg ohg sarl srl llp pty bv nv oy ооо зао оао пао".split()
)
_GMBH = re.compile(r"\bGmbH\b")
_CJK_LEGAL = re.compile("株式会社|有限会社|合同会社|股份有限公司|有限公司")

_LOW, _UP = "a-zß-öø-ÿа-яё", "A-ZÀ-ÖØ-ÞА-ЯЁ"
# IDs and APIs are plurals, not an I before Ds
_CAMEL = re.compile(f"(?<=[{_LOW}])(?=[{_UP}])|(?<=[0-9])(?=[{_UP}][{_LOW}])|(?<=[{_UP}])(?=[{_UP}](?!s\\b)[{_LOW}])")
_POSSESSIVE = re.compile(r"(?<=\w)['’]s\b")
_APOSTROPHE = re.compile(r"(?<=\w)['’](?=\w)")
_VERSION = re.compile(r"(?<![^\W_])v\.?\s?(?=\d)")
_VERSION_APART = re.compile(r"v(?:'s)?\.?\s\d", re.IGNORECASE)
_OUTER = "`'\"()[]{}<>.,;:!?*|"
_THOUSANDS = re.compile(r"(?<=\d)[,_](?=\d{3}(?!\d))")
_BLANK = re.compile(r"\s")
_CALL = re.compile(r"\(\s*\)")
_WORD = re.compile(
    r"__[a-z0-9_]*[a-z0-9]__|[a-z]+(?=\d+\.\d)|\d+(?:\.\d+)+[a-z0-9]*|[a-z0-9]+(?:[+#]{1,2}(?![a-z0-9]))?"
)
_CODE = re.compile(r"[^\W\d]\w*(?:\.|::|->|#)[^\W\d]|\w_\w|__\w+__|\w\(\)|\w[\\/]\w")
_CJK = "\u3041-\u3096\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff々〆"
_CJK_CHAR = re.compile(f"[{_CJK}]")
_KANA = re.compile("[\u3041-\u3096]")  # particles and endings, unless the whole run is written so
_SPLIT_CJK = re.compile(f"[{_CJK}]+|[^{_CJK}]+")
_UMLAUTS = {"ä": "ae", "ö": "oe", "ü": "ue"}
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i", "ё": "е", "ð": "d", "þ": "th"})
_DIGRAPH = re.compile("([aou])e(?!d?$|[rs]$)")  # Mueller, but not valued, issuer
_BARE_SCRIPTS = ("LATIN", "GREEK", "HEBREW", "ARABIC")  # where a mark is an accent and not a letter


@dataclass(frozen=True, slots=True)
class Name:
    """A name taken apart.

    Attributes:
        text: as it was written.
        normal: the normal form, words joined by one blank.
        words: words of the normal form.
        plain: the words without accents, in the singular.
        german: the same with ä ö ü written out as ae oe ue.
        keys: words to look the name up by; where ``plain`` or ``german`` of two names agree, the keys agree too.
        parts: what of two names is compared when they are not the same: the keys, of a CJK word its pairs of characters.
        squeezed: the keys written together.
        numbers: the numbers in it, in order; two names that differ here are two things.
        code: it is written as one identifier, path or dotted name, so the order of its words counts.
    """

    text: str
    normal: str
    words: tuple[str, ...]
    plain: tuple[str, ...]
    german: tuple[str, ...]
    keys: tuple[str, ...]
    parts: frozenset[str]
    squeezed: str
    numbers: tuple[str, ...]
    code: bool


def normal(text: str) -> str:
    """The normal form of a name: compatibility characters unified (NFKC), case folded, camelCase and snake_case split,
    possessives, call brackets, articles and trailing legal forms dropped. Never empty for a text that is not blank.
    """
    return " ".join(words(text))


def words(text: str) -> tuple[str, ...]:
    """The words of the normal form, in order."""
    flat = unicodedata.normalize("NFKC", text[:MAX_TEXT])
    found = tuple(_words(flat))
    if not found:
        left = " ".join(flat.casefold().split())
        return (left,) if left else ()
    return found if is_code(text) else _bare(found)


def _words(flat: str) -> Iterator[str]:
    flat = _CJK_LEGAL.sub(" ", flat) if not flat.isascii() else flat
    folded = _spaced(flat).casefold()
    if "'" in folded or "’" in folded:
        folded = _APOSTROPHE.sub("", folded)
    if not folded.isascii():
        folded = unicodedata.normalize("NFKC", folded)
    folded = _VERSION.sub(" ", folded.replace("&", " and ")) if "v" in folded or "&" in folded else folded
    folded = _THOUSANDS.sub("", folded) if "," in folded or "_" in folded else folded
    if folded.isascii():
        yield from _WORD.findall(folded)
        return
    for run in _runs(folded):
        yield from [run] if not _CJK_CHAR.search(run) else _SPLIT_CJK.findall(run)


def _spaced(flat: str) -> str:
    """Parts of one name written together, apart; the tests before each rule only save time."""
    if "(" in flat:
        flat = _CALL.sub(" ", flat)
    if "'" in flat or "’" in flat:
        flat = _POSSESSIVE.sub("", flat)
    return flat if flat.islower() else _CAMEL.sub(" ", _GMBH.sub("gmbh", flat))


def _runs(folded: str) -> Iterator[str]:
    """Runs of letters, digits and marks; ASCII words inside follow the same rules as in ASCII text."""
    marked = "".join(c if c.isalnum() or c in ".+#_" or unicodedata.category(c)[0] == "M" else " " for c in folded)
    for chunk in marked.split():
        if chunk.isascii():
            yield from _WORD.findall(chunk)
        else:
            yield from (part.rstrip("#") for part in re.split(r"[._+]+|(?<=\w)#+", chunk) if part.rstrip("#"))


def _bare(found: tuple[str, ...]) -> tuple[str, ...]:
    """Without articles before another word and without legal forms at the end (or, ООО, at the start)."""
    kept = [w for i, w in enumerate(found) if w not in ARTICLES or i == len(found) - 1]
    while len(kept) > 1 and kept[-1] in LEGAL:
        kept.pop()
    if len(kept) > 1 and kept[0] in LEGAL and not kept[0].isascii():
        kept.pop(0)
    return tuple(kept)


def is_code(text: str) -> bool:
    """Whether the text is written as one identifier, path, dotted or qualified name (no blank inside)."""
    bare = text.strip()
    if not bare or _BLANK.search(bare):
        return False
    return bool(_CODE.search(bare) or _CAMEL.search(bare))


def is_cjk(text: str) -> bool:
    """Whether there is a Chinese or Japanese character in it."""
    return bool(_CJK_CHAR.search(text))


def fold(word: str, umlauts: bool = False) -> str:
    """A word without accents; with ``umlauts`` ä ö ü become ae oe ue. Marks that make another letter stay (й, が)."""
    if word.isascii():
        return word
    spread = "".join(_UMLAUTS.get(c, c) for c in word) if umlauts else word
    out: list[str] = []
    for char in unicodedata.normalize("NFKD", spread.translate(_LETTERS)):
        if unicodedata.category(char) != "Mn" or not out or not _bare_script(out[-1]):
            out.append(char)
    return unicodedata.normalize("NFC", "".join(out))


@functools.lru_cache(maxsize=4096)
def _bare_script(char: str) -> bool:
    return unicodedata.name(char, "").startswith(_BARE_SCRIPTS)


@functools.lru_cache(maxsize=8192)
def name(text: str) -> Name:
    """A name taken apart; see ``Name``."""
    found = words(text)
    plain = tuple(singular(fold(w)) for w in found)
    german = plain if text.isascii() else tuple(singular(fold(w, umlauts=True)) for w in found)
    keys = tuple(key_of(w) for w in found)
    joined = " ".join(found)
    numbers = tuple(re.findall(r"\d+(?:\.\d+)*", joined))
    parts = frozenset(keys) if joined.isascii() else frozenset(p for key in keys for p in pairs(key) or (key,))
    code = is_code(text) and len(found) > 1
    return Name(text, joined, found, plain, german, keys, parts, "".join(keys), numbers, code)


def pairs(word: str) -> tuple[str, ...]:
    """Neighbouring characters of a CJK word; nothing for any other."""
    return tuple(word[i : i + 2] for i in range(len(word) - 1)) if is_cjk(word) else ()


@functools.lru_cache(maxsize=16384)
def key_of(word: str) -> str:
    """The key of one word of a normal form."""
    return _DIGRAPH.sub(r"\1", singular(fold(word)))


def tokens(text: str) -> tuple[str, ...]:
    """Stems of the words that carry meaning, in order, repetitions kept; runs of CJK characters give pairs."""
    flat = text[:MAX_TEXT] if text.isascii() else unicodedata.normalize("NFKC", text[:MAX_TEXT])
    if _VERSION_APART.search(flat):
        return _tokens(flat)
    pieces = map(str.strip, flat.split(), itertools.repeat(_OUTER))
    return tuple(itertools.chain.from_iterable(map(_piece, pieces)))


@functools.lru_cache(maxsize=32768)
def _piece(piece: str) -> tuple[str, ...]:
    """Tokens of a piece without a blank: no rule but that of versions looks past one, and pieces repeat."""
    if piece.isascii() and piece.isalpha() and (piece[1:].islower() or len(piece) == 1):
        return _token(piece.lower())
    return _tokens(piece)


def _tokens(flat: str) -> tuple[str, ...]:
    return tuple(t for w in _words(flat) for t in _token(w))


@functools.lru_cache(maxsize=16384)
def _token(word: str) -> tuple[str, ...]:
    if _CJK_CHAR.search(word):
        found = pairs(word) or (word,)
        return tuple(p for p in found if p not in STOP and not _KANA.search(p)) or found
    if word in STOP:
        return ()
    key = stem(key_of(word))
    # called is "caled" by the rule for travelled, so call is "cal"
    return (key[:-1] if key.endswith("ll") else key,)


def initials(text: str) -> str:
    """First letters of a name of two words or more, else ""."""
    return first_letters(words(text))


def first_letters(found: tuple[str, ...]) -> str:
    """``initials`` of words already in normal form."""
    letters = "".join(w[0] for w in found if w not in STOP)
    return letters if len(letters) > 1 else ""


def is_acronym(text: str) -> bool:
    """Two to six capital letters or digits, the first a letter (PG, S3, OAuth is none)."""
    return bool(re.fullmatch(r"[A-ZА-Я][A-ZА-Я0-9]{1,5}", text.strip()))


_SPELLED = re.compile(r"((?:[\w’'-]+\s+){1,8})\(\s*([A-ZА-Я][A-ZА-Я0-9]{1,5})s?\s*\)")


def spelled_out(text: str) -> tuple[tuple[str, str], ...]:
    """Pairs (long form, acronym) that a text spells out itself, as in "Payment Gateway (PG)".

    Each letter of the acronym must start one of the words before the bracket, in order, with only small words between.
    """
    pairs = []
    for match in _SPELLED.finditer(text[:MAX_TEXT]):
        long = _long_form(match.group(1).split(), match.group(2))
        if long:
            pairs.append((long, match.group(2)))
    return tuple(dict.fromkeys(pairs))


def _long_form(before: list[str], acronym: str) -> str:
    at, letters = len(before), acronym.casefold()
    for letter in reversed(letters):
        at -= 1
        while at >= 0 and before[at].casefold() in STOP and before[at][0].casefold() != letter:
            at -= 1
        if at < 0 or before[at][0].casefold() != letter:
            return ""
    return " ".join(before[at:])


# -- what a question mentions

MAX_MENTIONS = 24
MAX_RUN = 6  # words of the longest known name looked for
_QUOTED = re.compile(
    r"`([^`]{1,200})`|\"([^\"]{1,200})\"|“([^”]{1,200})”|«([^»]{1,200})»|„([^“”]{1,200})[“”]|「([^」]{1,200})」"
)
_CHUNK = re.compile(r"[^\s`\"“”«»„「」]+")
_TRIM = " \t.,;:!?…()[]{}<>\"'’。、？！"
_JOINING = frozenset("of and for de la der van von des".split())
_MAX_CJK = 16


@dataclass(frozen=True, slots=True)
class _Chunk:
    """One blank-free piece of a question: its text without outer punctuation, and whether a break follows it."""

    text: str
    breaks: bool


def mentions(question: str, known: Callable[[str], bool] | None = None) -> tuple[str, ...]:
    """What a question may be about, in order of appearance, at most 24.

    Quoted and back-ticked spans, code-like words, runs of capitalised words, and the longest runs of words that are
    names already: ``known`` is asked with the keys of a run written together (``Name.squeezed``). A name inside a longer
    capitalised run is not mentioned by it: "Payment Gateway Tests" does not mention the Payment Gateway.
    """
    text = question[:MAX_TEXT]
    quoted = [next(g for g in m.groups() if g is not None).strip() for m in _QUOTED.finditer(text)]
    chunks = [_chunk(m.group()) for m in _CHUNK.finditer(_QUOTED.sub(" . ", text))][:400]
    found = [*quoted, *_code_like(chunks), *_names(chunks, known or (lambda key: False))]
    distinct = {normal(m): m for m in reversed(found) if normal(m)}
    return tuple(sorted(distinct.values(), key=lambda m: (text.find(m) % (len(text) + 1), m)))[:MAX_MENTIONS]


def _chunk(raw: str) -> _Chunk:
    bare = raw.strip(_TRIM)
    if raw.rstrip(".,;:!?…").endswith("()") and bare:
        bare += "()"
    return _Chunk(_POSSESSIVE.sub("", bare), raw[-1] in ".,;:!?…)。、？！" or not bare)


def _code_like(chunks: list[_Chunk]) -> list[str]:
    return [c.text for c in chunks if _CODE.search(c.text)]


def _names(chunks: list[_Chunk], known: Callable[[str], bool]) -> Iterator[str]:
    """Known names and capitalised runs, the longest first at every word, none inside another."""
    at = 0
    while at < len(chunks):
        run, named = _capitalised(chunks, at), _known(chunks, at, known)
        if run > max(named, 1) and _opens(chunks, at) and _known(chunks, at + 1, known) >= run - 1:
            run = 0  # "Compare Payment Gateway and …": the verb is no part of the name
        if run == 1 and not named and _opens(chunks, at) and chunks[at].text[1:].islower():
            run = 0  # any sentence begins with a capital
        length = max(run, named)
        if length:
            yield " ".join(c.text for c in chunks[at : at + length])
        elif chunks[at].text:
            yield from _cjk_names(chunks[at].text, known)
        at += length or 1


def _opens(chunks: list[_Chunk], at: int) -> bool:
    return at == 0 or chunks[at - 1].text == ""


def _known(chunks: list[_Chunk], at: int, known: Callable[[str], bool]) -> int:
    """Length of the longest run of words from here that is a name; 0 when there is none."""
    keys, longest = "", 0
    for length, chunk in enumerate(chunks[at : at + MAX_RUN], start=1):
        keys += name(chunk.text).squeezed if chunk.text else ""
        single_stop = length == 1 and chunk.text.casefold() in STOP
        if keys and not single_stop and chunk.text and known(keys):
            longest = length
        if chunk.breaks:
            break
    return longest


def _capitalised(chunks: list[_Chunk], at: int) -> int:
    """Length of the run of capitalised words from here; versions belong to it, and small words between two capitals."""
    if not _is_capital(chunks[at].text):
        return 0
    length = 0
    for offset, chunk in enumerate(chunks[at : at + 12]):
        if _is_capital(chunk.text) or (offset and re.fullmatch(r"v?\d[\w.]*", chunk.text)):
            length = offset + 1
        elif chunk.text not in _JOINING:
            break
        if chunk.breaks:
            break
    return length


def _is_capital(text: str) -> bool:
    return bool(text) and any(c.isupper() for c in text) and text.casefold() not in STOP


def _cjk_names(text: str, known: Callable[[str], bool]) -> Iterator[str]:
    """Known names inside a run without blanks, the longest first at every character."""
    for run in (r for r in _SPLIT_CJK.findall(text) if _CJK_CHAR.search(r)):
        at = 0
        while at < len(run):
            spans = (run[at : at + n] for n in range(min(_MAX_CJK, len(run) - at), 1, -1))
            hit = next((s for s in spans if known(name(s).squeezed)), "")
            if hit:
                yield hit
            at += len(hit) or 1
