"""All keys on one page: as text for a terminal, as Markdown for the manual. Both are made from the table.

Who calls: ``mog tui --keys``; ``python -m mog.app.tui.cheatsheet`` prints ``docs/keys.md``, and a test says that it is current.
What may not come in: a second list of keys.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from mog.app.tui.keymap import FORBIDDEN, Keymap, written
from mog.app.tui.keys import KEYS, Key

HEADINGS = {"move": "Move", "go": "Go", "panes": "Panes", "act": "Act on the row at `>`", "mog": "mog"}
_INTRO = """# Keys

Made from the table of the workbench by `python -m mog.app.tui.cheatsheet`; `mog tui --keys` prints the keys as you have them, and \
`?` inside shows them beside what they do. A letter means one thing in every pane. A key that cannot act says why.
"""
_MOVE = """## Move a key

`tui.keys` in `mog.yaml` or `mog.local.yaml` gives an action other keys, in place of its own; the names are in the last column.

```yaml
tui:
  keys:
    why: W
    search: [ctrl+f, "/"]
```

Refused, with file and line: an action that does not exist, one without a key, a key with two meanings, `alt`, and keys that \
are another key's byte or belong to the terminal:
"""


def by_group(table: Sequence[Key]) -> list[tuple[str, list[Key]]]:
    """Keys under their headings, in the order of the table."""
    return [
        (group, [key for key in table if key.group == group]) for group in dict.fromkeys(key.group for key in table)
    ]


def text(keymap: Keymap) -> str:
    """The keys as lines: what is pressed, what it does, its name for ``tui.keys``."""
    wide = max(len(key.shown) for key in keymap.table) + 2
    says = max(len(key.says) for key in keymap.table) + 2
    lines = []
    for group, keys in by_group(keymap.table):
        lines += ["", HEADINGS[group].replace("`", "")]
        lines += [f"  {key.shown:<{wide}}{key.says:<{says}}{key.name}" for key in keys]
    moved = [f"{len(keymap.moved)} moved by {keymap.origin}"] if keymap.moved else []
    return "\n".join([*lines[1:], *moved])


def markdown() -> str:
    """``docs/keys.md``."""
    parts = [_INTRO]
    for group, keys in by_group(KEYS):
        rows = [f"| {_code(key.shown)} | {key.says} | `{key.name}` |" for key in keys]
        parts.append(
            "\n".join([f"## {HEADINGS[group]}\n", "| key | what it does | name |", "|---|---|---|", *rows, ""])
        )
    refused = [f"| `{written(key)}` | {why} |" for key, why in FORBIDDEN.items()]
    parts.append("\n".join([_MOVE, "| key | why |", "|---|---|", *refused]))
    return "\n".join(parts) + "\n"


def _code(shown: str) -> str:
    return " ".join(f"`{one}`" for one in shown.split())


if __name__ == "__main__":
    sys.stdout.write(markdown())
