"""What is blanked in a C++ file before it is parsed: macros the grammar stumbles on. Called by ``extract.py`` through ``cpp.py``.

What may not come in: trees, facts, a change of length: every byte keeps its place.
"""

from __future__ import annotations

import re

_EXPORT = re.compile(
    rb"\b(class|struct|union)([ \t\n]+)([A-Z][A-Z0-9_]{2,}(?:\([^()\n]{0,80}\))?)"
    rb"(?=[ \t\n]+[A-Za-z_][\w:]*[ \t\n]*(?:final\b[ \t\n]*)?(?::[^:]|\{))"
)
_NOTE = re.compile(
    rb"(?<=[\w)\]][ \n])((?:PT_)?GUARDED_BY|[A-Z_]*(?:LOCKS?_|_LOCKS?|REQUIRES|GUARDED|ATTRIBUTE|ANALYSIS|LIFETIME)[A-Z_]*)"
    rb"(\([^()\n]{0,120}\))?(?=[ \t]*[;={])"
)
_NOTES = (b"GUARDED", b"LOCK", b"REQUIRES", b"ATTRIBUTE", b"ANALYSIS", b"LIFETIME")
_ALONE = re.compile(rb"(?<=[;}>\"\n]\n)([A-Z][A-Z0-9_]{4,})(?=[ \t]*\n\s*[^\s,})=])")
_BEFORE = re.compile(
    rb"(?:^|(?<=[>;{}:]))([ \t]*)((?:[A-Z][A-Z0-9]*_[A-Z0-9_]+[ \t\n]+)+)(?=(?:static|inline|constexpr|explicit|virtual|auto|void"
    rb"|bool|int|unsigned|const|char|friend|template|class|struct|typename|using|operator|double|float|long)\b)",
    re.M,
)
_INK = re.compile(rb"[^\n]")


def prepared(data: bytes) -> bytes:
    """The text that is parsed: as long as the file's, with blanks for macros the grammar stumbles on (``class EXPORT A {``, notes
    on locks behind a declaration, a macro before a type, or that has a line to itself)."""
    data = _EXPORT.sub(lambda found: b"%b%b%b" % (found[1], found[2], b" " * len(found[3])), data)
    data = _BEFORE.sub(lambda found: found[1] + _INK.sub(b" ", found[2]), data)
    if any(word in data for word in _NOTES):
        data = _NOTE.sub(lambda found: b" " * len(found[0]), data)
    return _ALONE.sub(lambda found: b" " * len(found[1]), data)
