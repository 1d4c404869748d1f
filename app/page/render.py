"""The whole page: template, style and script of the package, the panels, and the policy that binds a browser to them.

Who calls: ``app/cli/export.py``. What may not come in: questions to the workspace, anything from another address.

Style and script are named in the policy by their hashes: a text that got into the page as markup would still run nothing,
load nothing and send nothing.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.resources
import string

from mog import __version__
from mog.app.page.facts import Facts
from mog.app.page.markup import said, tag
from mog.app.page.panels import Panel, counts, panels, stored
from mog.styles.themes import PALETTES

THEMES = ("dark", "light", "contrast", "deuter", "tritan")


def page(facts: Facts) -> str:
    """The page as one text. Same facts, same bytes."""
    style, script = _style(), _text("page.js")
    return string.Template(_text("page.html")).substitute(
        policy=policy(style, script),
        style=style,
        script=script,
        name=said(facts.name, 60),
        version=__version__,
        state=_state(facts),
        written=said(facts.written[:16].replace("T", " ")),
        source=_source(facts),
        stored=said(stored(facts)),
        counts=counts(facts),
        contents="".join(tag("li", tag("a", title, href=f"#{id}")) for id, title, *_ in panels()),
        panels="".join(_panel(facts, panel) for panel in panels()),
    )


def policy(style: str, script: str) -> str:
    """What a browser may do with the page: apply this style, run this script, nothing else."""
    return (
        f"default-src 'none'; style-src '{digest(style)}'; script-src '{digest(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def digest(text: str) -> str:
    """A text as a source expression of a policy (CSP 3, hash-source)."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _panel(facts: Facts, panel: Panel) -> str:
    id, title, sense, show, command, wide = panel
    commands = " ".join(tag("code", said(one)) for one in command.split("; "))
    head = tag("header", tag("h2", title, id=f"{id}-title") + tag("p", sense))
    tools = _text("graph.html") if id == "graph" else ""
    body = tag("div", tools + show(facts), class_="body")
    foot = tag("footer", f"asked as {commands}")
    return tag(
        "section", head + body + foot, id=id, class_=f"panel w{wide}", aria_labelledby=f"{id}-title", tabindex="-1"
    )


def _state(facts: Facts) -> str:
    """The top line of the workbench: what stands, in marks and words."""
    rows = [
        ("●", "standing", facts.survey.total("standing"), "standing"), ("▼", "weakened", facts.survey.total("weakened"), "weakened"),
        ("≠", "contested", facts.survey.total("contested"), "contested"), ("×", "fallen", facts.survey.total("fallen"), "fallen"),
        ("±", "stale", facts.off, "drifted"),
    ]  # fmt: skip
    return "".join(
        tag("span", f'<i aria-hidden="true">{glyph}</i> {count:,} {word}', class_=f"state {role if count else 'quiet'}")
        for glyph, role, count, word in rows
    )


def _source(facts: Facts) -> str:
    status = facts.status
    event = f"event {facts.ledger.head.seq:,}" if facts.ledger else "no event"
    if not status.indexed:
        return f"no index, {event}"
    ref = " ".join(word[:7] if len(word) == 40 else word for word in status.index.ref.replace("@", " ").split())
    behind = f", {status.pending:,} files changed since" if status.pending else ""
    return f"index generation {status.index.generation:,} of {said(ref, 60) or 'no commit'}{behind}, {event}"


def _style() -> str:
    """Palettes as custom properties, then the sheet."""
    variables = {name: "".join(f"--{role}:{colour};" for role, colour in PALETTES[name].items()) for name in THEMES}
    rules = [
        f":root{{color-scheme:dark;{variables['dark']}}}",
        f"@media (prefers-color-scheme:light){{:root{{color-scheme:light;{variables['light']}}}}}",
        f"@media (prefers-contrast:more){{:root{{color-scheme:dark;{variables['contrast']}}}}}",
    ]
    for name in THEMES:
        scheme = "light" if name == "light" else "dark"
        rules.append(f":root[data-theme={name}]{{color-scheme:{scheme};{variables[name]}}}")
    return "\n".join([*rules, _text("page.css")])


def _text(name: str) -> str:
    return importlib.resources.files("mog.app.page").joinpath(name).read_text(encoding="utf-8")
