"""Facts of JavaScript, TypeScript and TSX files: symbols, imports, exports, and what call sites mean inside one file."""

from __future__ import annotations

from typing import Any

import pytest

from mog.engine.code import extract
from mog.engine.code import facts as schema

SCRIPTS = ("javascript", "typescript", "tsx")


def facts(source: str, lang: str = "typescript", path: str = "src/a.ts") -> schema.Facts:
    return extract.extract(lang, source.encode(), path)


def symbols(found: schema.Facts) -> dict[str, tuple[str, int]]:
    """qual → (kind, line)"""
    return {row[schema.QUAL]: (row[schema.KIND], row[schema.LINE]) for row in found["syms"]}


def row(found: schema.Facts, qual: str) -> list[Any]:
    (held,) = [one for one in found["syms"] if one[schema.QUAL] == qual]
    return list(held)


def calls(found: schema.Facts, qual: str = "") -> list[str]:
    """Call chains of one scope, pointers spelled out."""
    index = next((i for i, one in enumerate(found["syms"]) if one[schema.QUAL] == qual), -1)
    held = [chain for scope, text in found["calls"] if scope == index for chain in text.split()]
    return [schema.portable(found, chain).replace("\x1f", ":") for chain in held]


def flags(found: schema.Facts, qual: str) -> set[str]:
    return set(row(found, qual)[schema.META].get("x", ()))


@pytest.mark.parametrize("lang", SCRIPTS)
def test_functions_arrows_classes_and_object_members_are_symbols(lang: str) -> None:
    found = facts(
        """
function plain() {}
async function* gen() {}
const arrow = () => 1;
const expression = function named() {};
export const table = { run() {}, go: () => 1, 'q-r': function () {}, nested: { deep() {} } };
class A {
  field = 1;
  #secret = 2;
  static made = new A();
  constructor() { this.late = () => 1; }
  get v() { return 1; }
  set v(x) {}
  async method() {}
  static make() {}
  #hidden() {}
  handler = () => {};
}
export default class extends A {}
""",
        lang,
    )
    kinds = {qual: kind for qual, (kind, _) in symbols(found).items()}
    assert kinds == {
        "plain": "function", "gen": "function", "arrow": "function", "expression": "function", "table": "const",
        "table.run": "method", "table.go": "method", "table.q-r": "method", "table.nested": "const",
        "table.nested.deep": "method",
        "A": "class", "A.field": "field", "A.#secret": "field", "A.made": "field", "A.constructor": "method", "A.late": "method",
        "A.v": "method", "A.v@setter": "method", "A.method": "method", "A.make": "method", "A.#hidden": "method",
        "A.handler": "method", "default": "class",
    }  # fmt: skip
    assert flags(found, "gen") == {"async"}
    assert flags(found, "A.make") == {"static"}
    assert flags(found, "A.v") == {"property"}
    assert "export" in flags(found, "table")
    assert flags(found, "default") == {"export", "default"}
    assert row(found, "default")[schema.META]["b"] == "A"


@pytest.mark.parametrize("lang", ["typescript", "tsx"])
def test_types_are_classes_with_a_role(lang: str) -> None:
    found = facts(
        """
interface I extends A, B<C> { p?: Foo; m(a: X): Y }
type T = A & { q: Foo };
enum E { One = 1, Two }
namespace N { export const z = new Foo(); export function inner() { z.m(); } }
abstract class Base { abstract m(): void; protected x: Foo[] = []; }
declare function external(): Foo;
""",
        lang,
    )
    roles = {one[schema.QUAL]: one[schema.META].get("role", "") for one in found["syms"] if one[schema.KIND] == "class"}
    assert roles == {"I": "interface", "T": "type", "E": "enum", "N": "namespace", "Base": ""}
    assert row(found, "I")[schema.META]["b"] == "A B"
    assert row(found, "I")[schema.META]["a"] == {"p": "Foo()"}
    assert row(found, "I.m")[schema.META]["r"] == "Y()"
    assert row(found, "Base")[schema.META]["a"] == {"x": "Foo()*"}
    assert flags(found, "Base") == {"abstract"}
    assert flags(found, "Base.m") == {"abstract"}
    assert symbols(found)["E.Two"] == ("field", 4)
    assert symbols(found)["N.inner"] == ("function", 5)
    assert symbols(found)["N.z"] == ("const", 5)
    assert calls(found, "N.inner") == ["Foo().m"]
    assert row(found, "external")[schema.META]["r"] == "Foo()"


