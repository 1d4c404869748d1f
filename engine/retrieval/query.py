"""A question taken apart: title, prose, code, and what it mentions by name. Bounded, whatever it holds.

Who calls: ``rank``. What may not come in: the corpus; whether a mentioned thing exists is decided there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

LIMIT = 40_000
MENTIONS = 200
#: A first line longer than this is no title.
TITLE_LIMIT = 400

_HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_URL = re.compile(r"\bhttps?://[^\s<>()\[\]\"']+")
_FENCE = re.compile(r"```[^\n]*\n(.*?)(?:```|\Z)", re.DOTALL)
_CODE_LINE = re.compile(
    r"(?m)^(?:[ ]{4,}|\t|>>> |\.\.\. |In \[\d|Out\[\d|from [\w.]+ import |import [\w.]+|(?:async )?def \w+\(|class \w+[(:]|@\w"
    r"|[\w.\[\]'\"]+ = |[\w.]+\([^)]*\)$|  File \"|Traceback ).*$"
)
_ERROR = re.compile(r"(?m)^[ >E]*(?:[\w.]+\.)?\w*(?:Error|Exception|Warning|Exit|Interrupt)\b:.*$")
_FRAME = re.compile(r'File "([^"\n]{1,300})", line (\d{1,7}), in ([\w.<>]{1,200})')
_OTHER_FRAME = re.compile(r"(?m)^\s*(?:at )?([\w./\\-]{1,300}\.\w{1,5}):(\d{1,7}): (?:in (\w{1,200}))?")
_CELL_FRAME = re.compile(r"(?m)^(\S{1,300}\.py) in (\w{1,200})\(.*\)$(?:\n.*){0,12}?\n-+> (\d{1,7}) ")
_ENDLESS = re.compile(r"(\S{300})\S{200,}")
_PATH = re.compile(
    r"(?<![\w.-])[\w.-]{0,200}(?:/[\w.-]{1,200}){1,40}|(?<![\w./-])[\w-]{1,200}\.(?:py|pyi|js|jsx|mjs|ts|tsx|go|rs|java|c|h|cc|cpp|hpp|cs|rb|php|md|rst|txt|toml|"
    r"cfg|ini|ya?ml|json|html|sql|sh)\b"
)
_PLACE = re.compile(r"(?<![\w./\\-])([\w./\\-]{1,300}\.\w{1,5})(?::|#L|, line |\", line )(\d{1,7})")
_BLOB = re.compile(r"/(?:blob|tree|blame)/[^/\s]{1,200}/([\w./-]{0,299}\w)(?:#L(\d{1,7}))?")
_DOTTED = re.compile(r"\b[A-Za-z_]\w{0,100}(?:(?:\.|::|#)[A-Za-z_]\w{0,100}){1,20}")
_IMPORT = re.compile(r"(?m)^[ \t>.]*from ([\w.]{1,200}) import \(?([\w, ]{1,400})")
_TICKED = re.compile(r"`{1,2}([^`\n]{1,120})`{1,2}")
_CALLED = re.compile(r"\b([A-Za-z_]\w{2,100})\(")
_NAME = re.compile(r"\b(?:[A-Za-z]+_\w*|_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|[A-Z][A-Za-z0-9]*[a-z]\w*)\b")
_WORD = re.compile(r"\b[^\W\d]\w{2,100}\b")
_LOCATOR = re.compile(r"^(?:sym|file):")


@dataclass(frozen=True, slots=True)
class Frame:
    """One step of a traceback: path as written, function ("" unknown), line, and its place from the end (0 = raised there)."""

    path: str
    function: str
    line: int
    depth: int


@dataclass(frozen=True, slots=True)
class Query:
    """A question.

    Attributes:
        title: its first line. prose: the rest without code, links and hidden comments, lines that state an error included.
        code: fenced and indented blocks, sessions, tracebacks, lines that look like code. error: lines that state an error.
        names: words of title and prose written like an identifier. title_names: every word of the title. code_names: names
            that code calls or spells. ticked: names in back-ticks. called: names followed by ``(``. Each once, in order.
        dotted: ``a.b.c`` names, imports included. paths: file paths. places: (path, line). frames: traceback.
        plain: the whole query when it is one name or path and nothing else, else "".
    """

    text: str
    title: str
    prose: str
    code: str
    error: str = ""
    names: tuple[str, ...] = ()
    title_names: tuple[str, ...] = ()
    code_names: tuple[str, ...] = ()
    ticked: tuple[str, ...] = ()
    called: tuple[str, ...] = ()
    dotted: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    places: tuple[tuple[str, int], ...] = ()
    frames: tuple[Frame, ...] = ()
    plain: str = ""


def parse(text: str) -> Query:
    """Take a question apart; never raises. At most 40,000 characters are looked at."""
    text = text[:LIMIT].replace("\x00", " ").replace("\r\n", "\n").encode("utf-8", "replace").decode().strip()
    text = _ENDLESS.sub(r"\1", text)
    shown = _HIDDEN.sub("\n", text)
    bare = _URL.sub(" ", shown)
    title, rest = _titled(bare)
    outside = _FENCE.sub("\n", rest)
    code = "\n".join([*_FENCE.findall(rest), *_CODE_LINE.findall(outside)])
    error = "\n".join(_ERROR.findall(code))
    prose = "\n".join([_CODE_LINE.sub("", outside), error])
    said = f"{title}\n{prose}"
    plain = _LOCATOR.sub("", text).strip("`")
    return Query(
        text, title, prose, code, error,
        names=_unique(_NAME.findall(said)), title_names=_unique(_WORD.findall(title)),
        code_names=_unique([*_CALLED.findall(code), *_NAME.findall(code)]),
        ticked=_unique([word for span in _TICKED.findall(bare) for word in _WORD.findall(span)]),
        called=_unique(_CALLED.findall(said)), dotted=_unique([*_imported(shown), *_DOTTED.findall(bare)]),
        paths=_unique([*(path for path, _ in _BLOB.findall(shown)), *_PATH.findall(bare)]),
        places=_places(shown), frames=_frames(bare),
        plain=plain if re.fullmatch(r"[^\s,;]{1,400}", plain) and not plain.startswith("ctx://") else "",
    )  # fmt: skip


def _titled(text: str) -> tuple[str, str]:
    """The first line and the rest; a first line that is a whole text counts as both."""
    head, _, rest = text.strip().partition("\n")
    if len(head) <= TITLE_LIMIT:
        return head, rest
    cut = head.rfind(" ", 0, TITLE_LIMIT)
    return head[: cut if cut > 0 else TITLE_LIMIT], f"{head}\n{rest}"


def _unique(found: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(found))[:MENTIONS]


def _imported(text: str) -> list[str]:
    """``from a.b import c, d`` → ``a.b.c``, ``a.b.d``."""
    found = _IMPORT.findall(text)
    return [f"{module}.{name}" for module, names in found for name in re.findall(r"(?:^|,)\s*(\w+)", names)]


def _places(text: str) -> tuple[tuple[str, int], ...]:
    found = [(path, int(line)) for path, line in [*_BLOB.findall(text), *_PLACE.findall(_URL.sub(" ", text))] if line]
    return tuple(dict.fromkeys(found))[:MENTIONS]


def _frames(text: str) -> tuple[Frame, ...]:
    found = [(path, function, int(line)) for path, line, function in _FRAME.findall(text)]
    found = found or [(path, function, int(line)) for path, function, line in _CELL_FRAME.findall(text)]
    found = found or [(path, function, int(line)) for path, line, function in _OTHER_FRAME.findall(text)]
    last = len(found) - 1
    return tuple(Frame(path, function, line, last - at) for at, (path, function, line) in enumerate(found))[-MENTIONS:]
