"""PHP: what is its own in the walk over a file. Called by ``engine/code/extract.py``; the walk itself is ``declared.py``.

What may not come in: other files, import rules (``link_php.py``), how an expression reads (``php_expr.py``). A trait is a base that
goes before the parent class; a closure that a variable holds is a function under the variable's name, any other belongs to the
function that writes it; declared types outrank documentation comments, which outrank what is assigned.
"""

from __future__ import annotations

import re

from tree_sitter import Node, Tree

from mog.engine.code import facts as schema
from mog.engine.code.facts import Facts
from mog.engine.code.languages import php_docs
from mog.engine.code.languages.declared_events import facts_by
from mog.engine.code.languages.declared_tables import ALTERNATIVES, NOTHING, Captures, Chains
from mog.engine.code.languages.php_expr import NAMES
from mog.engine.code.languages.php_flow import Flow

VERSION = 2

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|#(?!\[)[^\n]*", re.S)
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*\Z")
_PATH_LIMIT = 300
_GROUPS = ("describe",)
_PEST = frozenset(("it", "test", *_GROUPS))
_TITLE = 120
_ROLES = {"interface_declaration": "interface", "trait_declaration": "trait", "enum_declaration": "enum"}
#: functions of PHP whose first or second argument is the name of a function
CALLERS = frozenset(
    "array_map array_filter array_reduce array_walk usort uasort uksort call_user_func call_user_func_array is_callable"
    " register_shutdown_function set_error_handler set_exception_handler spl_autoload_register preg_replace_callback"
    " iterator_apply ob_start array_udiff array_uintersect add_action add_filter".split()
)