def test_overloads_are_one_symbol_at_the_line_of_the_implementation() -> None:
    found = facts("export function f(a: string): Foo;\nexport function f(a: number): Foo;\n"
                  "export function f(a: any) { return g(a); }\n"
                  "class A {\n  m(a: string): void;\n  m(a: any) {}\n  n() {}\n}\n")  # fmt: skip
    assert symbols(found) == {"f": ("function", 3), "A": ("class", 4), "A.m": ("method", 6), "A.n": ("method", 7)}
    assert "overload" in flags(found, "f")
    assert row(found, "f")[schema.SIG] == "export function f(a: string): Foo"
    assert row(found, "f")[schema.FULL] == 0
    assert calls(found, "f") == ["g"]


def test_a_span_covers_export_and_decorators_and_the_line_is_that_of_the_name() -> None:
    source = "@A()\nexport class B {\n  @C(1)\n  @D\n  m() {}\n}\nexport const f =\n  () => 1;\n"
    found = facts(source)
    spans = {one[schema.QUAL]: source[one[schema.FULL] : one[schema.STOP]] for one in found["syms"]}
    assert spans["B"].startswith("@A()\nexport class B")
    assert spans["B.m"] == "@C(1)\n  @D\n  m() {}"
    assert spans["f"] == "export const f =\n  () => 1;"
    assert {qual: line for qual, (_, line) in symbols(found).items()} == {"B": 2, "B.m": 5, "f": 7}
    assert row(found, "B.m")[schema.META]["d"] == "C D"
    assert row(found, "B")[schema.META]["d"] == "A"


def test_signature_is_one_line_without_comments_and_the_doc_is_its_first_paragraph() -> None:
    found = facts(
        "/**\n * Adds two\n * numbers.\n *\n * More.\n * @param a x\n */\n"
        "function add(\n  a: number, // first\n  b = 2,\n): number {}\n"
    )
    assert row(found, "add")[schema.SIG] == "function add( a: number, b = 2, ): number"
    assert row(found, "add")[schema.DOC] == "Adds two numbers."


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("import D from './m';", [[-1, "D", "./m", "default", ""]]),
        ("import { a, b as c } from './m';", [[-1, "a", "./m", "a", ""], [-1, "c", "./m", "b", ""]]),
        ("import * as ns from './m';", [[-1, "ns", "./m", "", ""]]),
        ("import './m';", [[-1, "", "./m", "", ""]]),
        ("import type { T } from './m';", [[-1, "T", "./m", "T", "t"]]),
        ("import { type T, u } from './m';", [[-1, "T", "./m", "T", "t"], [-1, "u", "./m", "u", ""]]),
        ("import r = require('./m');", [[-1, "r", "./m", "=", ""]]),
        ("const r = require('./m');", [[-1, "r", "./m", "=", "r"]]),
        ("const { a, b: c } = require('./m');", [[-1, "a", "./m", "a", "r"], [-1, "c", "./m", "b", "r"]]),
        ("export { a as b } from './m';", [[-1, "b", "./m", "a", "x"]]),
        ("export { default } from './m';", [[-1, "default", "./m", "default", "x"]]),
        ("export * from './m';", [[-1, "*", "./m", "*", "sx"]]),
        ("export * as ns from './m';", [[-1, "ns", "./m", "", "x"]]),
        ("export type { T } from './m';", [[-1, "T", "./m", "T", "xt"]]),
        ("import('./m').then(m => m.go());", [[-1, "", "./m", "", "d"]]),
        ("require(name);", []),
    ],
)
def test_every_form_of_import(statement: str, expected: list[list[Any]]) -> None:
    assert facts(statement)["imports"] == expected


