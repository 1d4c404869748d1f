"""Where a module of JavaScript or TypeScript is, and what calls across files mean."""

from __future__ import annotations

import json

import pytest

from mog.engine.code import extract
from mog.engine.code.facts import Facts
from mog.engine.code.languages import javascript_config
from mog.engine.code.link import Linker, MemoryView, surface
from mog.engine.code.link_paths import joined
from mog.engine.code.link_ts import matched, rules, split_package
from mog.engine.code.link_types import Types

LANGUAGES = {"ts": "typescript", "mts": "typescript", "cts": "typescript", "tsx": "tsx", "js": "javascript", "jsx": "javascript",
             "mjs": "javascript", "cjs": "javascript", "py": "python"}  # fmt: skip


def facts_of(path: str, source: str) -> Facts:
    if javascript_config.is_config(path):
        return javascript_config.extract_tsconfig(source.encode(), path)
    return extract.extract(LANGUAGES[path.rpartition(".")[2]], source.encode(), path)


def view(files: dict[str, str]) -> MemoryView:
    return MemoryView({path: facts_of(path, source) for path, source in files.items()})


def resolve(files: dict[str, str], name: str, frm: str = "src/a.ts") -> str:
    """Path a module name means in a file, "!name" for one outside, "?" for none."""
    held = view({frm: "", **files})
    types = Types(held, rules())
    file = types.file(frm)
    assert file is not None
    (tag, what), _ = types.module(file, name)
    return what.path if tag == "M" else f"!{what}" if tag == "X" else "?"


def edges(files: dict[str, str], frm: str, kind: str = "calls") -> set[tuple[str, str, int]]:
    """(caller, callee, tier) of one file; files and unresolved names by themselves."""
    held = view(files)
    linker = Linker(held)

    def label(path: str, at: int | str) -> str:
        if not path:
            return str(at)
        found = held.facts(path)
        assert found is not None
        return path if at == -1 else f"{path}:{found['syms'][int(at)][1]}"

    return {
        (label(frm, source), label(path, target), tier)
        for source, path, target, edge, tier, _ in linker.link_file(frm).edges
        if edge == kind
    }


@pytest.mark.parametrize(
    ("files", "name", "expected"),
    [
        (["src/m.ts"], "./m", "src/m.ts"),
        (["src/m.tsx"], "./m", "src/m.tsx"),
        (["src/m.d.ts"], "./m", "src/m.d.ts"),
        (["src/m.js", "src/m.ts"], "./m", "src/m.ts"),
        (["src/m.ts"], "./m.js", "src/m.ts"),
        (["src/m.tsx"], "./m.jsx", "src/m.tsx"),
        (["src/m.mts"], "./m.mjs", "src/m.mts"),
        (["src/m.cjs"], "./m.cjs", "src/m.cjs"),
        (["src/m.service.ts"], "./m.service", "src/m.service.ts"),
        (["src/m/index.ts"], "./m", "src/m/index.ts"),
        (["src/m/index.ts"], "./m/", "src/m/index.ts"),
        (["src/index.ts"], ".", "src/index.ts"),
        (["index.ts"], "..", "index.ts"),
        (["lib/m.js"], "../lib/m", "lib/m.js"),
        ([], "./m", "?"),
        ([], "../../m", "?"),
        ([], "react", "!react"),
        (["src/fs.ts"], "fs", "!fs"),
        (["src/m.ts"], "node:m", "!node:m"),
        (["src/m.ts"], "./m?raw", "src/m.ts"),
    ],
)
def test_paths_are_completed(files: list[str], name: str, expected: str) -> None:
    assert resolve(dict.fromkeys(files, ""), name) == expected


