"""Where grammars come from, and the only place that loads one. Called by the extractor, anchors, workspace and doctor.

Provider chain: ``tree-sitter-<lang>`` wheel → the language pack, when its cache or library folder really holds the
language → none. What may not come in: a download (only :func:`add`, which a person asks for), and ``has_language`` of the
pack, which answers True for languages it cannot load.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.machinery
import importlib.util
import os
import sys
import threading
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tree_sitter import Language, Node, Parser, Query, QueryCursor, Tree

from mog.engine.code.wheels import WHEELS
from mog.engine.errors import ProviderError

PACK = "tree-sitter-language-pack"
PARSE_SECONDS = 10.0
LEVELS = 1000
"""How deep in a tree a pattern may begin; what lies deeper is left out."""
_CHUNK = 1 << 16
_SMALL = 1 << 14
_WIDE = 5000


@dataclass(frozen=True, slots=True)
class Grammar:
    """One language's grammar: provider (``wheel``, ``pack`` or ``none``), its version, sha256 prefix of its library file."""

    language: str
    provider: str
    version: str
    digest: str
    loads: bool


@cache
def language(lang: str) -> Language | None:
    """The grammar of ``lang``, or None when no provider has it offline. Never downloads, never raises for a missing one."""
    if lang in WHEELS:
        loaded = _from_wheel(*WHEELS[lang][1:])
        if loaded is not None:
            return loaded
    return _from_pack(lang)


def parser(lang: str) -> Parser | None:
    """A new parser for ``lang`` (parsers hold state, languages do not), or None when there is no grammar."""
    loaded = language(lang)
    return Parser(loaded) if loaded is not None else None


@cache
def query(lang: str, file: str = "") -> Query | None:
    """The compiled query file ``languages/<file or lang>.scm`` of a language; None when it has no grammar."""
    loaded = language(lang)
    if loaded is None:
        return None
    source = (Path(__file__).parent / "languages" / f"{file or lang}.scm").read_text(encoding="utf-8")
    return Query(loaded, source)


def matches(compiled: Query, root: Node) -> list[tuple[int, dict[str, list[Node]]]]:
    """Matches below a root as (pattern, captures); those that begin deeper than ``LEVELS`` are left out."""
    return [match for part in _parts(root) for match in _cursor(compiled).matches(part)]


def captures(compiled: Query, root: Node) -> dict[str, list[Node]]:
    """Captures below a root, by name; those of patterns that begin deeper than ``LEVELS`` are left out."""
    found: dict[str, list[Node]] = {}
    for part in _parts(root):
        for name, nodes in _cursor(compiled).captures(part).items():
            found.setdefault(name, []).extend(nodes)
    return found


def _parts(root: Node) -> list[Node]:
    """What is queried: a root that is one error costs the square of its children, so that a wide one is taken child by child."""
    return root.named_children if root.type == "ERROR" and root.child_count > _WIDE else [root]


def _cursor(compiled: Query) -> QueryCursor:
    """A cursor for the upper levels of a tree: every open node of a pattern with children is held against every node below it, so
    that without a limit the time is the square of the depth. (Its other limits do not help: the one for matches counts captures
    only, and a callback for progress crashes the interpreter in tree-sitter 0.26.)
    """
    made = QueryCursor(compiled)
    made.set_max_start_depth(LEVELS)
    return made


@cache
def info(lang: str) -> Grammar:
    """Provider, version and digest of the grammar of ``lang``; ``loads`` is False when nobody has it."""
    if lang in WHEELS and language(lang) is not None and _wheel_library(WHEELS[lang][1]) is not None:
        dist, module, _ = WHEELS[lang]
        library = _wheel_library(module)
        return Grammar(lang, "wheel", _version(dist), _digest(library) if library else "", True)
    if language(lang) is not None:
        library = _pack_library(lang)
        return Grammar(lang, "pack", _version(PACK), _digest(library) if library else "", True)
    return Grammar(lang, "none", "", "", False)


def parser_digest(lang: str) -> str:
    """Part of the key of facts: language, provider, versions of grammar and runtime, digest of the grammar's library."""
    grammar = info(lang)
    parts = (lang, grammar.provider, grammar.version, grammar.digest, _version("tree-sitter"))
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()