@pytest.mark.parametrize(
    ("source", "name", "chain"),
    [
        ("function f() {}\nexport default f;", "default", "f"),
        ("export default function f() {}", "default", "@f"),
        ("export default () => 1;", "default", "@default"),
        ("export default { run() {} };", "default", "@default"),
        ("function f() {}\nexport { f as g };", "g", "f"),
        ("function f() {}\nexport = f;", "=", "f"),
        ("function f() {}\nmodule.exports = f;", "=", "f"),
        ("module.exports = class A {};", "default", "@A"),
        ("function f() {}\nexports.g = f;", "g", "f"),
        ("exports.g = function () {};", "g", "@g"),
        ("module.exports = { run() {}, go: 1 };", "run", "@exports.run"),
    ],
)
def test_every_form_of_export(source: str, name: str, chain: str) -> None:
    found = facts(source, "typescript" if "export =" in source else "javascript")
    assert schema.portable(found, found["binds"][name]) == chain


@pytest.mark.parametrize("lang", SCRIPTS)
def test_locals_are_replaced_by_what_they_hold(lang: str) -> None:
    found = facts(
        """
import { Foo } from './foo';
function f(items) {
  const a = new Foo();
  a.run();
  const { b, c: [d] } = a.parts();
  b.go(); d.stop();
  for (const x of a.all()) x.each();
  const g = a.bound.bind(a);
  g();
  helper();
  function helper() { a.inner(); }
  items.forEach(item => item.touch());
  a.load().then(value => value.use());
  let e = a || other;
  e.both();
  new Foo().chained().more();
}
""",
        lang,
    )
    assert sorted(calls(found, "f")) == sorted([
        "Foo", "Foo().run", "Foo().parts", "Foo().parts().b.go", "Foo().parts().c[].stop", "Foo().all", "Foo().all(){}.each",
        "Foo().bound.bind", "g=Foo().bound", "helper=@f.helper", "?items.forEach", "?item.touch", "Foo().load",
        "Foo().load().use",
        "Foo().load().then", "Foo().both|other.both", "Foo().chained", "Foo().chained().more",
    ])  # fmt: skip
    assert calls(found, "f.helper") == ["Foo().inner"]


def test_this_and_super_belong_to_the_class_and_not_to_inner_functions() -> None:
    found = facts("class A extends B { m() { this.x(); super.m(); [1].map(() => this.y()); (function () { this.z() })(); }"
                  " constructor() { super(); } static s() { this.t(); } f = this.u(); }")  # fmt: skip
    assert set(calls(found, "A.m")) == {"self.x", "super().m", "self.y", "#list.map", "?.z"}
    assert calls(found, "A.constructor") == ["super().constructor"]
    assert calls(found, "A.s") == ["cls.t"]
    assert calls(found, "A") == ["self.u"]


def test_types_say_what_things_are() -> None:
    found = facts(
        """
class A {
  list: Foo[] = [];
  map: Map<string, Bar>;
  later: Promise<Foo>;
  constructor(private svc: Svc, plain: Other) {}
  m(a: Foo | null, b: Array<Bar>, c: typeof conf, ...rest: Foo[]): Promise<Bar> {
    a.one(); b[0].two(); c.three(); (x as Foo).four(); this.svc.five(); rest[0].six(); this.list.forEach(i => i.seven());
  }
  generic<T extends Foo>(t: T) { t.bounded(); }
}
function typed(cb: (first: Foo, second: number) => void) {}
typed((it) => it.eight());
"""
    )
    assert row(found, "A")[schema.META]["a"] == {"list": "Foo()*", "map": "Bar()**", "later": "Foo()", "svc": "Svc()"}
    assert row(found, "A.m")[schema.META]["r"] == "Bar()"
    assert set(calls(found, "A.m")) == {
        "Foo().one", "Bar()*[].two", "conf.three", "Foo().four", "self.svc.five", "Foo()*[].six", "self.list.forEach",
        "self.list{}.seven",
    }  # fmt: skip
    assert calls(found, "A.generic") == ["Foo().bounded"]
    assert row(found, "typed")[schema.META]["cb"] == {"0": ["Foo()", "#int"]}
    assert calls(found) == ["typed", "typed.$0$0.eight"]