TSCONFIG = """{
  // aliases, relative to the baseUrl that is inherited
  "extends": "./tsconfig.base",
  "compilerOptions": {
    "paths": { "@/*": ["*"], "@app": ["app/main.ts"], "@x/*": ["nowhere/*", "x/*"], }, /* end */
  },
}"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("@/lib/m", "src/lib/m.ts"),
        ("@app", "src/app/main.ts"),
        ("@x/y", "src/x/y.ts"),
        ("lib/m", "src/lib/m.ts"),
        ("@other/pkg", "!@other/pkg"),
        ("https://example.org/m.js", "!https://example.org/m.js"),
    ],
)
def test_aliases_of_a_configuration_with_comments_that_extends_another(name: str, expected: str) -> None:
    files = {
        "tsconfig.json": TSCONFIG,
        "tsconfig.base.json": '{"compilerOptions": {"baseUrl": "./src"}}',
        "src/lib/m.ts": "", "src/app/main.ts": "", "src/x/y.ts": "",
    }  # fmt: skip
    assert resolve(files, name, "src/deep/er/a.ts") == expected


def test_the_nearest_configuration_rules_and_references_are_followed() -> None:
    files = {
        "tsconfig.json": '{"compilerOptions": {"paths": {"@/*": ["./wrong/*"]}}}',
        "web/tsconfig.json": '{"files": [], "references": [{"path": "./tsconfig.app.json"}]}',
        "web/tsconfig.app.json": '{"compilerOptions": {"paths": {"@/*": ["./src/*"]}}}',
        "web/src/m.ts": "", "wrong/m.ts": "",
    }  # fmt: skip
    assert resolve(files, "@/m", "web/src/a.ts") == "web/src/m.ts"
    assert resolve(files, "@/m", "other/a.ts") == "wrong/m.ts"


@pytest.mark.parametrize(
    ("manifest", "name", "expected"),
    [
        ({"main": "lib/main.js"}, "@o/p", "packages/p/lib/main.js"),
        ({"main": "dist/index.js"}, "@o/p", "packages/p/src/index.ts"),
        (
            {"exports": {".": {"types": "./dist/index.d.ts", "default": "./dist/index.js"}}},
            "@o/p",
            "packages/p/src/index.ts",
        ),
        ({"exports": {"./sub": "./dist/sub.js"}}, "@o/p/sub", "packages/p/src/sub.ts"),
        ({"exports": {"./*": "./src/*.ts"}}, "@o/p/sub", "packages/p/src/sub.ts"),
        ({}, "@o/p", "packages/p/src/index.ts"),
        ({}, "@o/p/sub", "packages/p/src/sub.ts"),
        ({}, "@o/q", "!@o/q"),
    ],
)
def test_packages_of_the_repository_are_found_by_name(manifest: dict[str, object], name: str, expected: str) -> None:
    files = {
        "packages/p/package.json": json.dumps({"name": "@o/p", **manifest}),
        "packages/p/src/index.ts": "", "packages/p/src/sub.ts": "", "packages/p/lib/main.js": "",
    }  # fmt: skip
    assert resolve(files, name, "apps/web/a.ts") == expected


def test_private_imports_of_a_package() -> None:
    files = {"package.json": '{"name": "p", "imports": {"#db/*": "./src/db/*.ts"}}', "src/db/pool.ts": ""}
    assert resolve(files, "#db/pool") == "src/db/pool.ts"


def test_calls_follow_barrels_default_exports_and_namespaces() -> None:
    files = {
        "src/a.ts": "import Dflt, { one, two as deux, Three } from './barrel';\nimport * as all from './barrel';\n"
        "function f() { one(); deux(); Dflt(); all.one(); all.sub.deep(); new Three().go(); }\n",
        "src/barrel.ts": "export * from './m';\nexport { renamed as two } from './m';\nexport * as sub from './sub';\n"
        "export { default } from './d';\n"
        "export * from './barrel';\n",
        "src/m.ts": "export function one() {}\nexport function renamed() {}\nexport class Three { go() {} }\nexport default 1;\n",
        "src/sub.ts": "export const deep = () => 1;\n",
        "src/d.ts": "export default function () {}\n",
    }
    assert edges(files, "src/a.ts") == {
        ("src/a.ts:f", "src/m.ts:one", 0), ("src/a.ts:f", "src/m.ts:renamed", 0), ("src/a.ts:f", "src/d.ts:default", 0),
        ("src/a.ts:f", "src/sub.ts:deep", 0), ("src/a.ts:f", "src/m.ts:Three", 0), ("src/a.ts:f", "src/m.ts:Three.go", 0),
    }  # fmt: skip


def test_calls_into_commonjs_modules() -> None:
    files = {
        "a.js": "const m = require('./m'), K = require('./k'), { q: r } = require('./m');\nimport d from './k';\n"
        "function f() { m.p(); r(); new K().go(); new d().go(); require('./m').p(); }\n",
        "m.js": "exports.p = function () {};\nmodule.exports.q = q;\nfunction q() {}\n",
        "k.js": "class K { go() {} }\nmodule.exports = K;\n",
    }
    assert edges(files, "a.js") == {
        ("a.js:f", "m.js:p", 0), ("a.js:f", "m.js:q", 0), ("a.js:f", "k.js:K", 0), ("a.js:f", "k.js:K.go", 0),
    }  # fmt: skip


def test_this_super_and_attributes_follow_the_class_chain() -> None:
    files = {
        "a.ts": "import { Base } from './base';\nexport class A extends Base { constructor(private svc: Svc) { super(); } m() {"
        " this.own(); this.up();"
        " super.m(); this.svc.run(); } own() {} }\nclass Svc { run() {} }\n",
        "base.ts": "export class Base { constructor() {} up() {} m() {} }\n",
    }
    assert edges(files, "a.ts") == {
        ("a.ts:A.m", "a.ts:A.own", 0), ("a.ts:A.m", "base.ts:Base.up", 0), ("a.ts:A.m", "base.ts:Base.m", 0),
        ("a.ts:A.m", "a.ts:Svc.run", 0), ("a.ts:A.constructor", "base.ts:Base.constructor", 0),
    }  # fmt: skip
    assert edges(files, "a.ts", "inherits") == {("a.ts:A", "base.ts:Base", 0)}


def test_members_of_an_object_literal_are_called_through_it() -> None:
    files = {"a.ts": "import { api } from './api';\nfunction f() { api.get(); api.deep.er(); }\n",
             "api.ts": "export const api = { get() { this.own(); }, own() {}, deep: { er: () => 1 } };\n"}  # fmt: skip
    assert edges(files, "a.ts") == {("a.ts:f", "api.ts:api.get", 0), ("a.ts:f", "api.ts:api.deep.er", 0)}
    assert edges(files, "api.ts") == {("api.ts:api.get", "api.ts:api.own", 0)}


def test_functions_with_a_prototype_are_classes() -> None:
    files = {"a.js": "function A() {}\nA.prototype.m = function () { this.n(); };\nA.prototype.n = function () {};\n"
                     "const res = Object.create(null);\nres.send = function send() { this.end(); };\nres.end = () => {};\n"
                     "function f() { new A().m(); res.send(); }\n"}  # fmt: skip
    assert {edge for edge in edges(files, "a.js") if edge[2] == 0} == {
        ("a.js:f", "a.js:A", 0), ("a.js:f", "a.js:A.m", 0), ("a.js:A.m", "a.js:A.n", 0), ("a.js:f", "a.js:res.send", 0),
        ("a.js:res.send", "a.js:res.end", 0),
    }  # fmt: skip


def test_a_declaration_beside_its_implementation_gives_way() -> None:
    files = {
        "a.js": "import { f } from './m';\nf();\n",
        "m.js": "export function f() {}\n",
        "m.d.ts": "export declare function f(): void;\n",
    }
    assert edges(files, "a.js") == {("a.js", "m.js:f", 0)}


def test_calling_an_item_of_a_collection_guesses_no_method_of_that_name() -> None:
    files = {"a.ts": "class S { listeners = new Set<Listener>(); go() { this.listeners.forEach((listener) => listener(1)); } }\n"
                     "class T { setup() { const listener = () => 1; } }\nclass U { listener() {} }\n"}  # fmt: skip
    assert edges(files, "a.ts") == {("a.ts:S.go", "receiver:listener", 3)}


def test_parameters_of_callbacks_have_the_types_that_were_declared_for_them() -> None:
    files = {"a.ts": "import { each } from './each';\neach((it) => it.go());\nclass T { constructor(cb: (x: Foo) => void) {} }\n"
                     "import { Foo } from './each';\n"
                     "function g(fs: Foo[]) { new T((x) => x.go()); fs.filter(f => f.go()).map(f => f.go()); }\n",
             "each.ts": "export class Foo { go() {} }\nexport function each(cb: (it: Foo) => void) {}\n"}  # fmt: skip
    found = edges(files, "a.ts")
    assert ("a.ts", "each.ts:Foo.go", 0) in found
    assert ("a.ts:g", "each.ts:Foo.go", 0) in found


def test_a_name_the_platform_owns_is_no_certain_call() -> None:
    files = {"a.ts": "class Store { push() {} special() {} }\nfunction f(x, y) { x.push(1); y.special(); }\n"}
    assert edges(files, "a.ts") == {("a.ts:f", "a.ts:Store.push", 2), ("a.ts:f", "a.ts:Store.special", 0)}


def test_builtin_values_are_outside() -> None:
    files = {
        "a.ts": "class Store { push() {} getTime() {} }\nfunction f() { [1].push(2); new Date().getTime(); 'a'.push(); }\n"
    }
    assert not [edge for edge in edges(files, "a.ts") if edge[1].startswith("a.ts")]


def test_names_of_another_family_of_languages_are_no_candidates() -> None:
    files = {"a.ts": "function f(x) { x.special(); }\n", "b.py": "class B:\n    def special(self): pass\n"}
    assert edges(files, "a.ts") == {("a.ts:f", "receiver:special", 3)}


def test_an_import_reads_what_could_change_its_meaning() -> None:
    """Adding a file that an import would find first makes the importer dirty."""
    before = view({"src/a.ts": "import { f } from './m';\nf();\n", "src/m/index.ts": "export function f() {}\n"})
    reads = set(Linker(before).link_file("src/a.ts").reads)
    for path in ("src/m.ts", "src/m.d.ts", "src/m/package.json", "tsconfig.json"):
        added = surface(facts_of(path, "{}" if path.endswith("json") else ""), path)
        relevant = path != "tsconfig.json"
        assert bool(reads & added.keys()) is relevant, path
    alias = view({"src/a.ts": "import { f } from '@/m';\nf();\n"})
    reads = set(Linker(alias).link_file("src/a.ts").reads)
    assert reads & surface(facts_of("tsconfig.json", "{}"), "tsconfig.json").keys()
    named = view({"src/a.ts": "import { f } from '@o/p';\nf();\n"})
    reads = set(Linker(named).link_file("src/a.ts").reads)
    assert reads & surface(facts_of("packages/p/package.json", '{"name": "@o/p"}'), "packages/p/package.json").keys()


def test_settings_of_a_configuration_are_part_of_its_surface() -> None:
    one, two = (surface(facts_of("tsconfig.json", text), "tsconfig.json") for text in (
        '{"compilerOptions": {"paths": {"@/*": ["a/*"]}}}', '{"compilerOptions": {"paths": {"@/*": ["b/*"]}}}'))  # fmt: skip
    assert one != two


@pytest.mark.parametrize(
    "text", ["", "[]", "{", "null", '{"compilerOptions": 1}', '{"paths": {"a": 1}}', '{"exports": ' + "[" * 2000]
)
def test_a_configuration_that_makes_no_sense_says_nothing(text: str) -> None:
    for path in ("tsconfig.json", "package.json"):
        assert facts_of(path, text)["imports"] == []


def test_path_helpers() -> None:
    assert joined("a/b", "../c") == "a/c"
    assert joined("a", "../../c") is None
    assert matched("@/*", "@/x/y") == "x/y"
    assert matched("@/*", "@x") is None
    assert matched("*.js", "a.js") == "a"
    assert split_package("@o/p/q/r") == ("@o/p", "./q/r", "q/r")
    assert split_package("p") == ("p", ".", "")
