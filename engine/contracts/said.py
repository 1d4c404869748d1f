"""What packs say of a file by its path, its lines or its keys: entries of its facts. Base of what ``collect`` reads from code.

Called by ``collect``. What may not come in: calls and decorators, other files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from mog.engine.code import facts as schema
from mog.engine.contracts import documents
from mog.engine.contracts.pack import Rule
from mog.engine.contracts.patterns import Lookup, allowed
from mog.engine.contracts.reader import Text

Entry = list[Any]
# a comment of a schema language, to the end of its line
_REMARK = re.compile(r"//|#")


class Said:
    """One file in the making: ``contracts`` fills up as rules are tried.

    Args:
        rows: its symbols (see ``code/facts.py``), none for a document.
    """

    def __init__(self, language: str, data: bytes, path: str, rows: list[list[Any]]) -> None:
        self.language = language
        self.path = path
        self.text = Text(data, language)
        self.rows = rows
        self.contracts: list[Entry] = []

    # -- what is said

    def say(
        self, rule: Rule, scope: int, line: int, names: Sequence[str], target: str = "", receiver: str = ""
    ) -> None:
        for name in names or [""]:
            entry = [rule.key, scope, line, name, target, receiver]
            if entry not in self.contracts[-8:]:
                self.contracts.append(entry)

    def _place(self, captures: dict[str, str]) -> Callable[[str], list[str]]:
        folder, _, base = self.path.rpartition("/")
        known = {"stem": base.partition(".")[0], "folder": folder.rpartition("/")[2], "dir": folder, **captures}

        def lookup(ref: str) -> list[str]:
            kind, _, name = ref.partition(".")
            held = known.get(name) if kind == "path" else None
            return [held] if held is not None and (held or name in captures) else []

        return lookup

    def _by_path(self, rule: Rule, captures: dict[str, str]) -> None:
        if rule.kinds and self.language not in rule.kinds:
            return
        names = rule.name.fill(self._place(captures)) if rule.name else []
        fits = all(any(allowed(globs, text) for text in self._place(captures)(ref)) for ref, globs in rule.where)
        if not names or not fits:
            return
        wanted = [at for at, row in enumerate(self.rows) if row[schema.PARENT] < 0 and row[schema.NAME] in rule.names]
        self.say(
            rule,
            wanted[0] if wanted else -1,
            self.rows[wanted[0]][schema.LINE] if wanted else 1,
            names,
            self._at(rule, self._place(captures)),
        )

    def _at(self, rule: Rule, values: Lookup) -> str:
        """``path::name`` of the code that a convention names."""
        if rule.at is None:
            return next(iter(values(rule.target)), "") if rule.target else ""
        path, name = (template.fill(values) for template in rule.at)
        return f"{path[0]}::{name[0]}" if path and name else ""

    # -- lines and documents

    def _lines(self, rules: Sequence[Rule]) -> None:
        """Line rules with the blocks they stand in: a block ends where its bracket closes."""
        open_: list[tuple[int, str, str]] = []
        depth = 0
        for number, line in enumerate(self.text.data.decode("utf-8", "replace").split("\n"), start=1):
            code = _REMARK.split(line[:2_000], maxsplit=1)[0]
            owners = {key: name for _, key, name in open_}
            for rule in rules:
                captures = (
                    rule.line.match(code) if rule.line and (not rule.inside or self._inside(rule, open_)) else None
                )
                if captures is None:
                    continue
                values = self._line_values(captures, owners.get(f"{rule.pack}/{rule.inside}", ""))
                if rule.name is not None:
                    self.say(rule, -1, number, rule.name.fill(values))
                if "{" in code and rule.role != "field":
                    open_.append((depth, rule.key, next(iter(captures.values()), "")))
                break
            depth += code.count("{") - code.count("}")
            while open_ and depth <= open_[-1][0]:
                open_.pop()

    @staticmethod
    def _inside(rule: Rule, open_: Sequence[tuple[int, str, str]]) -> bool:
        return bool(open_) and open_[-1][1] == f"{rule.pack}/{rule.inside}"

    def _line_values(self, captures: dict[str, str], owner: str) -> Lookup:
        place = self._place({})

        def lookup(ref: str) -> list[str]:
            kind, _, name = ref.partition(".")
            held = captures.get(name) if kind == "line" else owner if kind == "owner" else None
            return [held] if held else place(ref)

        return lookup

    def _keys(self, rules: Sequence[tuple[Rule, dict[str, str]]]) -> None:
        language = "toml" if self.path.endswith(".toml") else "json" if self.path.endswith(".json") else "yaml"
        try:
            parsed = documents.parse(self.text.data, language)
        except documents.Unreadable:
            for rule, _ in rules[:1]:
                self.say(rule, -1, 1, [])
            return
        for rule, captures in rules:
            for found, line in documents.select(parsed, rule.select):
                values = self._key_values(found, captures)
                if all(any(allowed(globs, text) for text in values(ref)) for ref, globs in rule.where):
                    names = rule.name.fill(values) if rule.name else []
                    self.say(rule, -1, line or 1, names, self._at(rule, values))

    def _key_values(self, found: dict[str, str], captures: dict[str, str]) -> Lookup:
        place = self._place(captures)

        def lookup(ref: str) -> list[str]:
            kind, _, name = ref.partition(".")
            return [found[name]] if kind == "key" and found.get(name) else place(ref)

        return lookup
