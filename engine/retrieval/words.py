"""From text to terms: how identifiers are split, what is stemmed, what is left out. The one place that decides it.

Who calls: ``terms`` for what is indexed, ``query`` and ``rank`` for what is asked; both sides must agree. What may not come in:
weights, fields, files. A term is the whole identifier in lower case and without ``_``, each of its parts, and a plain word; all
stemmed. So ``url_resolver``, ``URLResolver`` and "urlresolvers" are one.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from mog.engine.stems import stem
from mog.engine.store.fts import split_identifier

#: Any change of what a text's terms are asks for another number: stored terms are made anew.
VERSION = 3

WORD = re.compile(r"\w{2,80}")
_LONGEST = 80
_BLANKED = re.compile("x{8,}")
#: Distinct words whose numbers are kept, so that a process that reads many repositories stays small.
_HELD = 400_000
_SPACED = bytes(byte if byte < 128 and (chr(byte).isalnum() or byte == 95) else 32 for byte in range(256))
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]")

STOP = frozenset(
    """a about above after again against all also am an and any are as at be because been before being below between both but by
    can cannot could did do does doing down during each few for from further get got had has have having he her here hers him his
    how however i if in into is it its just may me might more most must my no nor not of off on once only or other our ours out
    over own please same shall she should so some such than that the their them then there these they this those through to too
    under until up upon us very was we were what when where whether which while who whom whose why will with within without would
    you your yours since although though unless via per like seem seems want wants see instead currently using use used""".split()
)
#: Words of nearly every piece of code: they cost postings and find nothing.
NOISE = frozenset(
    "self cls def return none true false else elif try except raise pass lambda import yield const let var new".split()
)


def tokens(text: str) -> list[str]:
    """Terms of a text in order, repetitions kept; stop words are left out."""
    return [term for word in WORD.findall(text) for term in terms_of(word)]


@lru_cache(maxsize=200_000)
def terms_of(word: str) -> tuple[str, ...]:
    """Terms of one word or identifier, the whole first: ``getUserIds``, ``get_user_ids`` → ``getuserid user id``."""
    if not word.isascii():
        return _foreign(unicodedata.normalize("NFKC", word)[:_LONGEST])
    low = word.strip("_").lower()
    if low.isalpha() and (word[1:].islower() or word.isupper()):
        return () if low in STOP else (stem(low),)
    parts = split_identifier(word)
    if len(parts) < 2:
        return () if not low or low in STOP else (stem(low),)
    pieces = dict.fromkeys(stem(part) for part in parts if len(part) > 1 and part not in STOP)
    return (stem(low.replace("_", "")), *pieces)


def _foreign(word: str) -> tuple[str, ...]:
    low = word.casefold().strip("_")
    if _CJK.search(low):
        return tuple(low[at : at + 2] for at in range(len(low) - 1)) or (low,)
    parts = [part.casefold() for part in split_identifier(word)]
    stems = tuple(dict.fromkeys(stem(part) for part in parts if len(part) > 1))
    return stems if len(parts) < 2 else (stem(low.replace("_", "")), *stems)


@lru_cache(maxsize=400_000)
def number(term: str) -> int:
    """A term as 64 bits of which the low three are free for a field; two of a million terms share one in 1 of 10^6 corpora."""
    return int.from_bytes(hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little") & ~7


class _Packed(dict[str | bytes, bytes]):
    """Word → its numbers, eight bytes each; made when first asked for. Words of nothing but ``x`` are what a gate left behind.

    Args:
        without: words left out. plain: the table that makes the others; None: this one does.
    """

    def __init__(self, without: frozenset[str] = frozenset(), plain: _Packed | None = None) -> None:
        super().__init__()
        self._without = without
        self._plain = plain

    def __missing__(self, word: str | bytes) -> bytes:
        text = word if isinstance(word, str) else word.decode()
        made = b"" if text in self._without else _made(text) if self._plain is None else self._plain[word]
        if len(self) >= _HELD:
            self.clear()
        self[word] = made
        return made

    def all(self, data: bytes) -> bytes:
        """The numbers of all words of a text, in order."""
        found = data.translate(_SPACED).split() if data.isascii() else WORD.findall(data.decode("utf-8", "replace"))
        return b"".join(map(self.__getitem__, found))


def _made(word: str) -> bytes:
    kept = [] if _BLANKED.fullmatch(word) else WORD.findall(word)
    return b"".join(number(term).to_bytes(8, "little") for piece in kept for term in terms_of(piece))


_TEXT = _Packed()
_CODE = _Packed(NOISE, _TEXT)


def packed(text: str) -> bytes:
    """Numbers of the terms of a text, eight bytes each, in order, repetitions kept."""
    return _TEXT.all(text.encode("utf-8", "replace"))


def packed_code(code: bytes) -> bytes:
    """The same of bytes of code; the words of nearly every piece of code are left out."""
    return _CODE.all(code)


def numbers(terms: Iterable[str]) -> list[int]:
    """Terms as numbers, in order."""
    return [number(term) for term in terms]


def exact(name: str) -> int:
    """The number under which a symbol is found by exactly this name (``save``, ``Model.save``), case included."""
    return number("\0" + name)
