"""From the bytes of one file to its facts, whatever the language. Called in worker processes by the indexer.

What may not come in: other files, the disk, and any language's own rules (``languages/<module>.py`` has those). A language
module offers ``facts_of(lang, tree, data, path) -> Facts``; it never raises for odd input, never recurses over the tree. One
whose files may hold another language (headers of C) offers ``dialect(lang, data, path) -> lang`` and names these in ``DIALECTS``; one
whose grammar needs help offers ``prepared(data) -> data`` of the same length, which is parsed instead.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, cast

from tree_sitter import Parser, Tree

from mog.engine.code import facts as schema
from mog.engine.code import grammars
from mog.engine.code.nesting import too_deep

# language → module in engine/code/languages
LANGUAGES: dict[str, str] = {
    "python": "python",
    "javascript": "javascript",
    "typescript": "javascript",
    "tsx": "javascript",
    "jsconfig": "javascript_config",
    "go": "go",
    "gomod": "go_mod",
    "c": "c",
    "php": "php",
    "ruby": "ruby",
    "composer": "php_config",
    "java": "java",
    "rust": "rust",
    "cargo": "cargo",
    "vue": "components",
    "svelte": "components",
    "notebook": "notebook",
    "bash": "bash",
    "sql": "sql",
    "dockerfile": "dockerfile",
    "yaml": "keys_yaml",
    "toml": "keys_toml",
    "json": "keys_json",
    "csharp": "csharp",
    "cpp": "cpp",
}
#: Languages whose files hold code of others: their module offers ``host_facts`` and is given a reader of the inner language.
HOSTS: dict[str, tuple[str, ...]] = {
    "vue": ("javascript", "typescript", "tsx"),
    "svelte": ("javascript", "typescript", "tsx"),
    "notebook": ("python",),
}
WITHOUT_GRAMMAR = frozenset({"jsconfig", "gomod", "cargo", "composer", "sql", "yaml", "json", *HOSTS})
#: What is searched by its words too, since most of them stand in no symbol.
WORDY = frozenset({"jsconfig", "vue", "svelte", "notebook", "bash", "sql", "dockerfile", "yaml", "toml", "json"})

FactsOf = Callable[[str, Tree | None, bytes, str], schema.Facts]
Dialect = Callable[[str, bytes, str], str]
Prepared = Callable[[bytes], bytes]


def extract(
    lang: str, data: bytes, path: str, gated_spans: Iterable[tuple[int, int]] = (), *, anchored: bool = True
) -> schema.Facts:
    """Facts of one file (see ``facts.py``); JSON-able, and the same for the same bytes, path and grammar.

    Args:
        lang: language name; one without an extractor or grammar gives empty facts with a problem.
        data: the file's bytes, UTF-8 (other encodings are decoded to UTF-8 by the caller).
        path: path relative to the root; decides only what a path can decide (is it a test, a package).
        gated_spans: byte spans (start, end) that must not leave the file: the symbols touching them keep only their name.
        anchored: with both hashes of every symbol; the index does without (anchors are compared with the disk only).
    """
    if lang in HOSTS:
        found = _module(lang).host_facts(lang, data, path, lambda inner, text: _read(inner, text, path, anchored))
        if anchored and (hashed := getattr(_module(lang), "hash_rows", None)) is not None:
            hashed(data, found["syms"])
    else:
        found = _read(lang, data, path, anchored)
    schema.apply_gates(found, tuple(gated_spans))
    return cast(schema.Facts, found)


def _read(lang: str, data: bytes, path: str, anchored: bool) -> schema.Facts:
    work = _worker(lang)
    if work is not None and work[2] is not None:
        lang = work[2](lang, data, path)
        work = _worker(lang)
    if work is None:
        return _empty(lang, "unsupported_grammar")
    parser, facts_of, _, prepared = work
    tree = grammars.parse(parser, prepared(data) if prepared is not None else data) if parser is not None else None
    if parser is not None and tree is None:
        return _empty(lang, "parse_timeout")
    found = facts_of(lang, tree, data, path)
    if anchored:
        _anchor(lang, tree, data, found["syms"])
    if tree is not None and tree.root_node.has_error:
        found["problems"].append(["syntax_error", 0])
    if tree is not None and too_deep(tree, data):
        found["problems"].append(["deep_nesting", 0])
    return found


def supported(lang: str) -> bool:
    """Whether files of this language get symbols (an extractor exists and its grammar loads)."""
    if lang in HOSTS:
        return all(map(supported, HOSTS[lang]))
    return _worker(lang) is not None


def extractor_version(lang: str) -> str:
    """Key of everything that decides the facts besides bytes and path: schema, extractor, grammar."""
    module = _module(lang) if lang in LANGUAGES else None
    own = f"{schema.VERSION}.{getattr(module, 'VERSION', 0)}.{grammars.parser_digest(lang)}"
    others = (*HOSTS.get(lang, ()), *getattr(module, "DIALECTS", ()))
    return "+".join([own, *map(extractor_version, others)])


def shown(lang: str, data: bytes) -> tuple[str, bytes]:
    """What a reader is shown of a file, in which language definitions in it are read, and as text of the same length and lines.

    Of a notebook that is its code; of a component all of it, though its definitions are those of its scripts.
    """
    if lang == "notebook":
        return "python", cast(bytes, _module(lang).as_code(data))
    return (str(_module(lang).inner_language(data)) if lang in HOSTS else lang), data


def words_of(lang: str, data: bytes) -> bytes:
    """The text that a file is found by: all of it, of a notebook its cells without what they printed."""
    return cast(bytes, _module(lang).cell_text(data)) if lang == "notebook" else data


def _module(lang: str) -> Any:
    return importlib.import_module(f"mog.engine.code.languages.{LANGUAGES[lang]}")


@cache
def _worker(lang: str) -> tuple[Parser | None, FactsOf, Dialect | None, Prepared | None] | None:
    module = LANGUAGES.get(lang)
    parser = grammars.parser(lang) if module and lang not in WITHOUT_GRAMMAR else None
    if module is None or (parser is None and lang not in WITHOUT_GRAMMAR):
        return None
    loaded = _module(lang)
    dialect, prepared = getattr(loaded, "dialect", None), getattr(loaded, "prepared", None)
    return parser, cast(FactsOf, loaded.facts_of), cast("Dialect | None", dialect), cast("Prepared | None", prepared)


def _anchor(lang: str, tree: Tree | None, data: bytes, rows: list[list[Any]]) -> None:
    """Fill the hashes of symbol rows in place; a language without a grammar brings its own, or has none."""
    from mog.engine.code.anchors import hash_symbols

    if tree is None:
        if (hashed := getattr(_module(lang), "hash_rows", None)) is not None:
            hashed(data, rows)
        return
    hashes = hash_symbols(lang, tree, data, [(row[schema.FULL], row[schema.STOP], row[schema.NAME]) for row in rows])
    for row, (span, body) in zip(rows, hashes, strict=True):
        row[schema.SPAN], row[schema.BODY] = span, body


def _empty(lang: str, reason: str) -> schema.Facts:
    found = schema.empty(lang)
    found["problems"].append([reason, 0])
    return found
