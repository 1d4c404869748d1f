"""Python's rules for the linker: where a module is, which names are builtin, what a test file is. Called by ``link*.py``.

What may not come in: inference, edges. The interface every language's rules offer:

    module(types, file, name)   -> (value, reads)   ("M", File) | ("N", (name, file)) | ("X", name) | unknown
    submodule(types, file, name)-> (File | None, reads)     what ``import file.name`` finds below a package's file
    is_builtin(name), builtin_base(name) -> value, owned_in(file) -> names, is_test(path), external_call(name) -> values
    family (definitions are guessed by name within one only), constructors (methods that calling a class runs),
    guessable(sym) (may a call on an unknown receiver mean it), collection (tag of the values of ``thing*``)
    beside, elsewhere, direct, implicit, overloads: what only declared languages have (``link_declared.py``); None and False here
"""

from __future__ import annotations

import builtins
import sys
from typing import Any

from mog.engine.code.languages.python_paths import is_test_path
from mog.engine.code.link_builtins import OWNED, OWNED_BY_MODULE
from mog.engine.code.link_names import EXTERNAL, UNKNOWN, Value
from mog.engine.code.link_rules import Rules
from mog.engine.code.link_types import Types
from mog.engine.code.link_view import File, Sym, read_key

BUILTINS = frozenset(dir(builtins))
STDLIB = frozenset(sys.stdlib_module_names)
TYPES = {"str", "int", "float", "bool", "bytes", "bytearray", "complex", "range", "frozenset", "list", "dict", "set", "tuple",
         "memoryview", "slice", "object"}  # fmt: skip
_PLAIN_RESULT = {"len", "repr", "id", "hash", "open", "isinstance", "issubclass", "callable", "hasattr", "ord", "chr", "hex",
                 "print", "input", "format", "ascii", "bin", "oct", "round", "divmod", "any", "all", "dir"}  # fmt: skip


class PythonRules(Rules):
    """Import and naming rules of Python. Keeps the table of top-level names of one view."""

    def __init__(self) -> None:
        self._roots: dict[str, list[str]] | None = None

    family = "python"
    constructors = ("__init__", "__new__")
    collection = "L"

    def is_builtin(self, name: str) -> bool:
        return name in BUILTINS

    def guessable(self, sym: Sym) -> bool:
        """Whether a call on an unknown receiver may mean this definition: any, modules are receivers too."""
        return True

    def builtin_base(self, name: str) -> Value:
        """A builtin among the bases of a class: its methods are known not to be the project's."""
        return "K", name

    def owned_in(self, file: File) -> frozenset[str]:
        """Names of attributes that builtin types, or standard modules this file imports, own."""
        modules = {entry[2].partition(".")[0] for entry in file.facts["imports"]} & OWNED_BY_MODULE.keys()
        return OWNED.union(*(OWNED_BY_MODULE[module] for module in modules)) if modules else OWNED

    def is_test(self, path: str) -> bool:
        return is_test_path(path)

    def external_call(self, name: str) -> tuple[Value, ...]:
        """What calling an external name hands back: an instance of a builtin type, something external, or unknown."""
        if name in BUILTINS:
            if name in TYPES:
                return (("K", name),)
            return (("K", "None"),) if name in _PLAIN_RESULT else (UNKNOWN,)
        return (EXTERNAL,)

    # ── modules ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def module(self, types: Types, file: File, name: str) -> tuple[Value, tuple[int, ...]]:
        """The module ``name`` (leading dots: relative) means in a file."""
        reads: list[int] = []
        folder = file.path.rpartition("/")[0]
        if name.startswith("."):
            rest = name.lstrip(".")
            for _ in range(len(name) - len(rest) - 1):
                folder = folder.rpartition("/")[0]
            found = self._at(types, folder, rest.split(".") if rest else [], reads)
            return (("M", found) if found is not None else ("?", "")), tuple(reads)
        parts = name.split(".")
        own = self._root(types, folder, reads)
        near = [own]
        if parts[0] not in STDLIB:
            while near[-1]:
                near.append(near[-1].rpartition("/")[0])
            if "src" not in near:
                near.append("src")
        for root in near:
            found = self._at(types, root, parts, reads)
            if found is not None:
                return ("M", found), tuple(reads)
        if parts[0] in STDLIB:
            return ("X", name), tuple(reads)
        return self._far(types, file, name, parts, near, reads)

    def _far(self, types: Types, file: File, name: str, parts: list[str], near: list[str],
             reads: list[int]) -> tuple[Value, tuple[int, ...]]:  # fmt: skip
        """Roots that are not above the importer: other source trees of the repository; namespace packages."""
        reads += (read_key(f"t:{parts[0]}"), read_key("i:"))
        space = False
        for root in self._tops(types).get(parts[0], ()):
            if root not in near:
                found = self._at(types, root, parts, reads)
                if found is not None:
                    return ("M", found), tuple(reads)
            space = True
        return (("N", (name, file)) if space else ("X", name)), tuple(reads)

    def _at(self, types: Types, root: str, parts: list[str], reads: list[int]) -> File | None:
        base = "/".join([root, *parts]) if root else "/".join(parts)
        places = (f"{base}/__init__.py", f"{base}.py") if parts else (f"{base}/__init__.py" if base else "__init__.py",)
        for place in places:
            reads.append(read_key(f"p:{place}"))
            if types.view.has(place):
                return types.file(place)
        return None

    def _root(self, types: Types, folder: str, reads: list[int]) -> str:
        """The folder from which a package's absolute name counts: the first one above without ``__init__.py``."""
        while folder:
            reads.append(read_key(f"p:{folder}/__init__.py"))
            if not types.view.has(f"{folder}/__init__.py"):
                break
            folder = folder.rpartition("/")[0]
        return folder

    def _tops(self, types: Types) -> dict[str, list[str]]:
        """Top-level name → roots that hold a module or folder of that name."""
        if self._roots is None:
            found: dict[str, set[str]] = {}
            packages = {path.rpartition("/")[0] for path in types.view.paths() if path.endswith("__init__.py")}
            seen: set[str] = set()
            for path in types.view.paths():
                if not path.endswith(".py"):
                    continue
                folder, _, name = path.rpartition("/")
                if folder not in packages:
                    found.setdefault(name[:-3], set()).add(folder)
                while folder and folder not in seen:
                    seen.add(folder)
                    above, _, name = folder.rpartition("/")
                    if above not in packages:
                        found.setdefault(name, set()).add(above)
                    folder = above
            self._roots = {name: sorted(roots, key=lambda r: (r.count("/"), r)) for name, roots in found.items()}
        return self._roots

    def submodule(self, types: Types, file: File, name: str) -> tuple[File | None, tuple[int, ...]]:
        """The module ``name`` directly below a package's ``__init__.py``."""
        folder, _, last = file.path.rpartition("/")
        if last != "__init__.py":
            return None, ()
        reads: list[int] = []
        return self._at(types, folder, [name], reads), tuple(reads)


def rules() -> dict[str, Any]:
    """The rules of Python by language name."""
    return {"python": PythonRules()}
