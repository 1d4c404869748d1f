"""SCIP's messages as facts: field numbers, roles, encodings, and the records we make of them.

Called by the modules beside it. What may not come in: bytes, files, our graph. The numbers are those that scip.proto publishes
(github.com/scip-code/scip); only fields that are read or written here have a name.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

# Index
METADATA, DOCUMENTS, EXTERNAL_SYMBOLS = 1, 2, 3
# Metadata, ToolInfo
TOOL_INFO, PROJECT_ROOT, TEXT_ENCODING = 2, 3, 4
TOOL_NAME, TOOL_VERSION = 1, 2
UTF8_TEXT = 1
# Document
PATH, OCCURRENCES, SYMBOLS, LANGUAGE, TEXT, ENCODING = 1, 2, 3, 4, 5, 6
# Occurrence
RANGE, SYMBOL, ROLES, ENCLOSING = 1, 2, 3, 7
# SymbolInformation
INFO_SYMBOL, DOCUMENTATION, RELATIONSHIPS, KIND, DISPLAY_NAME, SIGNATURE = 1, 3, 4, 5, 6, 7
# Relationship
REL_SYMBOL, IS_REFERENCE, IS_IMPLEMENTATION, IS_TYPE, IS_DEFINITION = 1, 2, 3, 4, 5
# SymbolRole
DEFINITION, IMPORT, WRITE, READ, GENERATED, TEST, FORWARD = 1, 2, 4, 8, 16, 32, 64
# PositionEncoding
UNSAID, UTF8, UTF16, UTF32 = 0, 1, 2, 3
# SymbolInformation.Kind
KINDS = {"class": 7, "const": 8, "field": 15, "function": 17, "method": 26, "test": 17, "config_key": 22}
# our language → the name in SCIP's Language enum
LANGUAGES = {
    "python": "Python", "javascript": "JavaScript", "typescript": "TypeScript", "tsx": "TypeScriptReact", "go": "Go",
    "rust": "Rust", "java": "Java", "c": "C", "cpp": "CPP", "csharp": "CSharp", "ruby": "Ruby", "php": "PHP", "vue": "Vue",
    "svelte": "Svelte", "sql": "SQL", "bash": "ShellScript", "dockerfile": "Dockerfile", "yaml": "YAML", "toml": "TOML",
    "json": "JSON",
}  # fmt: skip

# (start line, start character, end line, end character, symbol, roles); lines and characters count from 0
Occurrence = tuple[int, int, int, int, str, int]


@dataclass(slots=True)
class Metadata:
    """Who made an index, and for which folder (a URI, as it was written)."""

    tool: str = ""
    version: str = ""
    project_root: str = ""


@dataclass(slots=True)
class Document:
    """One document of an index, without what is not needed for edges.

    Attributes:
        path: relative to the project root of the index, as written.
        encoding: what characters of ranges count (``UTF8``, ``UTF16``, ``UTF32``; ``UNSAID`` when the index does not say).
        text: the bytes that were indexed, where the index carries them.
        occurrences: in the order written.
        implements: symbol → symbols it says to implement.
        problems: (field, reason) → how often; what could not be read of this document.
    """

    path: str = ""
    language: str = ""
    encoding: int = UNSAID
    text: bytes | None = None
    occurrences: list[Occurrence] = field(default_factory=list)
    implements: dict[str, list[str]] = field(default_factory=dict)
    problems: Counter[tuple[str, str]] = field(default_factory=Counter)