class PhpWalk(Flow):
    """One pass over a PHP file."""

    def __init__(self, data: bytes, path: str) -> None:
        super().__init__(data, path)
        self.clauses: list[tuple[str, int]] = []
        self.mixed: dict[int, list[str]] = {}
        self.promised: dict[int, list[str]] = {}
        self.titles: list[tuple[int, str]] = []

    # ── namespaces and imports ────────────────────────────────────────────────────────────────────────────────────────

    def on_space(self, node: Node, captured: Captures) -> None:
        name = self.text(captured["name"][0]) if "name" in captured else ""
        self.uses, self.functions = {}, {}
        if "body" in captured:
            self.push(captured["body"][0], "block", -1, name)
        elif self.space and self.space != name:
            self.spaces[:] = [name]
        else:
            self.space = name

    def on_import(self, node: Node, captured: Captures) -> None:
        """``use``: of classes and namespaces, functions, constants; one by one or in a group."""
        prefix = next((self.text(one) for one in node.named_children if one.type == "namespace_name"), "")
        kind = _use_kind(self.text(node)[:40])
        group = node.child_by_field_name("body")
        for clause in (group or node).named_children:
            if clause.type == "namespace_use_clause":
                self.used(clause, prefix, kind)

    def used(self, clause: Node, prefix: str, kind: str) -> None:
        named = [one for one in clause.named_children if one.type in ("name", "qualified_name", "namespace_name")]
        if not named:
            return
        written = self.text(clause)
        kind = _use_kind("use " + written) or kind
        full = "\\".join(part for part in (prefix.strip("\\"), self.text(named[0]).strip("\\")) if part)
        alias = self.text(clause.child_by_field_name("alias")) or full.rpartition("\\")[2]
        if kind == "function":
            self.functions[alias.lower()] = full
        elif not kind:
            self.uses[alias.lower()] = full
        self.imported(alias, f"const {full}" if kind == "const" else full)
        if not kind:
            self.clauses.append((alias.lower(), len(self.imports) - 1))

    def on_require(self, node: Node, captured: Captures) -> None:
        """``require`` and its like, where the path is a literal, alone or behind ``__DIR__``."""
        path = self.literal_path(node.named_child(0))
        if path:
            self.imports.append([-1, path.rpartition("/")[2], path, "", ""])

    def literal_path(self, node: Node | None) -> str:
        """``./…`` for a path from the file's own folder, the path as it stands otherwise; "" for a computed one."""
        while node is not None and node.type == "parenthesized_expression":
            node = node.named_child(0)
        if node is None or node.end_byte - node.start_byte > _PATH_LIMIT:
            return ""
        if node.type in ("string", "encapsed_string"):
            return self.literal(node)
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if (
            node.type != "binary_expression"
            or left is None
            or right is None
            or self.text(node.child_by_field_name("operator")) != "."
        ):
            return ""
        folder, rest = "".join(self.text(left).split()), self.literal(right)
        base = {"__DIR__": ".", "dirname(__FILE__)": ".", "dirname(__DIR__)": "./..", "dirname(__DIR__,1)": "./..",
                "dirname(__DIR__,2)": "./../..", "dirname(__DIR__,3)": "./../../.."}.get(folder)  # fmt: skip
        return f"{base}/{rest.lstrip('/')}" if base and rest else ""

    def literal(self, node: Node | None) -> str:
        """The text of a string without holes, "" for anything else."""
        if node is None or node.type not in ("string", "encapsed_string"):
            return ""
        parts = node.named_children
        return self.text(parts[0]) if len(parts) == 1 and parts[0].type == "string_content" else ""

    # ── classes ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def on_class(self, node: Node, captured: Captures) -> None:
        index = self.row(node, "class", captured)
        self.inherited(node, index)
        self.push(node, "class", index)
        self.described(node, index)

    def on_anonymous(self, node: Node, captured: Captures) -> None:
        """``new class … { }``: a class where it stands, called by the expression around it."""
        index = self.row(node, "class", {"name": [node], "body": captured["body"]}, name="class@anonymous")
        self.rows[index][schema.SIG] = self.signature(self.data[node.start_byte : captured["body"][0].start_byte])
        self.closures[node.start_byte] = index
        self.scope.calls[f"@{index}"] = None
        self.inherited(node, index)
        self.push(node, "class", index)

    def inherited(self, node: Node, index: int) -> None:
        role = _ROLES.get(node.type, "")
        if role:
            self.roles[index] = role
            self.flag(index, role)
        for clause in node.named_children:
            if clause.type not in ("base_clause", "class_interface_clause"):
                continue
            names = [
                self.class_named(self.text(one))
                for one in clause.named_children
                if one.type in ("name", "qualified_name", "relative_name")
            ]
            if clause.type == "base_clause" and not role and names:
                self.parents[index] = names[0]
            self.promised.setdefault(index, []).extend(names)
        if role == "enum":
            backed = any(one.type == "primitive_type" for one in node.named_children)
            self.promised.setdefault(index, []).append("\\.BackedEnum" if backed else "\\.UnitEnum")

    def described(self, node: Node, index: int) -> None:
        """Properties that a class's documentation names."""
        for tag, written, name in php_docs.tags(self.comment_of(node)):
            if tag == "property" and name:
                for chain in self.said(written):
                    self.attr(index, name, chain)

    def on_traits(self, node: Node, captured: Captures) -> None:
        """``use T;`` inside of a class, with what it renames."""
        owner = self.home()
        if owner.kind != "class":
            return
        for one in node.named_children:
            if one.type in ("name", "qualified_name", "relative_name"):
                self.mixed.setdefault(owner.sym, []).append(self.class_named(self.text(one)))
            elif one.type == "use_list":
                for clause in one.named_children:
                    self.renamed(clause, owner.sym)

    def renamed(self, clause: Node, owner: int) -> None:
        parts = [one for one in clause.named_children if one.type != "visibility_modifier"]
        if not parts:
            return
        first = parts[0]
        trait = (
            self.class_named(self.text(first.named_child(0)))
            if first.type == "class_constant_access_expression"
            else "self"
        )
        name = (
            self.text(first.named_children[-1])
            if first.type == "class_constant_access_expression"
            else self.text(first)
        )
        if clause.type == "use_instead_of_clause":
            self.attr(owner, name, f"{trait}.{name}")
        elif clause.type == "use_as_clause" and len(parts) > 1:
            self.attr(owner, self.text(parts[-1]), f"self.{name}")

    # ── functions ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def on_function(self, node: Node, captured: Captures) -> None:
        kind = "method" if self.home().kind == "class" else "function"
        comment = self.comment_of(node)
        if kind == "method" and self.is_test(node, self.text(captured["name"][0]), comment):
            kind = "test"
        index = self.row(node, kind, captured)
        if "body" not in captured:
            self.flag(index, "abstract")
        if any(one.type == "visibility_modifier" and self.text(one) == "private" for one in node.named_children):
            self.flag(index, "private")
        tags = list(php_docs.tags(comment)) if "@" in comment else []
        self.hands_back(node, index, tags)
        self.push(node, "function", index)
        self.documented = {name: self.said(written) for tag, written, name in tags if tag == "param" and name}

    on_method = on_function

    def is_test(self, node: Node, name: str, comment: str) -> bool:
        """A test method by PHPUnit's rules: its name, the attribute or the tag."""
        if not self.test_file:
            return False
        marks = node.child_by_field_name("attributes")
        marked = marks is not None and any(
            self.text(one.named_child(0)).rpartition("\\")[2] == "Test"
            for group in marks.named_children
            for one in group.named_children
        )
        return name.startswith("test") or marked or any(tag == "test" for tag, _, _ in php_docs.tags(comment))

    def hands_back(self, node: Node, index: int, tags: list[tuple[str, str, str]]) -> None:
        """What a function is declared to return; where that says no class, what its documentation says."""
        found = self.kinds(node.child_by_field_name("return_type"))
        if not any(chain[0] != "#" for chain in found):
            said = next((self.said(written) for tag, written, _ in tags if tag == "return"), ())
            found = said or found
        if found:
            kept = [chain for chain in found if chain != "#None"] or ["#None"]
            self.meta(index)["r"] = " ".join(kept[:ALTERNATIVES])

    def on_closure(self, node: Node, captured: Captures) -> None:
        left = (
            node.parent.child_by_field_name("left")
            if node.parent is not None and node.parent.type == "assignment_expression"
            else None
        )
        if left is None or left.type != "variable_name":
            self.push(node, "lambda", self.scope.sym)
            return
        index = self.row(node, "function", {"name": [left], "body": captured["body"]})
        self.hands_back(node, index, [])
        self.closures[node.start_byte] = index
        self.push(node, "function", index)

    def on_arrow(self, node: Node, captured: Captures) -> None:
        """The body of an arrow function is what it returns."""
        owner = self.home()
        if (
            owner.kind == "function"
            and owner.sym >= 0
            and self.closures.get(node.parent.start_byte if node.parent else -1) == owner.sym
        ):
            self.returns.setdefault(owner.sym, {}).update(dict.fromkeys(self.chains(node)))

    # ── constants and properties ──────────────────────────────────────────────────────────────────────────────────────

    def on_const(self, node: Node, captured: Captures) -> None:
        if self.home().kind in ("class", "module"):
            index = self.row(node, "const", captured)
            self.rows[index][schema.SIG] = self.head_of(node.parent, node)

    def on_case(self, node: Node, captured: Captures) -> None:
        """A case of an enumeration is its instance."""
        owner = self.home()
        index = self.row(node, "const", captured)
        self.rows[index][schema.SIG] = f"case {self.rows[index][schema.NAME]}"
        if owner.kind == "class":
            self.attr(owner.sym, self.text(captured["name"][0]), f"@{owner.sym}()")

    def on_field(self, node: Node, captured: Captures) -> None:
        owner, whole = self.home(), node.parent
        if owner.kind != "class" or whole is None:
            return
        index = self.row(node, "field", captured)
        comment = self.comment_of(whole)
        self.rows[index][schema.SIG] = self.head_of(whole, node)
        self.rows[index][schema.DOC] = php_docs.summary(comment, schema.DOC_LIMIT)
        said = next((self.said(written) for tag, written, _ in php_docs.tags(comment) if tag == "var"), ())
        self.property_is(owner.sym, self.text(captured["name"][0]), self.kinds(whole.child_by_field_name("type")), said)

    def on_promoted(self, node: Node, captured: Captures) -> None:
        """A parameter of the constructor that is a property too."""
        method = self.home()
        owner = method.above
        name = self.text(captured["name"][0])
        chains = self.on_param(node, captured)
        if owner is None or owner.kind != "class":
            return
        index = self.row(node, "field", captured)
        row = self.rows[index]
        row[schema.PARENT], row[schema.QUAL] = owner.sym, f"{self.rows[owner.sym][schema.QUAL]}.{name}"
        row[schema.SIG] = self.head_of(node, node)
        self.property_is(owner.sym, name, chains, ())

    def on_defined(self, node: Node, captured: Captures) -> None:
        """``define("NAME", …)``."""
        held = node.child_by_field_name("arguments")
        first = held.named_child(0) if held is not None else None
        what = first.named_child(0) if first is not None else None
        name = self.literal(what)
        if what is not None and _IDENTIFIER.match(name):
            index = self.row(node, "const", {"name": [what]}, name=name)
            row = self.rows[index]
            row[schema.PARENT], row[schema.QUAL], row[schema.SIG] = -1, name, f"define('{name}')"

    # ── rows ──────────────────────────────────────────────────────────────────────────────────────────────────────────

    def row(self, node: Node, kind: str, captured: Captures, *, name: str = "") -> int:
        index = super().row(node, kind, captured, name=name)
        marks = node.child_by_field_name("attributes")
        if marks is not None:
            stop = captured["body"][0].start_byte if "body" in captured else node.end_byte
            self.rows[index][schema.SIG] = self.signature(self.data[marks.end_byte : stop])
        return index

    def signature(self, head: bytes) -> str:
        text = head.decode("utf-8", "replace")
        text = _COMMENT.sub("", text) if "/" in text or "#" in text else text
        return schema.one_line(text.strip().rstrip("{;=>: \t\r\n"))

    def head_of(self, whole: Node | None, element: Node) -> str:
        """Modifiers, type and name of a constant or property, without its value."""
        name = element.child_by_field_name("name") or element.named_child(0)
        words = [self.text(one) for one in (whole.children if whole is not None else ())
                 if one.type.endswith("_modifier") or one.type.endswith("_type") or one.type == "const"]  # fmt: skip
        return " ".join([*words, self.text(name)])[: schema.SIGNATURE_LIMIT]

    def doc(self, node: Node) -> str:
        comment = self.comment_of(node)
        return php_docs.summary(comment, schema.DOC_LIMIT) if comment else ""

    # ── uses ──────────────────────────────────────────────────────────────────────────────────────────────────────────

    def on_call(self, node: Node, captured: Captures) -> None:
        function = node.child_by_field_name("function")
        word = self.text(function) if function is not None and function.type in NAMES else ""
        if word:
            if word.lower() == "define":
                self.on_defined(node, captured)
            if self.test_file and word in _PEST and self.test_block(node, word):
                return
        held = node.child_by_field_name("arguments")
        if held is not None and held.named_child_count == 1 and held.named_children[0].type == "variadic_placeholder":
            self.scope.refs.update(
                dict.fromkeys(chain.removesuffix("()") for chain in self.chains(node) if chain[0] not in "?#")
            )
            return
        if word.lstrip("\\") in CALLERS and held is not None:
            self.called_back(held)
        chains = self.chains(node) if word or function is None else self.invoked(function)
        called = dict.fromkeys(_called(chain) for chain in chains if chain != "?" and chain[0] != "#")
        if called and len(called) <= ALTERNATIVES:
            self.scope.calls["|".join(called)] = None

    def invoked(self, function: Node) -> Chains:
        """What calling a value runs: a closure that a variable holds, else ``__invoke`` of an object."""
        return tuple(
            f"{chain}.__invoke" if chain[-1] in ")]}" or ".$" in chain else chain for chain in self.chains(function)
        )

    def called_back(self, arguments: Node) -> None:
        """Names of functions in strings, handed to what calls them."""
        for argument in arguments.named_children[:2]:
            name = self.literal(argument.named_child(0))
            if _IDENTIFIER.match(name):
                self.scope.refs[f"\\.{name}"] = None

    def test_block(self, node: Node, word: str) -> bool:
        """``it("title", fn)`` of Pest is a test."""
        held = node.child_by_field_name("arguments")
        parts = (
            [one.named_children[-1] for one in held.named_children if one.named_child_count] if held is not None else []
        )
        title = (
            " ".join("".join(c if c.isprintable() else " " for c in self.literal(parts[0])).replace("::", ":").split())
            if parts
            else ""
        )
        if not title or len(parts) < 2 or parts[1].type not in ("anonymous_function", "arrow_function"):
            return False
        while self.titles and node.start_byte >= self.titles[-1][0]:
            self.titles.pop()
        above = f"{self.titles[-1][1][: 4 * _TITLE]} > " if self.titles else ""
        name = f"{above}{word} {title[:_TITLE]}"
        self.titles.append((node.end_byte, name))
        index = self.row(node, "test", {"name": [node]}, name=name)
        row = self.rows[index]
        row[schema.PARENT], row[schema.QUAL], row[schema.SIG] = -1, name, name
        if word in _GROUPS:
            self.flag(index, "group")
        self.push(node, "function", index)
        return True

    def on_ref(self, node: Node, captured: Captures) -> None:
        """A class named as a value or an attribute; an object and the name of its method."""
        if node.type == "array_creation_expression":
            chain = self.callable(node) if node.named_child_count == 2 else "?"
        else:
            first = node.named_child(0)
            chain = (
                self.class_named(self.text(first))
                if first is not None and first.type in ("name", "qualified_name", "relative_name")
                else "?"
            )
        if chain[0] not in "?#":
            self.scope.refs[chain] = None

    def callable(self, node: Node) -> str:
        """The chain of ``[$object, 'method']`` and ``[X::class, 'method']``; "?" for other arrays."""
        parts = [one.named_child(0) for one in node.named_children if one.named_child_count == 1]
        name = self.literal(parts[1]) if len(parts) == 2 == node.named_child_count else ""
        first = parts[0] if parts else None
        if not _IDENTIFIER.match(name) or first is None:
            return "?"
        if first.type == "class_constant_access_expression":
            (head,) = self.scope_of(first.named_children[0])[:1]
        else:
            head = self.chains(first)[0]
        return f"{head}.{name}" if head[0] not in "?#" else "?"

    # ── result ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def finish(self, lang: str) -> Facts:
        for index in self.mixed.keys() | self.promised.keys():
            for chain in (*self.mixed.get(index, ()), *self.promised.get(index, ())):
                self.base(index, chain)
        for (index, name), held in self.settled.items():
            self.attrs.setdefault(index, {})[name] = dict.fromkeys(held)
        for alias, at in self.clauses:
            if alias in self.as_space:
                self.imports[at][2] = f"namespace {self.imports[at][2]}"
        for index, items in self.yields.items():
            self.meta(index)["y"] = " ".join(list(items)[:ALTERNATIVES])
        return super().finish(lang)


def _use_kind(text: str) -> str:
    """``function`` or ``const`` where a ``use`` says so."""
    words = text.replace("{", " { ").split()
    return words[1] if len(words) > 2 and words[1] in ("function", "const") else ""


def _called(chain: str) -> str:
    """A call as it stands in the facts."""
    chain = chain.removesuffix("()")
    return "static=cls" if chain == "cls" else chain


def facts_of(lang: str, tree: Tree, data: bytes, path: str) -> Facts:
    """Facts of one PHP file (schema in ``facts.py``)."""
    return facts_by(PhpWalk, lang, tree, data, path)


__all__ = ["NOTHING", "VERSION", "Chains", "PhpWalk", "facts_of"]
