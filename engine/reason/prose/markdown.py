"""Markdown as prose: headings become context; code, tables, comments and tags go; links keep their words.

Called by ``readers.py``. What may not come in: YAML (``front.py`` takes the front matter off first), rendering, files.
The blocks are those of CommonMark 0.31 as far as prose needs them, with the tables, footnotes and task boxes of GitHub.
Whatever the input, the time is linear in its length: every repeat in an expression is bounded or possessive.
"""

from __future__ import annotations

import re

from mog.engine.reason.prose.marked import GONE, Block, Canvas, Line, Mark, Prose, Sections, lines, tidy

_FENCE = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])?[ \t]*(`{3,}|~{3,})([^`]*)$")
_ATX = re.compile(r"^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_RULE = re.compile(r"^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_SETEXT = re.compile(r"^ {0,3}(=+|-{2,})[ \t]*$")
_ITEM = re.compile(r"^([ \t]*)([-*+]|\d{1,9}[.)])([ \t]+)(?:\[[ xX]\][ \t]+)?")
_QUOTE = re.compile(r"^[ \t]{0,3}>[ \t]?(?:\[![A-Z]+\])?")
_DEFINITION = re.compile(r"^ {0,3}\[[^\[\]\n]{1,200}\]:[ \t]")
_ADMONITION = re.compile(r"^[ \t]*(?:!!!|\?\?\?\+?|:::+)[^\n]*$")
_TABLE = re.compile(r"^[ \t]*\|.*\|?[ \t]*$|^[ \t]*:?-{3,}:?[ \t]*(?:\|[ \t]*:?-{3,}:?[ \t]*)+\|?$")
_OPEN_HTML = re.compile(r"^ {0,3}<(script|style|pre|svg|table)\b", re.IGNORECASE)

_CODE = re.compile(r"(?<!`)(`{1,3})(?!`)(.{1,600}?)(?<!`)\1(?!`)", re.DOTALL)
_TAG = re.compile(
    r"<!--.{0,4000}?-->|</?[A-Za-z][^<>\n]{0,400}>|<[A-Za-z][A-Za-z0-9+.-]{1,31}:[^<>\s]{0,600}>|<[^<>\s@]{1,100}@[^<>\s]{1,100}>",
    re.DOTALL,
)
_IMAGE = re.compile(r"!\[[^\[\]]{0,300}\](?:\([^()\n]{0,600}\)|\[[^\[\]\n]{0,200}\])?")
_LINK = re.compile(
    r"\[(?P<words>(?:[^\[\]]){1,400})\](?P<to>\((?:[^()\n]|\([^()\n]{0,200}\)){0,800}\)|\[[^\[\]\n]{0,200}\])"
)
_FOOTNOTE = re.compile(r"\[\^[^\[\]\n]{1,60}\]:?")
_STRONG = re.compile(r"(?<![\w*\\])(\*{1,3})(?=[^\s*])(?:[^*\n]|\n(?!\s*\n)){1,600}?(?<=[^\s*])(\*{1,3})(?!\w)")
_UNDER = re.compile(r"(?<![\w\\])(_{1,3})(?=[^\s_])(?:[^\n]|\n(?!\s*\n)){1,600}?(?<=[^\s_])(_{1,3})(?!\w)")
_ESCAPE = re.compile(r"\\(?=[!-/:-@\[-`{-~])|\\$|~~")
_ENTITY = re.compile(r"&(amp|lt|gt|quot|nbsp|mdash|ndash|hellip|#39);")
_ENTITIES = {
    "amp": "&", "lt": "<", "gt": ">", "quot": '"', "nbsp": " ", "mdash": "—", "ndash": "–", "hellip": "…", "#39": "'",
}  # fmt: skip


def read(text: str, start: int = 0) -> Prose:
    """The prose of a Markdown text from offset ``start`` on (what is before it, front matter, is not prose)."""
    reader = _Reader(text)
    reader.canvas.hide(0, start)
    for line in lines(text, start):
        reader.line(line)
    reader.flush()
    return reader.canvas.prose()


class _Reader:
    """Line by line; ``_open`` is the block being gathered as [start, end, role, lines], or None."""

    def __init__(self, text: str) -> None:
        self.canvas = Canvas(text)
        self.sections = Sections()
        self._open: tuple[int, int, str, int] | None = None
        self._fence = ""
        self._until = ""
        self._in_list = False
        self._blank = True
        self._table = False

    def line(self, line: Line) -> None:
        if self._skipped(line):
            return
        quote = _QUOTE.match(line.text)
        while quote:
            self.canvas.hide(line.start, line.start + quote.end())
            line = Line(line.start + quote.end(), line.end, line.text[quote.end() :])
            quote = _QUOTE.match(line.text)
        if not line.text.strip():
            self.flush()
            self._blank, self._table = True, False
            return
        self._content(line)
        self._blank = False

    def _skipped(self, line: Line) -> bool:
        """Inside a fence, a comment or an HTML block, or the line that opens one."""
        stripped = line.text.lstrip(" \t>")
        if self._fence:
            if stripped.startswith(self._fence) and not stripped.strip(self._fence[0]):
                self._fence = ""
            return True
        if self._until:
            self._until = "" if self._until in line.text.lower() else self._until
            return True
        if fence := _FENCE.match(line.text.lstrip(">")):
            self.flush()
            self._fence = fence[1]
            return True
        return self._html(line)

    def _html(self, line: Line) -> bool:
        opened = _OPEN_HTML.match(line.text)
        until = f"</{opened[1].lower()}>" if opened else "-->" if line.text.lstrip().startswith("<!--") else ""
        if not until:
            return False
        self.flush()
        self._until = "" if until in line.text.lower() else until
        return True

    def _content(self, line: Line) -> None:
        if self._heading(line) or self._aside(line):
            return
        item = _ITEM.match(line.text)
        if item and not _RULE.match(line.text):
            self.flush()
            self._in_list = True
            self._open = (line.start + item.end(), line.end, "item", 1)
        elif self._open is None:
            self._in_list = self._in_list and line.indent > 0
            self._open = (line.at, line.end, "paragraph", 1)
        else:
            self._open = (self._open[0], line.end, self._open[2], self._open[3] + 1)

    def _heading(self, line: Line) -> bool:
        if atx := _ATX.match(line.text):
            self.flush()
            self._title(len(atx[1]), line.start + (atx.start(2) if atx[2] else atx.end(1)), line.start + atx.end(2))
            return True
        underline = _SETEXT.match(line.text)
        if underline and self._open and self._open[2] == "paragraph" and self._open[3] <= 2:
            start, end, *_ = self._open
            self._open = None
            self._title(1 if underline[1][0] == "=" else 2, start, end)
            return True
        return False

    def _title(self, level: int, start: int, end: int) -> None:
        if end <= start:
            return
        self._inline(start, end)
        title = tidy(self.canvas.seen(start, end))
        self.canvas.title = self.canvas.title or title
        self.sections.enter(level, title)
        self.canvas.blocks.append(Block(start, end, "heading", self.sections.path))
        self._in_list = False

    def _aside(self, line: Line) -> bool:
        """A rule, a table row, a link definition, an admonition's marker or indented code: no prose."""
        code = self._open is None and self._blank and not self._in_list and line.indent >= 4
        table = bool(_TABLE.match(line.text)) or (self._table and "|" in line.text)
        if table and self._open and self._open[3] == 1 and "|" in self.canvas.text[self._open[0] : self._open[1]]:
            self._open = None  # the header row
        if code or table or _RULE.match(line.text) or _DEFINITION.match(line.text) or _ADMONITION.match(line.text):
            self.flush()
            self._table = table
            return True
        return False

    def flush(self) -> None:
        """End the open block."""
        if self._open is not None:
            start, end, role, _ = self._open
            self._open = None
            self._inline(start, end)
            self.canvas.blocks.append(Block(start, end, role, self.sections.path))

    def _inline(self, start: int, end: int) -> None:
        work = list(self.canvas.seen(start, end))
        if "`" in work:
            self._code(start, work)
        for rule in (_IMAGE, _TAG, _FOOTNOTE):
            self._gone(rule, start, work)
        if "]" in work:
            self._links(start, work)
        for rule in (_STRONG, _UNDER):
            if ("*" if rule is _STRONG else "_") in work:
                self._emphasis(rule, start, work)
        self._gone(_ESCAPE, start, work)
        for match in _ENTITY.finditer("".join(work)):
            self.canvas.put(start + match.start(), start + match.end(), _ENTITIES[match[1]])

    def _code(self, at: int, work: list[str]) -> None:
        """One backtick on each side stays, so that a reader sees what is code; rules after this one see no markup in it."""
        for match in _CODE.finditer("".join(work)):
            ticks = len(match[1]) - 1
            self.canvas.hide(at + match.start(), at + match.start() + ticks)
            self.canvas.hide(at + match.end() - ticks, at + match.end())
            self.canvas.marks.append(Mark(at + match.start(2), at + match.end(2), "code"))
            work[match.start() : match.end()] = "c" * (match.end() - match.start())

    def _gone(self, rule: re.Pattern[str], at: int, work: list[str]) -> None:
        for match in rule.finditer("".join(work)):
            self.canvas.hide(at + match.start(), at + match.end())
            work[match.start() : match.end()] = GONE * (match.end() - match.start())

    def _links(self, at: int, work: list[str]) -> None:
        for match in _LINK.finditer("".join(work)):
            self.canvas.hide(at + match.start(), at + match.start("words"))
            self.canvas.hide(at + match.end("words"), at + match.end())
            target = match["to"][1:-1].strip().split(" ")[0]
            self.canvas.marks.append(Mark(at + match.start("words"), at + match.end("words"), "link", target))
            work[match.start() : match.start("words")] = GONE * (match.start("words") - match.start())
            work[match.end("words") : match.end()] = GONE * (match.end() - match.end("words"))

    def _emphasis(self, rule: re.Pattern[str], at: int, work: list[str]) -> None:
        for match in rule.finditer("".join(work)):
            for group in (1, 2):
                self.canvas.hide(at + match.start(group), at + match.end(group))
