"""Calls in the arguments of macros, which the grammar leaves as tokens. Called by ``rust.py``.

What may not come in: recursion, other files. Read are only macros that take expressions; a name before parentheses is a call, what dots
and ``::`` join before it is what it is called on.
"""

from __future__ import annotations

from tree_sitter import Node

from mog.engine.code.languages.declared_tables import LIMIT
from mog.engine.code.languages.rust_paths import PathWalk

TREES = 400
LINKS = 24
EXPRESSIONS = frozenset(
    "assert assert_eq assert_ne debug_assert debug_assert_eq debug_assert_ne print println eprint eprintln format format_args write"
    " writeln panic unreachable todo unimplemented vec dbg matches try ready select join trace debug info warn error log bail anyhow"
    " ensure env option_env concat stringify include_str include_bytes include file line column module_path compile_error cfg"
    " thread_local addr_of addr_of_mut assert_matches pin hash_map hashmap btreemap json".split()
)
"""Macros of the standard library and the commonest others whose arguments are expressions; they are no calls of the project."""
TEMPLATES = frozenset("quote quote_spanned parse_quote parse_quote_spanned html rsx view maud asm global_asm macro_rules".split())
"""Macros whose arguments are the text of something else."""
SILENT = frozenset("Some None Ok Err Vec String Box Option Result Rc Arc HashMap HashSet".split())
_NAMES = frozenset(("identifier", "self", "super", "crate", "type_identifier", "primitive_type"))


class TokenWalk(PathWalk):
    """Calls read from token trees."""

    def token_calls(self, node: Node) -> None:
        """Record the calls in a token tree and the trees inside it."""
        work = [node]
        for _ in range(TREES):
            if not work:
                return
            tokens = work.pop().children
            for at, token in enumerate(tokens):
                if token.type != "token_tree":
                    continue
                work.append(token)
                if at and token.child_count and self.text(token.child(0)) == "(":
                    self.token_call(tokens, at - 1)

    def token_call(self, tokens: list[Node], at: int) -> None:
        """A call by the tokens that end before its parentheses."""
        if tokens[at].type not in ("identifier", "type_identifier"):
            return
        name = self.text(tokens[at])
        written = self.token_path(tokens, at)
        if written is None or name in ("fn", "if", "match", "while", "for", "return", "in"):
            return
        if name[:1].isupper():
            before = written.rpartition(".")[0]
            kept = before if before.rpartition(".")[2][:1].isupper() else written
            if kept[0] not in "?#" and kept[-1] not in ")]" and kept not in SILENT:
                self.scope.refs[kept] = None
        elif len(written) <= LIMIT and written != "?" and written[0] != "#":
            self.scope.calls[f"{written}^0"] = None

    def token_path(self, tokens: list[Node], at: int) -> str | None:
        """The chain that ends with the name at a place; None where its beginning is not plain."""
        names, tail = [self.text(tokens[at])], ""
        for _ in range(LINKS):
            sign = self.text(tokens[at - 1]) if at else ""
            if sign == "::":
                if at < 2 or tokens[at - 2].type not in _NAMES:
                    return None
                at -= 2
                names.insert(0, self.text(tokens[at]))
            elif sign == ".":
                tail = f".{'.'.join(names)}{tail}"
                at, step = self.operand(tokens, at - 2)
                if at < 0:
                    return f"?{tail}"
                names, tail = [self.text(tokens[at])], f"{step}{tail}"
            elif sign in ("fn", "!", "'"):
                return None
            else:
                break
        head = self.joined(names) if len(names) > 1 or names[0] in ("crate", "super") else self.name(names[0])[0]
        return f"{head}{tail}" if head != "?" else f"?{tail}" if tail else "?"

    def operand(self, tokens: list[Node], at: int) -> tuple[int, str]:
        """The name that the expression before a dot begins with, and what is done to it; -1 where it is not plain."""
        step = ""
        while at >= 0 and self.text(tokens[at]) == "?":
            at -= 1
        if at > 0 and tokens[at].type == "token_tree":
            sign = self.text(tokens[at].child(0))
            step = "()" if sign == "(" else "[]" if sign == "[" else ""
            at = at - 1 if step else -1
        return (at, step) if at >= 0 and tokens[at].type in (*_NAMES, "integer_literal") else (-1, "")