def parse(lang_parser: Parser, data: bytes, seconds: float = PARSE_SECONDS) -> Tree | None:
    """Parse UTF-8 bytes within a limit of CPU seconds; None when it was hit (the parser is reset and can be used again).

    Small inputs go the direct way: however they look, they end in about a second.
    """
    if len(data) <= _SMALL:
        return lang_parser.parse(data)
    view = memoryview(data)
    due, spent = time.monotonic() + seconds, time.thread_time() + seconds  # the second clock is dear, and never ahead of the first
    try:
        tree: Tree | None = lang_parser.parse(
            lambda offset, _point: view[offset : offset + _CHUNK],
            progress_callback=lambda _offset, _error: time.monotonic() >= due and time.thread_time() >= spent,
        )
    except ValueError:
        tree = None
    if tree is None:
        lang_parser.reset()
        return None
    return tree


def add(lang: str) -> Grammar:
    """Have the pack download the grammar of ``lang`` now. The only call of this module that may use the network.

    Raises:
        ProviderError: the pack does not know the language, or the download failed.
    """
    try:
        pack = importlib.import_module("tree_sitter_language_pack")
        pack.download([lang])
    except Exception as failed:  # the pack raises its own types, which moved between its releases
        raise ProviderError(
            f"the grammar of {lang!r} could not be had: {failed}",
            where="grammars",
            way_out=f"install tree-sitter-{lang}, or put its library into the pack's cache folder",
        ) from failed
    for cached in (language, query, info):
        cached.cache_clear()
    if language(lang) is None:
        raise ProviderError(f"the pack has no usable grammar of {lang!r}", where="grammars", way_out="see mog doctor")
    return info(lang)


def _from_wheel(module: str, function: str) -> Language | None:
    try:
        return Language(getattr(importlib.import_module(module), function)())
    except (ImportError, AttributeError, ValueError):
        return None


def _from_pack(lang: str) -> Language | None:
    """The pack's grammar, only where its library file is already on this machine (its own check is not to be believed)."""
    library = _pack_library(lang)
    if library is None:
        return None
    found: list[Language | None] = []
    # a broken grammar of an unknown origin must not hang an index: load it in a thread that may be left behind
    thread = threading.Thread(target=lambda: found.append(_load_pack(lang)), daemon=True)
    thread.start()
    thread.join(PARSE_SECONDS)
    return found[0] if found else None


def _load_pack(lang: str) -> Language | None:
    try:
        loaded = importlib.import_module("tree_sitter_language_pack").get_language(lang)
    except Exception:  # a damaged cache entry: same as not having it, and said so by info()
        return None
    return loaded if isinstance(loaded, Language) else None


def _pack_library(lang: str) -> Path | None:
    names = [f"libtree_sitter_{lang}.so", f"libtree_sitter_{lang}.dylib", f"tree_sitter_{lang}.dll"]
    for folder in _pack_folders():
        for name in names:
            if (folder / name).is_file():
                return folder / name
    return None


def _pack_folders() -> list[Path]:
    folders = []
    if libs := os.environ.get("TREE_SITTER_LANGUAGE_PACK_LIBS_DIR"):
        folders.append(Path(libs))
    cache = os.environ.get("TREE_SITTER_LANGUAGE_PACK_CACHE_DIR")
    root = Path(cache) if cache else _user_cache()
    folders.append(root / "tree-sitter-language-pack" / f"v{_version(PACK)}" / "libs")
    return folders


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", str(Path.home() / "AppData" / "Local")))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache")))


def _wheel_library(module: str) -> Path | None:
    spec = importlib.util.find_spec(module)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for suffix in importlib.machinery.EXTENSION_SUFFIXES:
            library = Path(folder) / f"_binding{suffix}"
            if library.is_file():
                return library
    return None


@cache
def _version(distribution: str) -> str:
    """Version of an installed distribution, "" when it is not: read off the name of its metadata folder, which costs a listing;
    the library for that (``importlib.metadata``) costs thirty milliseconds and is the fallback."""
    found = _installed().get(distribution.lower().replace("-", "_"))
    if found is not None:
        return found
    import importlib.metadata

    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ""


@cache
def _installed() -> dict[str, str]:
    """Distribution → version, of everything that lies beside the tree-sitter runtime."""
    spec = importlib.util.find_spec("tree_sitter")
    if spec is None or not spec.origin:
        return {}
    names = [name.removesuffix(".dist-info") for name in os.listdir(Path(spec.origin).parents[1]) if name.endswith(".dist-info")]
    pairs = (name.rpartition("-") for name in names)
    return {name.lower().replace("-", "_"): version for name, _, version in pairs}


@cache
def _digest(library: Path) -> str:
    return hashlib.sha256(library.read_bytes()).hexdigest()[:16]
