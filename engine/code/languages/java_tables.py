"""Tables of Java for the walk over a file: how nodes of the grammar are read, which platform types hold things. Called by ``java.py``.

What may not come in: logic.
"""

from __future__ import annotations

import re

from mog.engine.code.languages.declared_tables import Dialect

PRIMITIVES = {"int": "#int", "long": "#long", "short": "#short", "byte": "#byte", "char": "#char", "double": "#double",
              "float": "#float", "boolean": "#bool", "void": "#None", "String": "#str", "Object": "#object",
              "Class": "#class"}  # fmt: skip
#: Platform types that hold things of their type argument: what is asked of them is in ``link_java.py``.
SEVERAL = frozenset(
    "List ArrayList LinkedList Collection Set HashSet LinkedHashSet TreeSet SortedSet NavigableSet EnumSet Queue Deque ArrayDeque"
    " PriorityQueue BlockingQueue LinkedBlockingQueue ConcurrentLinkedQueue Vector Stack Iterable Iterator ListIterator Spliterator"
    " Stream Optional Future CompletableFuture CompletionStage Callable Supplier AtomicReference ThreadLocal InheritableThreadLocal"
    " WeakReference SoftReference Reference Enumeration CopyOnWriteArrayList SequencedCollection".split()
)
MAPPED = frozenset(
    "Map HashMap LinkedHashMap TreeMap SortedMap NavigableMap ConcurrentMap ConcurrentHashMap ConcurrentSkipListMap WeakHashMap"
    " IdentityHashMap EnumMap Hashtable Entry Map.Entry Function BiFunction ClassValue".split()
)
#: Methods of such a holder whose lambda is handed what it holds.
HANDS_OUT = frozenset(
    "forEach forEachOrdered filter map flatMap mapToInt mapToLong mapToDouble mapToObj anyMatch allMatch noneMatch removeIf"
    " ifPresent ifPresentOrElse peek takeWhile dropWhile thenAccept thenApply thenCompose forEachRemaining".split()
)
TESTS = frozenset("Test ParameterizedTest RepeatedTest TestFactory TestTemplate Property Theory".split())
ALWAYS = frozenset("Iterable ThreadLocal InheritableThreadLocal".split())  # of java.lang
TAGS = re.compile(
    r"\s*(?:^|\s)@(?:param|return|returns|throws|see|since|author|version|deprecated|exception|apiNote)\b.*", re.S
)
NUMBERS = frozenset(
    "decimal_integer_literal hex_integer_literal octal_integer_literal binary_integer_literal decimal_floating_point_literal"
    " hex_floating_point_literal".split()
)
HERITAGE = frozenset(
    ("superclass", "type_list", "extends_interfaces", "super_interfaces", "object_creation_expression")
)
ANNOTATIONS = frozenset(("annotation", "marker_annotation"))

DIALECT = Dialect(
    members={"field_access": ("object", "field")},
    invocations={"method_invocation": ("object", "name", "arguments")},
    news={"object_creation_expression": ("type", "arguments")},
    items={"array_access": "array"},
    through={"parenthesized_expression": "", "unary_expression": "operand"},
    casts={"cast_expression": "type"},
    literals={
        "string_literal": "#str",
        "character_literal": "#char", "true": "#bool", "false": "#bool", "null_literal": "#None", "class_literal": "#class",
    },
    selfs={"this": "self", "super": "super()"},
    type_members={"scoped_type_identifier": ("", "-1")},
    type_through={"annotated_type": ""},
    many={"array_type": "element"},
    generics={"generic_type": ("", "-1")},
    several=SEVERAL,
    mapped=MAPPED,
    builtins=PRIMITIVES,
    comments=frozenset(("line_comment", "block_comment")),
)  # fmt: skip
