"""Text into markup: every text from outside passes ``said`` once, and comes out short, visible and escaped.

Who calls: ``draw.py``, ``panels.py``, ``render.py``. What may not come in: records of the engine, layout.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from functools import lru_cache

from mog.app.present import clean
from mog.engine.code.secrets import contains_secret
from mog.widgets.fit import cut_tail

WITHHELD = "withheld: shaped like a credential"
LONG = 160
_MOST = 1_000  # characters looked at: far more than are shown, so that a credential that is cut off is seen as one


@lru_cache(maxsize=4_096)
def plain(text: str, width: int = LONG) -> str:
    """A text from outside in at most ``width`` cells, nothing in it that steers; not escaped yet."""
    if len(text) > _MOST:
        text = text[:_MOST] + "…"
    if contains_secret(text) is not None:
        return WITHHELD
    return cut_tail(clean(text), width)


def said(text: str, width: int = LONG) -> str:
    """A text from outside, for the inside of an element or of a quoted attribute."""
    return html.escape(plain(text, width), quote=True)


def isolated(text: str, width: int = LONG) -> str:
    """Like ``said``, in an element of its own, so that a right-to-left text turns nothing around it."""
    return f"<bdi>{said(text, width)}</bdi>"


def tag(name: str, content: str = "", **attributes: object) -> str:
    """An element; content is markup, attributes are escaped. ``_`` in a name is ``-``, at its end nothing; None leaves one out."""
    return f"<{name}{_attributes(attributes)}>{content}</{name}>"


def void(name: str, **attributes: object) -> str:
    """An element without content."""
    return f"<{name}{_attributes(attributes)}/>"


def _attributes(given: Mapping[str, object]) -> str:
    out = []
    for name, value in given.items():
        if value is not None:
            out.append(f' {name.rstrip("_").replace("_", "-")}="{html.escape(_number(value), quote=True)}"')
    return "".join(out)


def _number(value: object) -> str:
    """Coordinates in tenths: the same on every machine, and short."""
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


def table(heads: Iterable[tuple[str, str]], rows: Iterable[Iterable[str]], caption: str) -> str:
    """A table of markup; a head is (words, class of the column), and a cell gets the class of its column."""
    heads = tuple(heads)
    top = "".join(tag("th", words, class_=kind or None, scope="col") for words, kind in heads)
    body = "".join(
        tag("tr", "".join(tag("td", cell, class_=kind or None) for cell, (_, kind) in zip(row, heads, strict=True)))
        for row in rows
    )
    inner = tag("caption", caption, class_="unseen") + tag("thead", tag("tr", top)) + tag("tbody", body)
    return tag("div", tag("table", inner), class_="scroll", tabindex="0", role="group", aria_label=caption)


def hidden(count: int, what: str = "") -> str:
    """How many rows were left out; nothing when none was."""
    return tag("p", f"+{count:,} {what or 'hidden'}", class_="more") if count > 0 else ""


def teach(text: str, command: str = "") -> str:
    """What an empty panel says: what would be here, and how it gets here."""
    more = f" {tag('code', html.escape(command))}" if command else ""
    return tag("p", html.escape(text) + more, class_="empty")
