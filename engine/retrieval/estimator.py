"""The one estimate of what a text costs an agent. Every budget, gauge and report uses it and names it.

What may not come in: a model's own tokenizer (none ships in a package, and each model has another).
"""

from __future__ import annotations

#: Four UTF-8 bytes a token, rounded up: what English and code come to with current tokenizers, and more than they take for
#: scripts whose characters are three bytes long, so that a budget errs on the safe side there.
NAME = "utf8-bytes/4"
BYTES_PER_TOKEN = 4


def size(text: str) -> int:
    """UTF-8 bytes of a text; an unpaired surrogate counts as the three bytes it would take."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def tokens(text: str) -> int:
    """Estimated tokens of a text: 0 for an empty one, monotone under appending."""
    return of_bytes(size(text))


def of_bytes(count: int) -> int:
    """Estimated tokens of that many UTF-8 bytes."""
    return -(-count // BYTES_PER_TOKEN)


def cut(text: str, budget: int) -> str:
    """The longest beginning of whole lines that costs at most ``budget``; of a first line that is too long, its beginning."""
    room = budget * BYTES_PER_TOKEN
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= room:
        return text
    kept = data[:max(0, room)].decode("utf-8", "ignore")
    head, newline, _ = kept.rpartition("\n")
    return head + newline if newline else kept
