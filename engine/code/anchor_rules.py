"""What is cosmetic in which language: tables that ``anchor_text`` and ``anchor_walk`` read. No code, no trees.

Who calls: ``engine/code/anchors.py`` and its two streams. What may not come in: parsing, hashing, anything about symbols.

Two families of rules:

* :class:`TextRules` (JavaScript, TypeScript, TSX) name the few node kinds at which the *text* must be marked, so that text plus
  marks determine the tree; everything between the marks is normalised by regular expressions in C.
* :class:`WalkRules` (every other grammar) name the few leaves that may be dropped from a walk over *all* nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

# What to do at a captured node. Of nodes with one start, statements come first, then the longest, then the lowest number.
(A_SPAN, A_ERROR, A_STMT, A_GROUP, A_UNION, A_KEEP, A_CHAIN, A_PAREN, A_PLAIN_STRING, A_STRING, A_TEMPLATE, A_HOLE, A_EXACT,
 A_JSX_TEXT, A_BARE_PARAM, A_COMMENT, A_END) = range(17)  # fmt: skip

ACTION_OF_CAPTURE = {
    "stmt": A_STMT, "group": A_GROUP, "union": A_UNION, "keep": A_KEEP, "chain": A_CHAIN, "paren": A_PAREN,
    "plain": A_PLAIN_STRING, "string": A_STRING, "template": A_TEMPLATE, "hole": A_HOLE, "exact": A_EXACT, "jsx": A_JSX_TEXT,
    "bare": A_BARE_PARAM, "comment": A_COMMENT, "error": A_ERROR,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TextRules:
    """Marks of one language.

    Attributes:
        query: tree-sitter query whose capture names are keys of :data:`ACTION_OF_CAPTURE`.
    """

    query: str


@dataclass(frozen=True, slots=True)
class WalkRules:
    """Leaves of one language that carry no meaning.

    Attributes:
        semicolons: whether ``;`` only separates statements (the tree keeps them apart).
        commas: whether a comma before a closing bracket may go.
        keep_commas: kinds of nodes in which it may not.
        tuples: of these, the kinds where it may from two commas on (a comma makes a tuple of one element).
        parens: kind of the node that is nothing but grouping ("" keeps all).
        keep_parens: (kind of parent, field or "") where grouping has a meaning of its own.
    """

    semicolons: bool = False
    commas: bool = False
    keep_commas: frozenset[str] = field(default_factory=frozenset)
    tuples: frozenset[str] = field(default_factory=frozenset)
    parens: str = ""
    keep_parens: frozenset[tuple[str, str]] = field(default_factory=frozenset)


def _alternatives(kinds: str, capture: str) -> str:
    return "[" + " ".join(f"({kind})" for kind in kinds.split()) + f"] @{capture}\n"


_JS_STMT = """
expression_statement variable_declaration lexical_declaration if_statement switch_statement for_statement for_in_statement
while_statement do_statement try_statement with_statement break_statement continue_statement debugger_statement
return_statement throw_statement empty_statement labeled_statement import_statement export_statement function_declaration
generator_function_declaration class_declaration method_definition class_static_block switch_case switch_default decorator
else_clause
"""
_JS_GROUP = """
binary_expression unary_expression update_expression ternary_expression assignment_expression
augmented_assignment_expression arrow_function function_expression generator_function class await_expression
yield_expression sequence_expression new_expression object variable_declarator assignment_pattern jsx_element
jsx_self_closing_element
"""
_JS_COMMON = """
(parenthesized_expression) @paren
(new_expression constructor: (parenthesized_expression) @keep)
(member_expression object: (parenthesized_expression) @chain)
(subscript_expression object: (parenthesized_expression) @chain)
(call_expression function: (parenthesized_expression) @chain)
(pair value: [(arrow_function) (function_expression) (object)]) @group
(arrow_function parameter: (identifier) @bare)
(string) @string
(jsx_attribute (string) @plain)
(template_string) @template
(template_substitution) @hole
(regex) @exact
(jsx_text) @jsx
(comment) @comment
(html_comment) @comment
(hash_bang_line) @exact
(do_statement "while" @stmt)
[(program (statement_block) @stmt) (statement_block (statement_block) @stmt) (switch_case (statement_block) @stmt)
 (switch_default (statement_block) @stmt)]
