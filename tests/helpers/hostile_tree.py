"""A repository that does everything a repository can do to an indexer, and fake credentials of every planted kind.

Who calls: tests/engine/test_hostile*.py. What may not come in: assertions, mog.
Credentials are put together at run time, visibly fake, so that this file carries none.
"""

from __future__ import annotations

import base64
import os
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

DEEP = 5_000
BIG = 100 * 1024 * 1024
OUTSIDE_WORD = "OutsideMarkerWord"
POSIX = sys.platform != "win32"


def git(root: Path, *args: str) -> str:
    """Run git with file transport allowed (submodules); its output."""
    command = ["git", "-c", "protocol.file.allow=always", "-c", "commit.gpgsign=false", *args]
    done = subprocess.run(command, cwd=root, check=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    return done.stdout.decode()


def new_repo(root: Path, files: dict[str, str | bytes]) -> Path:
    """A repository with one commit of these files."""
    root.mkdir(parents=True, exist_ok=True)
    write(root, files)
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", "start")
    return root


def write(root: Path, files: dict[str, str | bytes]) -> None:
    """Write files, folders made as needed."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def build(top: Path) -> Path:
    """The hostile repository below ``top``, beside an ``outside`` folder that nothing may read."""
    root = new_repo(
        top / "hostile", {"src/good.py": "def good_one():\n    return helper()\n\n\ndef helper():\n    return 1\n"}
    )
    outside = top / "outside"
    write(
        outside, {"secret_plan.py": f"def {OUTSIDE_WORD}():\n    return 1\n", "sub/more.py": f"{OUTSIDE_WORD}_2 = 1\n"}
    )
    for part in (_texts, _nesting, _cycles, _repositories):
        part(root, top)
    if POSIX:
        for part in (_names, _links, _special):
            part(root, top)
    git(root, "add", "-A", "--ignore-errors", "--", "src", "deep", "text")
    git(root, "commit", "-q", "-m", "hostile")
    return root


def _names(root: Path, top: Path) -> None:
    folder = os.fsencode(root / "src")
    for number, name in enumerate(
        (
            b"bad\xff.py",
            b"esc\x1b[31mred.py",
            b"new\nline.py",
            b"tab\t.py",
            b"bell\x07.py",
            b"c1\xc2\x9bm.py",
            b"--help.py",
        )
    ):
        with open(folder + b"/" + name, "wb") as handle:
            handle.write(b"def named_%d():\n    return good_one()\n" % number)
    write(root, {"src/rtl\u202egnp.py": "def bidi():\n    return 1\n", "src/" + "n" * 250 + ".py": "long_name = 1\n"})
    write(root, {"src/" + "d/" * 200 + "far.py": "def far_down():\n    return 1\n"})


def _links(root: Path, top: Path) -> None:
    (root / "src" / "loop").symlink_to(".")
    (root / "src" / "ping").symlink_to("pong")
    (root / "src" / "pong").symlink_to("ping")
    (root / "src" / "dangling.py").symlink_to("nowhere.py")
    (root / "src" / "escape.py").symlink_to(top / "outside" / "secret_plan.py")
    (root / "src" / "escape_dir").symlink_to(top / "outside")


def _special(root: Path, top: Path) -> None:
    os.mkfifo(root / "src" / "pipe.py")
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.getcwd()
        os.chdir(root / "src")  # a socket's path may not be longer than some 100 bytes
        try:
            listener.bind("sock.py")
        finally:
            os.chdir(here)
    (root / "src" / "closed.py").write_text("def closed():\n    return 1\n")
    (root / "src" / "closed.py").chmod(0)


def _texts(root: Path, top: Path) -> None:
    source = "def {}():\n    return 'ä'\n"
    write(
        root,
        {
            "text/utf16.py": source.format("wide").encode("utf-16"),
            "text/utf16be.py": b"\xfe\xff" + source.format("wide_be").encode("utf-16-be"),
            "text/bom.py": b"\xef\xbb\xbf" + source.format("with_bom").encode(),
            "text/crlf.py": source.format("with_crlf").replace("\n", "\r\n").encode(),
            "text/cr.py": source.format("with_cr").replace("\n", "\r").encode(),
            "text/nul.py": b"def before_nul():\n    return 1\n\x00\x00\ndef after_nul():\n    return 2\n",
            "text/latin.py": b"# -*- coding: latin-1 -*-\ndef latin():\n    return '\xe4'\n",
            "text/invalid.py": b"def invalid():\n    return '\xff\xfe\xff'\n",
            "text/empty.py": b"",
            "text/blank.py": b"\n\n   \n",
            "text/control.py": b"def control():\n    '''doc \x1b[31m \xc2\x9b \xe2\x80\xae end'''\n    return 1\n",
            "text/broken.py": b"def ((((:\n  class \n return return\n",
            "text/one_line.js": b"function one(){return 1};" * 4_000,
            "text/noise.bin": bytes(range(256)) * 64,
        },
    )
    with (root / "big_sparse.py").open("wb") as handle:
        handle.truncate(BIG)


def _nesting(root: Path, top: Path) -> None:
    write(
        root,
        {
            "deep/parens.py": "x = " + "(" * DEEP + "1" + ")" * DEEP + "\n",
            "deep/calls.py": "y = " + "f(" * DEEP + ")" * DEEP + "\n",
            "deep/attrs.py": "z = a" + ".b" * DEEP + "()\n",
            "deep/sum.py": "s = 1" + " + f()" * DEEP + "\n",
            "deep/defs.py": "".join(" " * n + f"def f{n}():\n" for n in range(300)) + " " * 300 + "pass\n",
            "deep/blocks.ts": "function top() {" + "{" * DEEP + "}" * DEEP + "}\n",
            "deep/arrows.ts": "const g = " + "() => (" * DEEP + "1" + ")" * DEEP + ";\n",
            "deep/types.ts": "type T = " + "Array<" * DEEP + "string" + ">" * DEEP + ";\n",
            "deep/tags.tsx": "const h = " + "<a>" * DEEP + "</a>" * DEEP + ";\n",
            "deep/array.json": "[" * DEEP + "]" * DEEP + "\n",
            "deep/object.json": '{"a":' * DEEP + "1" + "}" * DEEP + "\n",
        },
    )


def _cycles(root: Path, top: Path) -> None:
    write(
        root,
        {
            "src/own_parent.py": "class A(A):\n    def m(self):\n        return self.m() + super().m()\n",
            "src/ring_a.py": "from .ring_b import *\nclass Ring(Band):\n  def go(self):\n    return self.turn()\n",
            "src/ring_b.py": "from .ring_a import *\nclass Band(Ring):\n  def turn(self):\n    return self.go()\n",
            "src/own_import.py": "from .own_import import thing\nfrom .own_import import *\nthing = thing\n",
            "src/index.ts": "export * from './index';\nexport { x } from './other';\n",
            "src/other.ts": "export * from './index';\nexport { x } from './index';\nexport const y = x();\n",
            "src/twice.py": "".join("def same():\n    return same()\n" for _ in range(300)),
        },
    )


def _repositories(root: Path, top: Path) -> None:
    new_repo(root / "nested", {"inner.py": "def inside_nested():\n    return 1\n"})
    library = new_repo(top / "library", {"lib.py": "def inside_submodule():\n    return 1\n"})
    git(root, "submodule", "--quiet", "add", str(library), "vendored")


@dataclass(frozen=True, slots=True)
class Planted:
    """One fake credential: where it stands, the text around it, and the value that may never be seen again."""

    kind: str
    path: str
    text: str
    value: str


def _jwt() -> str:
    parts = ('{"alg":"HS256","typ":"JWT"}', '{"sub":"fake-fake-fake","name":"Fake"}')
    return ".".join(base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts) + "." + "FAKE" * 11


def _pem(kind: str) -> tuple[str, str]:
    body = base64.b64encode(b"fake key material " * 24).decode()
    return f"-----BEGIN {kind}PRIVATE " + f"KEY-----\n{body}\n-----END {kind}PRIVATE " + "KEY-----\n", body


_IN_LANGUAGES = {
    "connect.go": 'package conf\n\nfunc Connect() string {\n\tapiKey := "@@"\n\treturn apiKey\n}\n',
    "connect.rs": 'pub const API_KEY: &str = "@@";\n\npub fn connect() -> &\'static str {\n    API_KEY\n}\n',
    "Connect.java": 'class Connect {\n    private static final String API_KEY = "@@";\n\n    String open() { return API_KEY; }\n}\n',
    "connect.c": 'static const char *api_key = "@@";\n\nconst char *connect_key(void) { return api_key; }\n',
    "connect.cc": 'namespace conf {\nconst char *api_key = "@@";\nconst char *open() { return api_key; }\n}\n',
    "Connect.cs": 'class Connect {\n    const string ApiKey = "@@";\n    string Open() { return ApiKey; }\n}\n',
    "connect.rb": 'class Connect\n  API_KEY = "@@"\n\n  def open\n    API_KEY\n  end\nend\n',
    "connect.php": '<?php\nclass Connect {\n    const API_KEY = "@@";\n    function open() { return self::API_KEY; }\n}\n',
    "connect.sh": 'export API_TOKEN="@@"\n\nconnect() {\n  echo "$API_TOKEN"\n}\n',
    "connect.sql": "CREATE FUNCTION connect() RETURNS text AS $$ SELECT 1 $$; -- api_key = '@@'\n",
    "Dockerfile": 'FROM debian\nENV API_TOKEN="@@"\n',
    "connect.yml": 'service:\n  api_key: "@@"\n',
    "connect.toml": '[service]\napi_key = "@@"\n',
    "connect.json": '{"service": {"api_key": "@@"}}\n',
    "Connect.vue": '<script>\nconst apiKey = "@@"\nexport default { methods: { open() { return apiKey } } }\n</script>\n',
    "Connect.svelte": '<script>\n  const apiKey = "@@"\n  function open() { return apiKey }\n</script>\n<p>{open()}</p>\n',
    "connect.ipynb": '{"cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "source": ["api_key = \\"@@\\"\\n"]}],'
    ' "metadata": {}, "nbformat": 4, "nbformat_minor": 5}\n',
}


def planted() -> list[Planted]:
    """Every planted kind, one file each."""
    tokens = {
        "aws": "AKIA" + "FAKE" * 4,
        "github": "ghp_" + "FAKE" * 9,
        "github_fine": "github_pat_" + ("11FAKE" * 4)[:22] + "_" + ("FAKEfake0" * 7)[:59],
        "gitlab": "glpat-" + "FAKE" * 5,
        "stripe": "sk_live_" + "FAKE" * 6,
        "npm": "npm_" + "FAKE" * 9,
        "slack": "https://hooks.slack" + ".com/services/T" + "FAKE0" * 2 + "/B" + "FAKE0" * 2 + "/" + "FAKE" * 6,
        "postgres": "postgres://admin:" + "Tr0ub4dor-fake" + "@db.example.invalid:5432/app",
        "jwt": _jwt(),
    }
    found = [Planted(kind, f"conf/{kind}_settings.py", f'VALUE = "{value}"\n', value) for kind, value in tokens.items()]
    for kind, name in (("RSA ", "rsa"), ("", "pkcs8"), ("OPENSSH ", "openssh")):
        text, body = _pem(kind)
        found.append(Planted(f"pem_{name}", f"conf/{name}.py", f'KEY = """{text}"""\n', body))
    short, dull, keyed = "hunter2" + "!x", "letmein" * 2 + "12", "fake" + "Zx9k" * 4
    found += [
        Planted("short_password", "conf/short.py", f'DB_PASSWORD = "{short}"\n', short),
        Planted("low_entropy", "conf/low.py", f'api_token = "{dull}"\n', dull),
        Planted("keyword_ts", "conf/keyword.ts", f'export const apiKey = "{keyed}";\n', keyed),
    ]
    found += [
        Planted(f"in {path}", f"conf/languages/{path}", text.replace("@@", value), value)
        for number, (path, text) in enumerate(sorted(_IN_LANGUAGES.items()))
        for value in [f"fakeZx9k{number:02d}" + "Zx9k" * 3]
    ]
    by_path = (".env", "conf/Secrets.toml", "conf/prod.env.txt", "conf/id_rsa", "conf/.npmrc", "conf/server.key")
    for number, path in enumerate(by_path):
        value = f"by-path-fake-{number}-value"
        found.append(Planted(f"path {path}", path, f'thing = "{value}"\n', value))
    return found


def needles(value: str) -> list[bytes]:
    """The value plain, in UTF-16, in hex, and in base64 at each of its three alignments without the edges that vary."""
    plain = value.encode()
    found = [plain, value.encode("utf-16-le"), plain.hex().encode(), plain.hex().upper().encode()]
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + plain)
        whole = (len(plain) + shift) // 3 * 4
        found.append(encoded[4 if shift else 0 : whole])
    return [needle for needle in found if len(needle) >= 8]
