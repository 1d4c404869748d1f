"""The schema of file facts: what an extractor says about one file, as plain values. Called by extractors, linker and indexer.

Facts depend on the file's bytes, its path and the grammar only; they hold no values, comments or bytes of strings. What may
not come in: anything about other files, and any language's own rules.

    {"v": int, "lang": str,
     "syms":    [[name, qual, kind, parent, line, end_line, start, end, full_start, span_hash, body_hash,
                  signature, doc, meta], ...]
     "imports": [[scope, local, module, attr, flags], ...]
     "binds":   {name: chains}                     module-level assignments
     "all":     [name, ...] | null
     "exports": {exported: chain}                  languages that name exports
     "space":   str                                package or namespace the file declares; left out for none
     "calls":   [[scope, chains], ...]             scope = index of the innermost enclosing symbol, -1 at module level
     "refs":    [[scope, chains], ...]             names used as values
     "problems": [[reason, line], ...]
     "contracts", "mounts": what the rule packs say of the file, where they say something (``engine/contracts/collect.py``)}

``span_hash`` and ``body_hash`` are "" in the index: anchors are compared with the disk, which is read and hashed for that.

``chains`` is ONE string of chains separated by blanks (a list of chains is also read). A chain is ``head op*``:

    head  name        resolved at module level, then builtins (after the local bindings "l" of the scope, if there are any)
          self cls super()   the enclosing class; `this` is written self
          @12         symbol 12 of this file        %3   import 3 of this file
          #str #list #dict #set #tuple #int #float #bool #bytes #gen #None   a builtin type's instance
          ?           unknown; ?name = unknown, called or passed under that name
    op    .name  ()  []  (subscript)  {} (one item of an iteration)  * (a collection of the thing before it)
                 ** (a mapping whose values are the thing before it; declared languages write one star a level)

Alternatives of one call site are joined with "|". In a call chain the final "()" is left out; the last name is the name as
written, in languages with overloads with the number of arguments behind it (``name^2``, after the last alternative; there every
call within a chain has it, ``a.b^0().c``), and where that says something with their types (``name^2:#str,Item``). ``meta`` keys,
all optional: b bases, d decorators, p parameters ("name" or "name:chain", blank separated), r return
values, y yielded values, l {local: chains}, a {attribute: chains}, cb {argument: [chains of each
parameter of the function passed there]}, x list of flags, g 1 when gated; in declared languages also ns namespace where it is not
the file's, of chain of the class a method belongs to that stands apart from it, n [least, most] arguments (most -1: any), t types
of the parameters of an overload (as in a call; "" where any will do).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

VERSION = 3

NAME, QUAL, KIND, PARENT, LINE, END, START, STOP, FULL, SPAN, BODY, SIG, DOC, META = range(14)

Facts = dict[str, Any]

#: Flags of definitions that are never run: overloads, what stands under ``TYPE_CHECKING``, declarations whose body is elsewhere; and
#: of those a plain name does not read.
STUBS = frozenset(("typing", "overload", "declared"))
NOT_READ = STUBS | {"setter", "deleter", "generic"}

_POINTER = re.compile(r"[@%](\d+)")
SIGNATURE_LIMIT = 400
_OPENING, _CLOSING = re.compile(r"([(\[{]) "), re.compile(r" ([)\]}])")
DOC_LIMIT = 300


def empty(lang: str) -> Facts:
    """Facts of a file that says nothing."""
    return {
        "v": VERSION, "lang": lang, "syms": [], "imports": [], "binds": {}, "all": None, "exports": {},
        "calls": [], "refs": [], "problems": [],
    }  # fmt: skip


def chains(value: Any) -> list[str]:
    """The chains of a field: a blank-separated string, a list, or nothing."""
    if not value:
        return []
    return value.split(" ") if isinstance(value, str) else list(value)


def portable(facts: Facts, text: str) -> str:
    """A chains string with its pointers replaced by what they point to, so that equal text means equal thing."""
    if "@" not in text and "%" not in text:
        return text

    def spell(match: re.Match[str]) -> str:
        index = int(match.group(1))
        if match.group(0)[0] == "@":
            return "@" + str(facts["syms"][index][QUAL])
        return "%" + "\x1f".join(map(str, facts["imports"][index][1:]))

    return _POINTER.sub(spell, text)


def one_line(text: str) -> str:
    """A signature in one line and within its limit: wrapped parameters close up as if they had never been wrapped."""
    if "\n" in text:
        text = _without_last_comma(_CLOSING.sub(r"\1", _OPENING.sub(r"\1", " ".join(text.split()))))
    return text[:SIGNATURE_LIMIT]


def _without_last_comma(text: str) -> str:
    """Drop the comma before the bracket that closes the parameters; inside them it may make a tuple."""
    depth = 0
    for at, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if depth == 0 and char in ")]}":
            return text[:at].removesuffix(",") + text[at:]
    return text


def trim(facts: Facts) -> None:
    """Forget in place what linking does not need (signatures, docs, hashes), where all facts are held in memory at once."""
    for row in facts["syms"]:
        row[SPAN] = row[BODY] = row[SIG] = row[DOC] = ""


def digest(value: Any) -> str:
    """Short digest of a JSON-able value, for comparing two versions of a surface."""
    return hashlib.blake2b(repr(value).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def unique_quals(rows: list[list[Any]]) -> None:
    """Make the quals of symbol rows unique in place: the second ``f`` becomes ``f#2``; children follow their parent."""
    if len({row[QUAL] for row in rows}) == len(rows):
        return
    seen: dict[str, int] = {}
    for row in rows:
        parent = row[PARENT]
        if parent >= 0:
            owner = rows[parent][QUAL]
            row[QUAL] = f"{owner}.{row[QUAL].rpartition('.')[2]}" if not row[QUAL].startswith(owner + ".") else row[QUAL]
        count = seen[row[QUAL]] = seen.get(row[QUAL], 0) + 1
        while count > 1 and f"{row[QUAL]}#{count}" in seen:
            count += 1
        if count > 1:
            row[QUAL] = f"{row[QUAL]}#{count}"
            seen[row[QUAL]] = 1


def read_of(flags: Sequence[Collection[str]]) -> int:
    """Which of several definitions of one name, given by their flags in order, the name reads: the last that is no stub and no
    setter; where there is none the last."""
    return next((at for at in reversed(range(len(flags))) if not NOT_READ.intersection(flags[at])), len(flags) - 1)


def apply_gates(facts: Facts, spans: Iterator[tuple[int, int]] | tuple[tuple[int, int], ...]) -> None:
    """Mark every symbol whose span touches a gated byte span: it keeps its name and loses signature, doc and hashes."""
    gates = list(spans)
    if not gates:
        return
    for row in facts["syms"]:
        if any(row[FULL] < end and start < row[STOP] for start, end in gates):
            row[META]["g"] = 1
            row[SIG] = row[DOC] = row[SPAN] = row[BODY] = ""
            row[START] = row[STOP] = row[FULL] = 0