[(ERROR) (MISSING)] @error
"""
_JAVASCRIPT = (
    _alternatives(_JS_STMT + " field_definition using_declaration", "stmt")
    + _alternatives(_JS_GROUP, "group")
    + _JS_COMMON
)
_TS_STMT = """
public_field_definition abstract_class_declaration abstract_method_signature method_signature property_signature
call_signature construct_signature index_signature function_signature interface_declaration type_alias_declaration
enum_declaration ambient_declaration import_alias
"""
_TS_GROUP = """
as_expression satisfies_expression non_null_expression function_type constructor_type conditional_type infer_type
index_type_query type_query readonly_type optional_type type_predicate object_type enum_assignment module
internal_module
"""
_TS_COMMON = """
(parenthesized_type) @paren
[(union_type) (intersection_type)] @union
(template_literal_type) @template
(template_type) @hole
"""
_TYPESCRIPT = (
    _alternatives(_JS_STMT + _TS_STMT, "stmt")
    + _alternatives(
        _JS_GROUP.replace("jsx_element", "").replace("jsx_self_closing_element", "") + _TS_GROUP + " type_assertion",
        "group",
    )
    + "".join(line + "\n" for line in _JS_COMMON.splitlines() if "jsx" not in line)
    + _TS_COMMON
)
_TSX = (
    _alternatives(_JS_STMT + _TS_STMT, "stmt") + _alternatives(_JS_GROUP + _TS_GROUP, "group") + _JS_COMMON + _TS_COMMON
)

TEXT_RULES = {
    "javascript": TextRules(_JAVASCRIPT),
    "typescript": TextRules(_TYPESCRIPT),
    "tsx": TextRules(_TSX),
}

_CALL_HEAD = frozenset(
    {("call_expression", "function"), ("invocation_expression", "function"), ("new_expression", "constructor")}
)
_TUPLES = frozenset({"tuple_expression", "tuple_pattern", "tuple_type", "token_tree"})

WALK_RULES = {
    "bash": WalkRules(semicolons=True),
    "go": WalkRules(semicolons=True, commas=True, parens="parenthesized_expression", keep_parens=_CALL_HEAD),
    "rust": WalkRules(
        commas=True, keep_commas=_TUPLES, tuples=_TUPLES, parens="parenthesized_expression", keep_parens=_CALL_HEAD),
    "java": WalkRules(commas=True, parens="parenthesized_expression"),
    "c": WalkRules(
        commas=True, keep_commas=frozenset({"argument_list", "preproc_params"}), parens="parenthesized_expression",
        keep_parens=_CALL_HEAD,
    ),
    "cpp": WalkRules(
        commas=True, keep_commas=frozenset({"argument_list", "preproc_params"}), parens="parenthesized_expression",
        keep_parens=_CALL_HEAD | {("decltype", "")},
    ),
    "csharp": WalkRules(
        commas=True, parens="parenthesized_expression",
        keep_parens=_CALL_HEAD | {("member_access_expression", "expression"), ("element_access_expression", "expression")},
    ),
    "ruby": WalkRules(
        semicolons=True, commas=True, keep_commas=frozenset({"destructured_parameter", "destructured_left_assignment"}),
    ),
    "php": WalkRules(
        commas=True, parens="parenthesized_expression",
        keep_parens=frozenset({
            ("function_call_expression", "function"), ("member_access_expression", "object"),
            ("member_call_expression", "object"), ("nullsafe_member_access_expression", "object"),
            ("nullsafe_member_call_expression", "object"),
        }),
    ),
}  # fmt: skip
