"""reStructuredText as prose: directives and roles go, what they frame stays, object descriptions become topics.

Called by ``readers.py``. What may not come in: docutils (it runs ``include`` and ``raw``), rendering, files.
Sections, lists, literal blocks, tables and directives are read as docutils' specification of the markup has them; a
directive that is not known to hold code or data is taken to hold prose.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mog.engine.reason.prose.marked import GONE, Block, Canvas, Line, Mark, Prose, Sections, lines, tidy

_DIRECTIVE = re.compile(r"^[ \t]*\.\. (?:\|[^|\n]{1,80}\| )?([A-Za-z][\w:+.-]{0,60})::(?:[ \t]+(.*))?$")
_COMMENT = re.compile(r"^[ \t]*\.\.(?:[ \t]|$)")
_FRAME = re.compile(r"^([!-/:-@\[-`{-~])\1{2,}$")
_SIMPLE = re.compile(r"^[ \t]*=+(?:[ \t]+=+)+[ \t]*$")
_GRID = re.compile(r"^[ \t]*(?:\+[-=+]{3,}|\|[ \t].*\|?|\|)$")
_ITEM = re.compile(r"^[ \t]*(?:[-*+•]|\(?(?:\d{1,9}|#|[A-Za-z])[.)])[ \t]+")
_FIELD = re.compile(r"^[ \t]*:[A-Za-z][\w .*-]{0,80}:(?=[ \t]|$)[ \t]*")

_ROLE = re.compile(r":([A-Za-z][\w:+.-]{0,40}):`([^`]{1,400})`|`([^`]{1,400})`:([A-Za-z][\w:+.-]{0,40}):")
_LITERAL = re.compile(r"``(.{1,400}?)``", re.DOTALL)
_REFERENCE = re.compile(r"`([^`<]{1,300}?)(\s*<[^<>`]{1,500}>)?`(_{0,2})")
_BARE_REFERENCE = re.compile(r"(?<=[\w\]])_{1,2}(?=[\s.,;:!?)'\"]|$)")
_FOOTNOTE = re.compile(r"\[(?:#?[\w-]{0,30}|\*)\]_")
_STRONG = re.compile(r"(?<![\w*\\])(\*{1,2})(?=[^\s*])[^*]{1,400}(?<=[^\s*])(\*{1,2})(?!\w)")
_SUBSTITUTION = re.compile(r"\|([^|\s][^|\n]{0,60})\|_{0,2}")
_ESCAPE = re.compile(r"\\(?:\s|(?=[^\w\s]))")
_TARGETED = re.compile(r"^(.{1,300}?)\s*<([^<>]{1,300})>$", re.DOTALL)

_NO_PROSE = frozenset(
    "code-block code sourcecode console highlight literalinclude parsed-literal image figure table list-table csv-table"
    " toctree math raw include contents index snippet productionlist doctest testcode testoutput testsetup currentmodule"
    " module default-domain default-role role meta only tabularcolumns graphviz digraph autosummary automodule autoclass"
    " autofunction automethod replace unicode date class-name py:module py:currentmodule program seealso sectionauthor"
    " codeauthor plot ipython jupyter-execute prompt terminal sectnum header footer target-notes highlightlang".split()
)
_NO_OBJECT = frozenset(
    "note warning tip important hint caution danger attention error admonition topic sidebar container rubric versionadded"
    " versionchanged deprecated versionremoved glossary hlist compound epigraph highlights pull-quote centered tab tabs"
    " tab-set tab-item dropdown card grid todo acks".split()
)
_TEXT_ARGUMENT = frozenset("note warning tip important hint caution danger attention error todo".split())
_CODE_ROLES = frozenset(
    "class func function meth method attr attribute mod module data exc const obj setting djadmin ttag tfilter lookup file"
    " envvar option djadminopt command program keyword code literal samp model template tag any member macro type enum"
    " fieldlookup kbd makevar mailheader mimetype token decorator".split()
)
_NAME = re.compile(r"[A-Za-z_][\w.-]{0,120}")


@dataclass(frozen=True, slots=True)
class _Frame:
    """What lines indented beyond ``indent`` belong to."""

    indent: int
    prose: bool
    topic: str = ""
    glossary: bool = False


def read(text: str) -> Prose:
    """The prose of a reStructuredText."""
    reader = _Reader(text)
    reader.run()
    return reader.canvas.prose()


class _Reader:
    def __init__(self, text: str) -> None:
        self.canvas = Canvas(text)
        self._lines = list(lines(text))
        self._sections = Sections()
        self._styles: list[tuple[str, bool]] = []
        self._frames: list[_Frame] = []
        self._open: tuple[int, int, str, int, int] | None = None  # start, end, role, indent, lines
        self._signature = False

    def run(self) -> None:
        number = 0
        while number < len(self._lines):
            number += self._line(number)
        self.flush()

    def _line(self, number: int) -> int:
        """Read from line ``number``; how many lines that took."""
        line = self._lines[number]
        if not line.text.strip():
            self.flush()
            self._signature = False
            return 1
        self._leave(line.indent)
        if self._frames and not self._frames[-1].prose:
            return 1
        if self._signature and line.indent > self._frames[-1].indent:
            return 1  # options, or further signatures
        return self._section(number) or self._aside(number) or self._text(line)

    def _leave(self, indent: int) -> None:
        while self._frames and indent <= self._frames[-1].indent:
            self.flush()
            self._frames.pop()
            self._signature = False

    # -- sections

    def _section(self, number: int) -> int:
        line = self._lines[number]
        if line.indent or self._open is not None:
            return 0
        after = [each.text for each in self._lines[number + 1 : number + 3]] + ["", ""]
        if _FRAME.match(line.text):
            if after[1] == line.text and after[0].strip():
                self._title(self._lines[number + 1], (line.text[0], True))
                return 3
            return 1  # a transition, or a frame that frames nothing
        if _FRAME.match(after[0]) and len(after[0]) >= len(line.text) - 2 and not _COMMENT.match(line.text):
            self._title(line, (after[0][0], False))
            return 2
        return 0

    def _title(self, line: Line, style: tuple[str, bool]) -> None:
        if style not in self._styles:
            self._styles.append(style)
        self._inline(line.at, line.end)
        title = tidy(self.canvas.seen(line.at, line.end))
        self.canvas.title = self.canvas.title or title
        self._sections.enter(self._styles.index(style), title)
        self.canvas.blocks.append(Block(line.at, line.end, "heading", self._sections.path))

    # -- what is no prose

    def _aside(self, number: int) -> int:
        line = self._lines[number]
        if directive := _DIRECTIVE.match(line.text):
            self.flush()
            self._directive(line, directive)
            return 1
        if _COMMENT.match(line.text):
            self.flush()
            self._frames.append(_Frame(line.indent, prose=False))
            return 1
        if self._open is None and _SIMPLE.match(line.text):
            return self._simple_table(number)
        if self._open is None and (_GRID.match(line.text) or line.text.lstrip().startswith(">>>")):
            return self._to_blank(number)
        return 0

    def _simple_table(self, number: int) -> int:
        """Lines of a simple table: it ends with a frame line that a blank line, or the end, follows."""
        for at in range(number + 1, min(number + 2_000, len(self._lines))):
            end = at + 1 == len(self._lines) or not self._lines[at + 1].text.strip()
            if _SIMPLE.match(self._lines[at].text) and end:
                return at + 1 - number
        return 1

    def _to_blank(self, number: int) -> int:
        at = number
        while at < len(self._lines) and self._lines[at].text.strip():
            at += 1
        return at - number

    def _directive(self, line: Line, match: re.Match[str]) -> None:
        name, argument = match[1].lower(), (match[2] or "").strip()
        if name in _NO_PROSE:
            self._frames.append(_Frame(line.indent, prose=False))
            return
        if name in _NO_OBJECT:
            self._frames.append(_Frame(line.indent, True, self._topic, glossary=name == "glossary"))
            if argument and name in _TEXT_ARGUMENT:
                self._open = (line.start + match.start(2), line.end, "paragraph", -1, 1)
            return
        topic = self._object(name, argument)
        self._frames.append(_Frame(line.indent, True, topic or self._topic))
        self._signature = True

    @property
    def _topic(self) -> str:
        return self._frames[-1].topic if self._frames else ""

    def _object(self, directive: str, signature: str) -> str:
        """The name that an object description declares, below the class it stands in; "" for none."""
        found = _NAME.search(signature.replace("\\", ""))
        if not found:
            return ""
        name = found[0].rstrip(".")
        member = directive.rpartition(":")[2] in ("method", "attribute", "classmethod", "staticmethod", "property")
        if member and "." not in name and self._topic[:1].isupper():
            name = f"{self._topic}.{name}"
        self.canvas.declared.append(name)
        return name

    # -- prose

    def _text(self, line: Line) -> int:
        item = _ITEM.match(line.text)
        if self._open and line.indent > self._open[3] >= 0 and self._open[2] == "paragraph" and self._open[4] == 1:
            self._term()
        if item and (self._open is None or self._open[2] == "item" or line.indent != self._open[3]):
            self.flush()
            self._open = (line.start + item.end(), line.end, "item", len(item[0].expandtabs(8)), 1)
        elif self._open is None:
            self._first(line)
        else:
            start, _, role, indent, count = self._open
            self._open = (start, line.end, role, line.indent if indent < 0 else indent, count + 1)
        return 1

    def _first(self, line: Line) -> None:
        field = _FIELD.match(line.text)
        at = line.start + field.end() if field else line.at
        if at < line.end:
            self._open = (at, line.end, "item" if field else "paragraph", line.indent, 1)

    def _term(self) -> None:
        """The open line was the term of a definition, as the deeper line below it shows."""
        assert self._open is not None
        start, end, _, indent, _ = self._open
        self._open = None
        self._inline(start, end)
        self.canvas.blocks.append(Block(start, end, "term", self._sections.path, self._topic))
        name = tidy(self.canvas.seen(start, end))
        if any(frame.glossary for frame in self._frames):
            self.canvas.glossary.append(name)
        self._frames.append(_Frame(indent, True, name.strip("`") if len(name) <= 60 else self._topic))

    def flush(self) -> None:
        """End the open block; a literal block after ``::`` is no prose."""
        if self._open is None:
            return
        start, end, role, indent, _ = self._open
        self._open = None
        literal = self.canvas.text[start:end].rstrip().endswith("::")
        self._inline(start, end)
        self.canvas.blocks.append(Block(start, end, role, self._sections.path, self._topic))
        if literal:
            self._frames.append(_Frame(max(indent, 0), prose=False))

    def _inline(self, start: int, end: int) -> None:
        work = list(self.canvas.seen(start, end))
        if "`" in work:
            self._roles(start, work)
            self._literals(start, work)
            self._references(start, work)
        seen = "".join(work)
        for sign, rule in (("]_", _FOOTNOTE), ("_", _BARE_REFERENCE), ("\\", _ESCAPE)):
            if sign in seen:
                self.canvas.hide_all(rule.finditer(seen), start)
        for match in _STRONG.finditer(seen) if "*" in seen else ():
            for group in (1, 2):
                self.canvas.hide(start + match.start(group), start + match.end(group))
        for match in _SUBSTITUTION.finditer(seen) if "|" in seen else ():
            self.canvas.put(start + match.start(), start + match.end(), match[1])
        end = len(seen.rstrip())
        if seen.endswith("::", 0, end):
            self.canvas.hide(start + end - 1, start + end)

    def _roles(self, at: int, work: list[str]) -> None:
        for match in _ROLE.finditer("".join(work)):
            body = 2 if match[2] else 3
            role = (match[1] or match[4]).rpartition(":")[2]
            self.canvas.hide(at + match.start(), at + match.start(body) - 1)
            self.canvas.hide(at + match.end(body) + 1, at + match.end())
            self._target(at + match.start(body), at + match.end(body), role)
            work[match.start() : match.end()] = "c" * (match.end() - match.start())

    def _target(self, start: int, end: int, role: str) -> None:
        """What a role's text shows and names: ``words <target>``, ``~package.Name`` or just the name."""
        body = self.canvas.seen(start, end)
        targeted = _TARGETED.match(body)
        shown, name = (targeted[1], targeted[2]) if targeted else (body, body)
        short = int(body.startswith("."))
        if not targeted and body.startswith("~"):
            short = max(body.rstrip("()").rfind("."), 0) + 1
        self.canvas.hide(start, start + short)
        self.canvas.hide(start + len(shown), end)
        code = role in _CODE_ROLES and not (targeted and " " in shown)
        if not code:
            self.canvas.hide(start - 1, start)
            self.canvas.hide(end, end + 1)
        if role in _CODE_ROLES:
            self.canvas.marks.append(Mark(start + short, start + len(shown), "code", name.lstrip("~!.")))
        elif role == "term":
            self.canvas.marks.append(Mark(start, start + len(shown), "term", tidy(name)))

    def _literals(self, at: int, work: list[str]) -> None:
        for match in _LITERAL.finditer("".join(work)):
            self.canvas.hide(at + match.start(), at + match.start() + 1)
            self.canvas.hide(at + match.end() - 1, at + match.end())
            self.canvas.marks.append(Mark(at + match.start(1), at + match.end(1), "code"))
            work[match.start() : match.end()] = "c" * (match.end() - match.start())

    def _references(self, at: int, work: list[str]) -> None:
        """`words <address>`_ keeps its words; `words` alone is the default role, shown without its marks."""
        for match in _REFERENCE.finditer("".join(work)):
            self.canvas.hide(at + match.start(), at + match.start(1))
            self.canvas.hide(at + match.end(1), at + match.end())
            form = "link" if match[3] else "code"
            if form == "link" or _NAME.fullmatch(match[1].rstrip("()")):
                self.canvas.marks.append(
                    Mark(at + match.start(1), at + match.end(1), form, (match[2] or "").strip(" <>"))
                )
            work[match.start() : match.end()] = GONE * (match.end() - match.start())
