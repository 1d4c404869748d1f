"""What is read off the text of C and C++ without a tree, and names off declarators. Called by ``c.py``, ``cpp.py``.

What may not come in: facts, symbols, recursion, patterns that can take more than linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from mog.engine.code import facts as schema

_STEPS = 24
_NAMES = frozenset(("identifier", "type_identifier", "field_identifier"))
_WINDOW = 1 << 11
_CPP = re.compile(
    rb"^[ \t]*(?:(?:inline[ \t]+)?namespace\b[ \t]*[\w:]*[ \t]*[{\n]|template[ \t]*<|using[ \t]+[\w:]+[ \t]*[=;]|using[ \t]+namespace\b"
    rb"|(?:public|private|protected)[ \t]*:|class[ \t]+\w[\w \t]*[;:{\n]|struct[ \t]+\w+[ \t]*:[ \t]*\w"
    rb"|(?:enum[ \t]+class|constexpr|virtual|friend)[ \t]"
    rb"|#[ \t]*include[ \t]*<(?:string|vector|memory|map|set|unordered_map|functional|utility|algorithm|iostream|ostream|array"
    rb"|atomic|mutex|thread|optional|tuple|type_traits|cstdint|cstddef|cstring|cstdlib|cstdio|limits|stdexcept|string_view)>)"
    rb"|\bstd::\w|\boperator[ \t]*[=!<>+*/(\[-]|\bconst [\w:]+ ?& ?\w",
    re.M,
)
_COMMENTS = re.compile(rb"/\*.*?\*/|//[^\n]*", re.S)
_CONDITION = re.compile(rb"^[ \t]*#[ \t]*(?:if|el|endif)[^\n]*\n?", re.M)
_CALL = re.compile(rb"(?<![\w.>])([A-Za-z_]\w{1,100})[ \t]*\(")
_VISIBLE = re.compile(rb"[^\n]")
_DEFINE = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)\([^()\n]*\)", re.M)
_BODY = re.compile(rb"\)[ \t]*(?:\n(?:[ \t]*#[ \t]*endif[^\n]*\n)?)?\{[ \t]*$", re.M)
_LAST_NAME = re.compile(rb"([A-Za-z_]\w*)\s*\Z")
_BACK = 600
_MUCH = 1 << 14
_LITERAL = re.compile(rb"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", re.S)
_KEYWORDS = frozenset(
    "if else while for do switch case return sizeof typeof __typeof__ __typeof alignof _Alignof __alignof__ offsetof defined"
    " __attribute__ __attribute __declspec asm __asm__ __asm _Static_assert static_assert _Generic goto default int char long"
    " short unsigned signed void float double struct union enum const volatile static inline extern noexcept decltype alignas"
    " catch throw new delete operator template typename".split()
)


_ATTRIBUTES = frozenset(
    "format nonnull noreturn aligned section alias visibility alloc_size malloc cleanup deprecated error warning sentinel"
    " assume_aligned constructor destructor mode optimize target vector_size packed".split()
)


def of_attribute(name: str, node: Node) -> bool:
    """Whether what looks called is an argument of ``__attribute__``."""
    if name.strip("_") not in _ATTRIBUTES:
        return False
    at: Node | None = node
    for _ in range(4):
        at = at.parent if at is not None else None
    found = at is not None and at.type == "attribute_specifier"
    return found or (node.parent is not None and node.parent.parent is not None and node.parent.parent.parent is not None
                     and node.parent.parent.parent.type == "attribute_specifier")  # fmt: skip


def keyword(name: str) -> bool:
    """Whether a name that looks called is one of the language or of the compiler."""
    return name in _KEYWORDS or name.startswith("__builtin_")


def declared(node: Node | None) -> Node | None:
    """The name that a declarator declares, None where it has none."""
    for _ in range(_STEPS):
        if node is None or node.type in _NAMES:
            return node
        node = node.child_by_field_name("declarator") or (
            node.named_child(0) if node.type == "parenthesized_declarator" else None
        )
    return None


def is_cpp(data: bytes) -> bool:
    """Whether the text of a header holds C++ outside of comments and of what only a C++ compiler sees (``#ifdef __cplusplus``)."""
    if _CPP.search(data) is None:
        return False
    return _CPP.search(without_cpp(_COMMENTS.sub(b"", data))) is not None


def without_cpp(data: bytes) -> bytes:
    """Text with blanks for what stands directly below a condition that ``__cplusplus`` is defined; as long as before."""
    kept, at, hidden = [], 0, False
    for match in _CONDITION.finditer(data):
        kept.append(_VISIBLE.sub(b" ", data[at : match.start()]) if hidden else data[at : match.start()])
        line = match.group()
        hidden = b"__cplusplus" in line and b"ifndef" not in line and b"!" not in line
        kept.append(line)
        at = match.end()
    return b"".join((*kept, _VISIBLE.sub(b" ", data[at:]) if hidden else data[at:]))


def calls_in(text: bytes) -> list[str]:
    """Names that a piece of text calls, in order; made names (``a##b``) are left out."""
    if b"(" not in text:
        return []
    text = _COMMENTS.sub(b"", _LITERAL.sub(b"", text[:_MUCH]))
    found = []
    for match in _CALL.finditer(text):
        name = match.group(1).decode("utf-8", "replace")
        if not keyword(name) and not text[: match.start()].rstrip().endswith(b"#"):
            found.append(name)
    return found


def hidden_spans(data: bytes) -> tuple[list[int], list[int]]:
    """Starts and ends of the comments of a file."""
    spans = [match.span() for match in _COMMENTS.finditer(data)]
    return [start for start, _ in spans], [stop for _, stop in spans]


def lost_macros(data: bytes) -> Iterator[tuple[int, int, int, int, int]]:
    """``#define NAME(…) …`` by its text: start, start and end of the name, start of what follows the parameters, end."""
    last = -1
    for match in _DEFINE.finditer(data):
        if match.start() < last:
            continue
        stop = data.find(b"\n", match.end())
        while stop > 0 and data[stop - 1 : stop] == b"\\":
            stop = data.find(b"\n", stop + 1)
        last = len(data) if stop < 0 else stop
        yield match.start(), match.start(1), match.end(1), match.end(), last


def lost_functions(data: bytes) -> Iterator[tuple[int, int, int, int, int]]:
    """Functions by their text, where a file is written as most are: it begins and ends in the first column. Start, start and end of
    the name, start and end of the body."""
    for match in _BODY.finditer(data):
        brace = data.index(b"{", match.start())
        begin = max(0, brace - _BACK)
        head = data[begin : match.start() + 1]
        line = head.rfind(b"\n#")
        after = head.find(b"\n", line + 1) if line >= 0 else -1
        cut = max(after, *(head.rfind(sign) for sign in (b";", b"}", b"*/", b"\n\n")))
        opened = _opening(head, cut)
        name = _LAST_NAME.search(head[cut + 1 : opened]) if opened > cut else None
        stop = data.find(b"\n}", brace)
        if name is None or stop < 0:
            continue
        text = head[cut + 1 : opened].removeprefix(b"/")
        cut = opened - len(text) - 1
        if (
            not text[: name.start()].strip()
            or b"=" in text
            or b"#" in text
            or keyword(name.group(1).decode("utf-8", "replace"))
        ):
            continue
        at = begin + cut + 1
        start = at + len(text) - len(text.lstrip())
        if data[start - 1 : start] in (b"\n", b""):
            yield start, at + name.start(1), at + name.end(1), brace, stop + 2


def _opening(head: bytes, cut: int) -> int:
    """Where the parenthesis opens that the end of a text closes, -1 for none behind ``cut``."""
    depth = 0
    for at in range(len(head) - 1, cut, -1):
        depth += (head[at] == 41) - (head[at] == 40)
        if depth == 0:
            return at
    return -1


def doc_before(data: bytes, start: int) -> str:
    """The first paragraph of the comment that ends on the line before a definition, without its signs, in one line."""
    before = data[max(0, start - _WINDOW) : start].rstrip(b" \t")
    if not before.endswith(b"\n"):
        return ""
    before = before[:-1].rstrip(b" \t\r")
    if before.endswith(b"*/"):
        text = _block(before)
    else:
        text = _lines(before) if b"//" in before[before.rfind(b"\n") + 1 :] else b""
    return _paragraph(text) if text else ""


def _block(before: bytes) -> bytes:
    """The text of a comment in ``/* */`` that has its lines to itself."""
    at = before.rfind(b"/*")
    alone = at >= 0 and not before[before.rfind(b"\n", 0, at) + 1 : at].strip()
    return before[at + 2 : -2] if alone else b""


def _lines(before: bytes) -> bytes:
    """The text of the ``//`` comments that end a piece of text."""
    found: list[bytes] = []
    for line in reversed(before.split(b"\n")):
        line = line.strip()
        if not line.startswith(b"//"):
            break
        found.append(line.lstrip(b"/!"))
    return b"\n".join(reversed(found))


def _paragraph(text: bytes) -> str:
    lines = [line.strip().strip("*!/").strip() for line in text.decode("utf-8", "replace").splitlines()]
    while lines and not lines[0].strip("-= "):
        lines.pop(0)
    kept: list[str] = []
    for line in lines:
        if not line.strip("-= "):
            break
        kept.append(line)
    return " ".join(" ".join(kept).split())[: schema.DOC_LIMIT]
