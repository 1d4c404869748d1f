"""The markup of single-file components: its top-level blocks, and which names it uses. Called by ``components.py`` only.

What may not come in: symbols, other files, backtracking: every expression is possessive or bounded, and so is the number of tags
looked at. A name counts as used where an expression of the markup begins with it and nothing in the markup (a loop, a slot) binds
the same name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

MOST_TAGS = 4_000
MOST_ATTRIBUTES = 3_000

_OPEN = re.compile(rb"<!--|<(script|style|template)(?=[\s/>])", re.I)
_ATTRIBUTES = re.compile(rb"((?:[^>\"']|\"[^\"]{0,4000}+\"|'[^']{0,4000}+'){0,%d}+)>" % MOST_ATTRIBUTES)
_CLOSE = {name: re.compile(rb"</" + name.encode() + rb"\s{0,20}+>", re.I) for name in ("script", "style")}
_TEMPLATE = re.compile(rb"<(/?)template(?=[\s/>])", re.I)
_LANG = re.compile(rb"\blang\s{0,9}=\s{0,9}[\"']?([\w/]{1,30})")
_SRC = re.compile(rb"\bsrc\s{0,9}=\s{0,9}[\"']([^\"'\s]{1,400})[\"']")
_TAG = re.compile(rb"<([A-Za-z][\w.:-]{0,120}+)")
_ATTRIBUTE = re.compile(
    rb"([:@#a-zA-Z][\w:.\-\[\]]{0,120}+)\s{0,20}=\s{0,20}(?:\"([^\"]{0,4000}+)\"|'([^']{0,4000}+)')"
)
_MUSTACHE = re.compile(rb"\{\{([^{}]{0,2000}+)\}\}")
_BRACES = re.compile(rb"\{([^{}]{0,2000}+)\}")
_STRINGS = re.compile(rb"'[^'\n]{0,2000}+'|\"[^\"\n]{0,2000}+\"|`[^`]{0,2000}+`")
_NAME = re.compile(rb"(?<![\w$.])[A-Za-z_$][\w$]{0,200}")
_ARROW = re.compile(rb"(?:\(([^()]{0,400}+)\)|([A-Za-z_$][\w$]{0,200}))\s{0,20}=>")
_FOR = re.compile(rb"([^`]{1,400}?)\s(?:in|of)\s", re.S)
_EACH = re.compile(rb"#each\b(.{0,1500}?)\bas\b(.{0,400})", re.S)
_BOUND = re.compile(rb"#snippet\s+[\w$]+\s{0,9}\(([^)]{0,400}+)|(?::then|:catch|@const|\bthen)\s+([A-Za-z_$][\w$]*)")
_LET = re.compile(rb"\blet:([A-Za-z_$][\w$]{0,200}+)")


class Block(NamedTuple):
    """A top-level block: its tag, where its content is [start, stop), where all of it is [full, end), ``lang`` and ``src``."""

    name: str
    full: int
    start: int
    stop: int
    end: int
    lang: str = ""
    source: str = ""


class Uses(NamedTuple):
    """Names that markup uses: of components as tags (in every way they may be written), and at the head of expressions."""

    tags: set[str]
    names: set[str]


def blocks(data: bytes) -> list[Block]:
    """The scripts, styles and (of Vue) the template of a component, in order; at most a few hundred are looked for."""
    found: list[Block] = []
    at = 0
    for _ in range(400):
        opened = _OPEN.search(data, at)
        if opened is None:
            break
        if opened[1] is None:
            closed = data.find(b"-->", opened.end())
            at = closed + 3 if closed >= 0 else len(data)
            continue
        attributes = _ATTRIBUTES.match(data, opened.end())
        if attributes is None:
            at = opened.end()
            continue
        found.append(_block(data, opened, attributes))
        at = found[-1].end
    return found


def _block(data: bytes, opened: re.Match[bytes], attributes: re.Match[bytes]) -> Block:
    name, written = opened[1].decode().lower(), attributes[1]
    start = attributes.end()
    if written.rstrip().endswith(b"/"):
        stop = end = start
    elif name == "template":
        stop, end = _template_end(data, start)
    else:
        closed = _CLOSE[name].search(data, start)
        stop, end = (closed.start(), closed.end()) if closed else (len(data), len(data))
    lang, source = _LANG.search(written), _SRC.search(written)
    return Block(
        name, opened.start(), start, stop, end, lang[1].decode().rpartition("/")[2] if lang else "",
        source[1].decode("utf-8", "replace") if source else "",
    )  # fmt: skip


def _template_end(data: bytes, start: int) -> tuple[int, int]:
    """Where a template ends that may hold others."""
    depth = 1
    for tag in _TEMPLATE.finditer(data, start):
        if tag[1]:
            depth -= 1
        else:
            attributes = _ATTRIBUTES.match(data, tag.end())
            depth += not (attributes and attributes[1].rstrip().endswith(b"/"))
        if depth == 0:
            close = data.find(b">", tag.end())
            return tag.start(), close + 1 if close >= 0 else len(data)
    return len(data), len(data)


def vue_uses(data: bytes, found: list[Block]) -> Uses:
    """What the template of a Vue component uses; one in another language (``lang="pug"``) says nothing."""
    tags: set[str] = set()
    names: set[str] = set()
    bound: set[str] = set()
    template = next((block for block in found if block.name == "template"), None)
    if template is None or template.lang not in ("", "html"):
        return Uses(tags, names)
    for tag, attributes in _tags(data, template.start, template.stop):
        tags.update(spellings(tag))
        for name, value in attributes:
            _vue_attribute(name, value, names, bound)
    for held in _MUSTACHE.finditer(data, template.start, template.stop):
        _expression(held[1], names, bound)
    return Uses(tags, names - bound)


def _vue_attribute(name: bytes, value: bytes, names: set[str], bound: set[str]) -> None:
    if name.startswith((b"#", b"v-slot", b"slot-scope")):
        bound.update(_words(value))
    elif name == b"v-for":
        loop = _FOR.match(value)
        if loop:
            bound.update(_words(loop[1]))
            _expression(value[loop.end() :], names, bound)
    elif name.startswith((b":", b"@", b"v-")):
        _expression(value, names, bound)


def svelte_uses(data: bytes, found: list[Block]) -> Uses:
    """What the markup of a Svelte component uses: everything outside of its scripts and styles."""
    tags: set[str] = set()
    names: set[str] = set()
    bound: set[str] = set()
    at = 0
    for start, stop in [*((block.full, block.end) for block in found), (len(data), len(data))]:
        for tag in _TAG.finditer(data, at, start):
            if tag[1][:1].isupper():
                tags.update(spellings(tag[1]))
        bound.update(held[1].decode() for held in _LET.finditer(data, at, start))
        for held in _BRACES.finditer(data, at, start):
            _svelte_expression(held[1], names, bound)
        at = stop
    return Uses(tags, names - bound)


def _svelte_expression(text: bytes, names: set[str], bound: set[str]) -> None:
    each = _EACH.match(text)
    if each:
        bound.update(_words(each[2]))
        text = each[1]
    for held in _BOUND.finditer(text):
        bound.update(_words(held[1] or held[2]))
    _expression(text, names, bound)


def _tags(data: bytes, start: int, stop: int) -> Iterator[tuple[bytes, list[tuple[bytes, bytes]]]]:
    """(name, attributes with a value) of every tag of a region, comments left out."""
    at = start
    for _ in range(MOST_TAGS):
        tag = _TAG.search(data, at, stop)
        comment = data.find(b"<!--", at, tag.start() if tag else stop)
        if comment >= 0:
            closed = data.find(b"-->", comment + 4, stop)
            at = closed + 3 if closed >= 0 else stop
            continue
        if tag is None:
            return
        held = _ATTRIBUTES.match(data, tag.end(), stop)
        at = held.end() if held else tag.end()
        pairs = _ATTRIBUTE.findall(held[1]) if held else []
        yield tag[1], [(name, double or single) for name, double, single in pairs]


def spellings(tag: bytes) -> set[str]:
    """The names under which a script may know a tag: ``user-card`` is ``UserCard`` and ``userCard`` too."""
    name = tag.decode().partition(".")[0]
    if "-" not in name:
        return {name} if name[:1].isupper() or any(map(str.isupper, name)) else set()
    parts = [part for part in name.split("-") if part]
    pascal = "".join(part[:1].upper() + part[1:] for part in parts)
    return {name, pascal, pascal[:1].lower() + pascal[1:]}


def _words(text: bytes) -> set[str]:
    return {name.decode() for name in _NAME.findall(text)}


def _expression(text: bytes, names: set[str], bound: set[str]) -> None:
    """Add the names an expression begins things with, and those its arrow functions bind."""
    text = _STRINGS.sub(b'""', text)
    for arrow in _ARROW.finditer(text):
        bound.update(_words(arrow[1] or arrow[2] or b""))
    for held in _NAME.finditer(text):
        before, after = text[: held.start()].rstrip()[-1:], text[held.end() : held.end() + 20].lstrip()[:1]
        if not (after == b":" and before in (b"{", b",")):  # else a key of an object
            names.add(held[0].decode())
