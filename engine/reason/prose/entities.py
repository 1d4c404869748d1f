"""What a sentence may name: code identifiers, runs of capitalised words, runs of kanji and katakana, defined terms.

Called by ``lexicon.py``, which counts these over all documents and decides which are entities. What may not come in: counts,
the graph, lists of the names of one subject.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mog.engine.reason.prose import words
from mog.engine.reason.prose.marked import Mark, Prose, tidy

MAX_NAME = 80
MAX_WORDS = 6

_TICKED = re.compile(r"`([^`]{1,200})`")
_CALL = re.compile(r"^([\w.:@-]+)\(.*\)?$", re.DOTALL)
_IDENTIFIER = re.compile(
    r"^@?-{0,2}[^\W\d][\w]*(?:(?:\.|::|/|-|->|:)\*?[\w*-]+)*/?$|^[.~]?/?(?:[\w.-]+/)+[\w.*-]*$|^\.[a-z][\w.-]+$"
)
_TEMPLATE = re.compile(r"^\{%-?\s*(\w+)\b[^%]*%\}$")
_LITERALS = frozenset(
    "true false none null nil undefined nan self cls this args kwargs int str bool float list dict tuple set".split()
)
_SHAPED = re.compile(
    r"^(?:[^\W\d]\w*\.)+[^\W\d]\w*$|_|[a-z0-9][A-Z]|^[A-Z]{2,}[A-Z0-9]*[a-z]\w+$|^--|/|::|->|^[A-Z][a-z0-9]+[A-Z]"
)
_BARE_CODE = re.compile(
    r"(?<![\w@/.`<-])(?:[^\W\d]\w*_\w+(?:\(\))?|(?:[^\W\d_]\w*\.){2,}[^\W\d]\w*(?:\(\))?|[^\W\d]\w+\(\)|--[a-z][\w-]+"
    r"|[\w-]+(?:/[\w.-]+)*/[\w-]+\.[a-z]{1,5}"
    r"|[\w-]+\.(?:py|md|toml|ya?ml|json|js|ts|tsx|rs|go|java"
    r"|cfg|ini|txt|sql|html|css|sh))(?![\w/`])"
)

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_WORD = re.compile(
    f"[^\\W\\d_{_CJK}](?:[^\\W_{_CJK}]|[-+&](?=[^\\W_{_CJK}])|[.](?=[A-Za-z]{{2}}))*[+#]{{0,2}}|\\d[\\w.]*|`[^`]*`|[^\\s\\w]"
)
_OPENING = frozenset(".!?:;\"'“‘«„([—–-*")
"""Signs after which a capital may only be that of a beginning."""
_POSSESSIVE = re.compile(r"(?<=[^\W\d_])['’](?:s\b)?(?=[\s,.;:)]|$)")
_JOINING = frozenset("of de der van von des".split())
_KANJI = re.compile("[\u30a1-\u30fa\u30fc]{3,16}|[\u4e00-\u9fff々]{2,8}(?:[\u30a1-\u30fa\u30fc]{2,10})?")
_JAPANESE = re.compile("[\u3040-\u30ff]")
_DEFINED = re.compile(
    r"^(?:(?P<article>An?|The) )?(?P<term>[^\W\d_][\w-]*(?: [\w-]+){0,3}) "
    r"(?:is|are) (?:an?|the|any|one of|collections?|objects?)\b"
)
_PLURAL_DEFINED = re.compile(r"^(?P<term>[A-Z][\w-]*(?: [\w-]+){0,2}s) are \w+")
_INITIAL_ONLY = frozenset(
    "when if while use using add set note see for with all some any this that these those each both after before by as at in on"
    " because since although though however also but and or so once only new old other another more most many several".split()
)


@dataclass(frozen=True, slots=True)
class Found:
    """One naming: ``form`` is code, name, cjk, term; ``full`` the qualified name the markup gave; ``first`` is set when it
    opens a sentence, so that the capital of its first word proves nothing.
    """

    text: str
    form: str
    full: str = ""
    first: bool = False


def identifier(text: str) -> str:
    """The name in a piece of code, without call brackets and quotes; "" when the piece is no single name."""
    text = text.strip().strip("'\"").strip()
    if template := _TEMPLATE.match(text):
        return template[1]
    call = _CALL.match(text)
    name = call[1] if call else text
    name = name.strip("~!").rstrip(":,")
    if not 2 <= len(name) <= MAX_NAME or not _IDENTIFIER.match(name) or name.lower().strip(".-/") in _LITERALS:
        return ""
    folder = name.endswith("/") and name.count("/") == 1  # "store/" would answer to every "store"
    return name if any(char.isalpha() for char in name) and not folder else ""


def short(full: str) -> str:
    """A qualified name as people say it: its last part, with the class before it when it is a member of one."""
    parts = full.split(".")
    member = len(parts) > 1 and parts[-2][:1].isupper() and bool(parts[-1])
    return ".".join(parts[-2:]) if member else parts[-1] or full


def shaped(name: str) -> bool:
    """Is a name recognisably code outside of code marks: dotted, snake_case, camelCase, a path, a flag?"""
    return bool(_SHAPED.search(name))


def in_sentence(shown: str, marks: tuple[Mark, ...] = (), offset: int = 0, text: str = "") -> Iterator[Found]:
    """Everything a shown sentence names. ``marks`` are those inside it; ``text`` and ``offset`` give their words."""
    qualified = {}
    for mark in marks:
        said = tidy(text[mark.start - offset : mark.end - offset])
        if mark.form == "term":
            yield Found(mark.name or said, "term")
        elif mark.form == "code" and mark.name:
            qualified[identifier(said)] = identifier(mark.name)
    for ticked in _TICKED.findall(shown):
        if name := identifier(ticked):
            full = qualified.get(name, "")
            yield Found(short(full) if full else name, "code", full)
    open_text = _TICKED.sub(lambda match: "`" + " " * (len(match[0]) - 2) + "`", shown)
    for match in _BARE_CODE.finditer(open_text):
        if name := identifier(match[0]):
            yield Found(name, "code")
    yield from _names(_BARE_CODE.sub(lambda match: "`" + " " * (len(match[0]) - 2) + "`", open_text))


def _names(shown: str) -> Iterator[Found]:
    found = _WORD.findall(_POSSESSIVE.sub(" ’ ", shown))
    at = 0
    while at < len(found):
        run = _run(found, at)
        if run:
            yield from _as_name(found[at : at + run], first=at == 0 or found[at - 1] in _OPENING)
        at += run or 1
    if _KANJI.search(shown):
        yield from (Found(name, "cjk") for name in _KANJI.findall(shown))


def _run(found: list[str], at: int) -> int:
    """Words from here that make one run of capitals, small words between two capitals counted."""
    if not _capital(found[at]):
        return 0
    end = at + 1
    while end < len(found) and end - at < MAX_WORDS:
        if _capital(found[end]):
            end += 1
        elif found[end] in _JOINING and end + 1 < len(found) and _capital(found[end + 1]):
            end += 2
        else:
            break
    return end - at


def _capital(word: str) -> bool:
    return word[0].isupper() and len(word) > 1


def _as_name(run: list[str], first: bool) -> Iterator[Found]:
    """A run as a name, words taken off its start that only the start of a sentence capitalised, or that name nothing."""
    dropped = False
    while run and (
        run[0].lower() in words.NO_NAMES or run[0].lower() in words.FUNCTION_WORDS or run[0].lower() in _INITIAL_ONLY
    ):
        run, dropped = run[1:], True
    while run and (run[-1].lower() in words.NO_NAMES or run[-1].lower() in words.FUNCTION_WORDS or run[-1] in _JOINING):
        run = run[:-1]
    if not run:
        return
    name = " ".join(run)
    acronym = len(run) == 1 and name.isupper()
    yield Found(name, "name", first=first and not dropped and not acronym)


def defined(shown: str) -> str:
    """The term that a sentence defines ("A fixture is a collection of …"), "" when it defines none."""
    match = _DEFINED.match(shown) or _PLURAL_DEFINED.match(shown)
    if not match or (match.groupdict().get("article") or "").lower() == "the":
        return ""
    return term(match["term"])


def term(text: str) -> str:
    """A heading or defined phrase as a term, articles off; "" when it cannot be one."""
    found = text.strip("`*_. ").split()
    while found and found[0].lower() in ("a", "an", "the"):
        found = found[1:]
    name = " ".join(found)
    if not 1 <= len(found) <= 4 or not 3 <= len(name) <= MAX_NAME or not re.fullmatch(r"[^\W\d_][\w -]*", name):
        return ""
    lower = [word.lower() for word in found]
    if any(word in words.FUNCTION_WORDS or word in _INITIAL_ONLY for word in lower) or lower[-1] in words.NO_NAMES:
        return ""
    if lower[0] in words.NO_NAMES or lower[0].endswith("ing") or lower[0] in words.STRONG_PASTS:
        return ""
    return name


def of_headings(prose: Prose) -> Iterator[Found]:
    """What headings and defined terms name."""
    for block in prose.blocks:
        if block.role in ("heading", "term"):
            title = tidy(prose.shown[block.start : block.end])
            if (name := identifier(title.strip("`"))) and (title.startswith("`") or _BARE_CODE.fullmatch(title)):
                yield Found(name, "code")
            elif name := term(title):
                yield Found(name, "term")