def test_a_component_in_markup_is_a_call_and_a_plain_element_is_none() -> None:
    found = facts("import { Row } from './row';\nconst List = () => <ul><Row a={x} /><ns.Cell>t</ns.Cell><li /></ul>;\n"
                  "const Wrapped = React.memo(function W() { return <List /> });\n", "tsx", "src/a.tsx")  # fmt: skip
    assert calls(found, "List") == ["Row", "ns.Cell"]
    assert calls(found, "Wrapped") == ["List"]
    assert row(found, "List")[schema.META]["r"] == "#jsx"


@pytest.mark.parametrize("path", ["src/a.test.ts", "src/__tests__/a.ts", "spec/a-spec.ts"])
def test_blocks_of_a_test_file_are_tests_named_by_their_titles(path: str) -> None:
    found = facts(
        "describe('adds', () => {\n  it('two  numbers', async () => { add(1); });\n"
        "  it.each([1])(`case ${n}`, () => {});\n  function helper() {}\n});\ntest('alone::x', function () { helper2() });\n",
        path=path,
    )
    tests = {qual: line for qual, (kind, line) in symbols(found).items() if kind == "test"}
    assert tests == {
        "describe adds": 1, "describe adds > it two numbers": 2, "describe adds > it case …": 3, "test alone:x": 6,
    }  # fmt: skip
    assert calls(found, "describe adds > it two numbers") == ["add"]
    assert flags(found, "describe adds") == {"group"}


def test_the_same_blocks_elsewhere_are_plain_calls() -> None:
    found = facts("it('two numbers', () => { add(1); });")
    assert symbols(found) == {}
    assert set(calls(found)) == {"it", "add"}


def test_prototype_methods_belong_to_their_constructor() -> None:
    found = facts(
        "function A() {}\nA.prototype.m = function () { return this.n(); };\nA.make = () => new A();\n", "javascript"
    )
    assert {qual: kind for qual, (kind, _) in symbols(found).items()} == {
        "A": "function",
        "A.m": "method",
        "A.make": "method",
    }


def test_duplicate_names_get_ordinals_and_every_qual_is_unique() -> None:
    found = facts(
        "if (x) { function f() {} } else { function f() {} }\nconst g = () => 1; { const g = () => 2; }\n", "javascript"
    )
    quals = [one[schema.QUAL] for one in found["syms"]]
    assert sorted(quals) == ["f", "f#2", "g", "g#2"]


@pytest.mark.parametrize("lang", SCRIPTS)
def test_odd_input_gives_facts_and_never_an_error(lang: str) -> None:
    odd = ["", "\x00", "class {", "function (", "export {", "import", "const {a: {b: [c", "<a", "`${", "({" * 400,
           "a." * 3000 + "b()",
           "x = " + "(" * 3000, "f(" * 2000, "\ufeffclass A {}", "class A { " * 300]  # fmt: skip
    for source in odd:
        found = facts(source, lang)
        assert found["lang"] == lang
        for one in found["syms"]:
            assert -1 <= one[schema.PARENT] < len(found["syms"])


def test_no_value_of_a_string_is_in_the_facts() -> None:
    found = facts("const key = 'FAKE-VALUE-1'; call('FAKE-VALUE-2', `FAKE-VALUE-3`); class A { k = 'FAKE-VALUE-4' }")
    assert "FAKE-VALUE" not in str(found)
