"""The line that stands for an evicted thing: one line, at most so many tokens whatever its title, safe to show as it is.

Who calls: ``set_change``, ``working_set``. What may not come in: the store, scores. The line goes into an agent's context, so
a title may neither end it nor begin another: quotes, brackets, controls and invisible characters are replaced, and it is cut.
"""

from __future__ import annotations

import re

from mog.engine.memory.set_records import Entry, Place, Stub
from mog.engine.retrieval import estimator
from mog.engine.retrieval.model import Item

TOKENS = 40
LEAST = 32  # the line without a title, with the longest ref that is ever made, needs no more
RECALL = "mog ws recall"
TITLE_BYTES = 400
_SWAPPED = str.maketrans({'"': "'", "[": "(", "]": ")", "\\": "/"})
# printable to Python, drawn as nothing
_UNSEEN = re.compile("[\u034f\u115f\u1160\u2800\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef]")


def stub(entry: Entry, most: int = TOKENS) -> Stub:
    """The stub of an entry; its line costs at most ``max(most, LEAST)`` tokens."""
    whole = bool(entry.text)
    return Stub(entry.ref, entry.id, entry.title, entry.zoom, entry.tokens, entry.out, line(entry, most), whole)


def line(entry: Entry, most: int = TOKENS) -> str:
    """``[evicted ws_… · "title" · 3.2k tokens · recall: mog ws recall ws_…]``."""
    head, tail = f"[evicted {entry.ref} · ", f"{amount(entry.tokens)} tokens · recall: {RECALL} {entry.ref}]"
    room = max(most, LEAST) * estimator.BYTES_PER_TOKEN - estimator.size(head + tail)
    title = cut(plain(entry.title), room - estimator.size('"" · '))
    return f'{head}"{title}" · {tail}' if title else head + tail


def title(item: Item) -> str:
    """What people call an item: its name and file, or a note's first words; at most 400 bytes."""
    if item.node is not None:
        found = ", ".join(part for part in (item.node.qual, item.node.path) if part) or item.node.name
    else:
        lines = [one.removeprefix("> ").strip() for one in item.text.splitlines() if not one.startswith("[note:")]
        found = next((one for one in lines if one), item.id)
    return cut(found, TITLE_BYTES)


def plain(text: str) -> str:
    """One line of what can be seen, without the characters that frame a stub."""
    seen = "".join(char if _visible(char) else " " for char in text.translate(_SWAPPED))
    return " ".join(seen.split())


def _visible(char: str) -> bool:
    return char.isprintable() and not _UNSEEN.match(char)


def cut(text: str, room: int) -> str:
    """The longest beginning of at most ``room`` UTF-8 bytes; a text that was cut ends in ``…``."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= room:
        return text
    kept = data[: max(0, room - 3)].decode("utf-8", "ignore").rstrip()
    return kept + "…" if kept else ""


def amount(tokens: int) -> str:
    """``940``, ``3.2k``, ``12k``, ``1.5M``."""
    for step, unit in ((1_000_000, "M"), (1_000, "k")):
        if tokens >= step:
            return f"{tokens / step:.1f}{unit}" if tokens < 10 * step else f"{min(tokens // step, 999_999)}{unit}"
    return str(max(0, tokens))


def stubs(entries: list[Entry], most: int) -> tuple[Stub, ...]:
    """Stubs of the evicted among the entries, the latest first."""
    gone = [entry for entry in entries if entry.place is Place.evicted]
    return tuple(stub(entry, most) for entry in sorted(gone, key=lambda one: (-one.out, one.ref)))
