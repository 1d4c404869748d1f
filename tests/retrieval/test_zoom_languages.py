"""L1 of whole files in every language: each definition with its whole signature, no body, whatever the bytes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from zoom_kit import SOURCES, outline

from mog.engine.code import facts as schema

SIGNATURES = {
    "a.py": r'''
LIMIT: int = 10
OTHER = 3
TABLE = {
"a": 1,
class Color(enum.Enum):
RED = 1
GREEN, BLUE = 2, 3
def pretty(self):
@dataclass(
frozen=True,
slots=True,
class Point(
Generic[T],
metaclass=type,
x: int
y: list[int] = field(
default_factory=list,
z: int = 0
class Inner:
q = 1
def deep(self, a, b):
@overload
async def get(self, a: int) -> int:
async def get(self, a: str) -> str:
async def get(self, a, fn=lambda q: {q: 1}, *, data={"k": [1, 2]}) -> int | str:
@property
def size(
self,  # a note with ) in it
) -> int:
@size.setter
def size(self, v):
@staticmethod
@abstractmethod
def make[U: (int, str)](u: U) -> "Point[U]":
"""Colours."""
"""Overload."""
"""Gets."""
r"""Raw \d."""
''',
    "b.ts": '''
@Component({
selector: 'app',
})
export abstract class View<T extends object = {}>
extends Base<T>
implements A, B {
static readonly MAX = 10;
#secret = 1;
@Output()
change = new EventEmitter<{
a: number;
}>();
[key: string]: unknown;
constructor(
private readonly store: Store,
@Inject(TOKEN) public name2?: string,
/** Overloads. */
draw(a: number): void;
draw(a: string): void;
/** Draws any. …
draw(a: any): void
abstract paint(a: any): void;
get total(): number
set total(v)
async *gen(): AsyncGenerator<number>
arrow = async (
q: number,
): Promise<void> =>;
handler = debounce(() => { x(); }, 100);
[Symbol.iterator]()
export interface Drawable<T> extends A, B {
/** the width */
readonly width?: number;
draw(a: string): void;
new (x: number): Drawable<T>;
(call: string): void;
[index: number]: string;
nested: {
deep: string;
export enum Kind {
A = 1,
B = "b",
C,
export type Shape<T> =
export function open(a: number): void;
export function open(
a: any,
b?: string,
): void
export const make = <T,>(x: T, opts: { a: number } = { a: 1 }): T =>
run(a),
| { kind: 'a'; value: T }
| { kind: 'b' };
namespace NS { export class K { m(): void } export const v = 1; }
''',
    "c.tsx": '''
/** Draws. */
export function Cart({ items, onClose }: { items: Item[]; onClose: () => void }): JSX.Element
export const Memo = React.memo(function Memo(props: P)
class C extends React.Component<Props, State> {
state = { a: 1 };
render()
''',
    "d.js": '''
function Old(a, b = {x: 1})
Old.prototype.go = function (q)
class New extends Old {
static x = 1;
#p()
get v()
static async *s(a, ...rest)
constructor({ a, b } = {})
exports.helper = function helper(a)
* Old style.
''',
}  # fmt: skip


@pytest.mark.parametrize("path", SOURCES)
def test_every_signature_is_whole_and_no_body_is_there(path: str) -> None:
    text = outline(path, SOURCES[path].encode()).contents()
    lines = {line.strip() for line in text.splitlines()}
    assert [one for one in SIGNATURES[path].strip().split("\n") if one not in lines] == []
    assert "BODY" not in text


@pytest.mark.parametrize("path", SOURCES)
def test_windows_line_ends_and_tabs_make_no_difference_to_what_is_shown(path: str) -> None:
    plain = outline(path, SOURCES[path].encode()).contents()
    assert outline(path, SOURCES[path].replace("\n", "\r\n").encode()).contents() == plain


@pytest.mark.parametrize("path", SOURCES)
def test_a_definition_alone_shows_what_it_shows_in_its_file(path: str) -> None:
    made = outline(path, SOURCES[path].encode())
    whole = {line.strip() for line in made.contents().splitlines()}
    for ord_ in made.members(-1):
        head = made.skeleton(ord_).splitlines()[-1].strip()
        assert head in whole or made.syms[ord_][schema.DOC]


def test_long_documentation_is_cut_to_its_first_paragraph_and_short_one_is_whole() -> None:
    text = 'def f():\n    """First.\n\n    Second {}.\n    """\n    return 1\n'
    assert "Second" in outline("a.py", text.format("").encode()).skeleton(0)
    assert outline("a.py", text.format("word " * 100).encode()).skeleton(0) == 'def f():\n    """First. …\n    """'
    script = "/**\n * First.\n * @param a it {}\n */\nfunction f(a) {{ return 1; }}\n"
    assert outline("a.js", script.format("word " * 100).encode()).skeleton(0) == "/**\n * First. …\n */\nfunction f(a)"


def test_a_signature_longer_than_the_index_keeps_is_whole() -> None:
    parameters = ", ".join(f"parameter_{n}: dict[str, tuple[int, ...]] = {{}}" for n in range(40))
    made = outline("a.py", f"def f({parameters}) -> None:\n    return 1\n".encode())
    assert made.skeleton(0) == f"def f({parameters}) -> None:"
    made = outline("a.ts", f"class C {{\n  m({parameters.replace(' = {}', '')}): void {{ BODY }}\n}}\n".encode())
    assert "parameter_39" in made.skeleton(1) and "BODY" not in made.skeleton(1)


def test_a_large_value_is_cut_after_the_line_that_names_it() -> None:
    made = outline("a.py", ("TABLE = {\n" + "    'key': 'value',\n" * 100 + "}\n").encode())
    assert made.skeleton(0) == "TABLE = { …"


@settings(max_examples=120, deadline=None)
@given(st.sampled_from(sorted(SOURCES)), st.data())
def test_no_bytes_make_a_skeleton_fail(path: str, data: st.DataObject) -> None:
    source = SOURCES[path].encode()
    start = data.draw(st.integers(0, len(source)))
    stop = data.draw(st.integers(start, len(source)))
    odd = st.sampled_from([b'"""', b"/*", b"{", b")", b"\n\n", b"class X:", b"\xff"])
    junk = data.draw(st.one_of(st.binary(max_size=12), odd))
    made = outline(path, source[:start] + junk + source[stop:])
    text = made.contents()
    for ord_ in range(len(made.syms)):
        assert isinstance(made.skeleton(ord_), str) and isinstance(made.body(ord_), str)
    assert len(text) <= 4 * len(source) + 400
