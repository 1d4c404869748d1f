"""Tables of C# for the walk over a file: how nodes of the grammar are read, which library types hold things. Called by ``csharp*.py``.

What may not come in: logic.
"""

from __future__ import annotations

import re

from mog.engine.code.languages.declared_tables import Dialect

PLAIN = {
    "int": "#int", "uint": "#uint", "long": "#long", "ulong": "#ulong", "short": "#short", "ushort": "#ushort", "byte": "#byte",
    "sbyte": "#sbyte", "char": "#char", "double": "#double", "float": "#float", "decimal": "#decimal", "bool": "#bool",
    "void": "#None", "string": "#str", "object": "#object", "dynamic": "?", "nint": "#long", "nuint": "#ulong",
}  # fmt: skip
NAMED = {
    "String": "#str", "Object": "#object", "Int32": "#int", "Int64": "#long", "Boolean": "#bool", "Double": "#double", "Char": "#char",
    "Action": "#delegate", "Func": "#delegate", "Predicate": "#delegate", "EventHandler": "#delegate", "Comparison": "#delegate",
    "Converter": "#delegate", "Delegate": "#delegate", "MulticastDelegate": "#delegate", "Type": "#type",
}  # fmt: skip
#: Library types that hold things of their type argument: what is asked of them is in ``link_csharp.py``.
SEVERAL = frozenset(
    "List IList IReadOnlyList ICollection IReadOnlyCollection IEnumerable IEnumerator IOrderedEnumerable IQueryable HashSet ISet"
    " IReadOnlySet SortedSet Queue Stack LinkedList LinkedListNode Collection ReadOnlyCollection ObservableCollection ConcurrentBag"
    " ConcurrentQueue ConcurrentStack BlockingCollection ImmutableArray ImmutableList ImmutableHashSet IImmutableList Task ValueTask"
    " Lazy Nullable IAsyncEnumerable Span ReadOnlySpan Memory ReadOnlyMemory ThreadLocal AsyncLocal WeakReference ArraySegment"
    " TaskCompletionSource".split()
)
MAPPED = frozenset(
    "Dictionary IDictionary IReadOnlyDictionary ConcurrentDictionary SortedDictionary SortedList ImmutableDictionary KeyValuePair"
    " ReadOnlyDictionary ILookup IGrouping KeyedCollection ConditionalWeakTable".split()
)
HANDS_OUT = frozenset(
    "ForEach Where Select SelectMany Any All First FirstOrDefault Single SingleOrDefault Last LastOrDefault Count Sum Min Max Average"
    " OrderBy OrderByDescending ThenBy ThenByDescending GroupBy ToDictionary ToLookup TakeWhile SkipWhile Find FindAll FindIndex"
    " FindLast Exists RemoveAll TrueForAll MinBy MaxBy DistinctBy ContinueWith LongCount".split()
)
TESTS = frozenset(
    "Fact Theory Test TestCase TestCaseSource TestMethod DataTestMethod Property SkippableFact UIFact".split()
)
GLOBAL = "-"
INTERFACE_NAME = re.compile(r"I[A-Z]")
SUMMARY = re.compile(r"<summary>(.*?)(?:</summary>|$)", re.S)
TAG = re.compile(r"<[^<>]*(?:cref|name|langword)=\"([^\"<>]*)\"[^<>]*>|<[^<>]*>")
TYPES = frozenset(("identifier", "generic_name", "qualified_name", "alias_qualified_name"))

DIALECT = Dialect(
    members={"member_access_expression": ("expression", "name"), "conditional_access_expression": ("condition", "-1")},
    calls={"invocation_expression": ("function", "arguments")},
    news={"object_creation_expression": ("type", "arguments")},
    items={"element_access_expression": "expression"},
    through={"parenthesized_expression": "", "postfix_unary_expression": "", "checked_expression": "", "ref_expression": "",
             "prefix_unary_expression": ""},
    casts={"cast_expression": "type", "as_expression": "right", "default_expression": "type"},
    literals={
        "string_literal": "#str", "verbatim_string_literal": "#str", "raw_string_literal": "#str",
        "interpolated_string_expression": "#str", "character_literal": "#char",
        "boolean_literal": "#bool", "null_literal": "#None", "typeof_expression": "#type", "sizeof_expression": "#int",
        "lambda_expression": "#delegate", "anonymous_method_expression": "#delegate", "is_pattern_expression": "#bool",
    },
    selfs={"this": "self", "base": "super()"},
    type_names=frozenset(("identifier",)),
    type_members={"qualified_name": ("", "-1"), "alias_qualified_name": ("", "-1")},
    type_through={"nullable_type": "type", "ref_type": "type", "scoped_type": "type", "pointer_type": "type"},
    many={"array_type": "type"},
    generics={"generic_name": ("", "-1")},
    several=SEVERAL,
    mapped=MAPPED,
    builtins=NAMED,
    comments=frozenset(("comment",)),
    separators=("::", "."),
)  # fmt: skip
