"""From a path (and, without an extension, the first line) to the name of a language; data and one lookup.

Who calls: ``scan.py`` while listing, the extraction workers for shebangs. What may not come in: grammars, reading of
files, content. A name here promises nothing: whether symbols come out depends on the grammar that ``grammars.py``
finds for it.
"""

from __future__ import annotations


def words(*lines: str) -> frozenset[str]:
    """Set of the words in some lines: how long lists of names are written here."""
    return frozenset(" ".join(lines).split())


TEXT = "text"
"""Name for text in no language of its own."""

_EXTENSIONS: dict[str, str] = {
    extension: language
    for language, extensions in {
        "python": "py pyi pyw pyx pxd",
        "javascript": "js jsx mjs cjs es6",
        "typescript": "ts mts cts",
        "tsx": "tsx",
        "go": "go",
        "rust": "rs",
        "java": "java",
        "c": "c h",
        "cpp": "cc cpp cxx c++ hh hpp hxx h++ ipp tpp inl cu cuh",
        "csharp": "cs csx",
        "ruby": "rb rake gemspec ru",
        "php": "php php3 php4 php5 phtml",
        "vue": "vue",
        "svelte": "svelte",
        "astro": "astro",
        "kotlin": "kt kts",
        "swift": "swift",
        "scala": "scala sc",
        "lua": "lua",
        "perl": "pl pm t",
        "r": "r",
        "julia": "jl",
        "haskell": "hs",
        "ocaml": "ml mli",
        "elixir": "ex exs",
        "erlang": "erl hrl",
        "clojure": "clj cljs cljc edn",
        "dart": "dart",
        "zig": "zig",
        "objc": "m mm",
        "groovy": "groovy gradle",
        "solidity": "sol",
        "proto": "proto",
        "graphql": "graphql gql",
        "hcl": "tf tfvars hcl",
        "nix": "nix",
        "fortran": "f f90 f95 f03 f08",
        "bash": "sh bash zsh ksh",
        "fish": "fish",
        "powershell": "ps1 psm1 psd1",
        "sql": "sql",
        "yaml": "yaml yml",
        "toml": "toml",
        "json": "json jsonc json5 webmanifest geojson",
        "notebook": "ipynb",
        "xml": "xml xsd xsl xslt svg plist csproj vbproj props targets",
        "html": "html htm xhtml",
        "css": "css",
        "scss": "scss sass",
        "less": "less",
        "markdown": "md markdown mdx",
        "rst": "rst rest",
        "latex": "tex sty cls",
        "ini": "ini cfg conf properties editorconfig desktop",
        "dotenv": "env",
        "gettext": "po pot",
        "make": "mk mak",
        "cmake": "cmake",
        "dockerfile": "dockerfile containerfile",
        "diff": "diff patch",
        "csv": "csv tsv",
        "vim": "vim",
    }.items()
    for extension in extensions.split()
}

_NAMES: dict[str, str] = {
    name: language
    for language, names in {
        "dockerfile": "dockerfile containerfile",
        "make": "makefile gnumakefile",
        "cmake": "cmakelists.txt",
        "ruby": "gemfile rakefile vagrantfile podfile brewfile fastfile guardfile",
        "python": "sconstruct sconscript wscript",
        "groovy": "jenkinsfile",
        "bash": ".bashrc .bash_profile .profile .zshrc .envrc pkgbuild",
        "toml": "pipfile cargo.lock poetry.lock uv.lock pdm.lock",
        "jsconfig": "package.json",
        "gomod": "go.mod",
        "composer": "composer.json",
        "cargo": "cargo.toml",
        "json": "composer.lock pipfile.lock .babelrc .eslintrc .prettierrc .swcrc .jshintrc",
        "yaml": ".clang-format .clang-tidy pnpm-lock.yaml",
        "ini": ".gitconfig .gitmodules .npmrc .pylintrc .flake8 .coveragerc .editorconfig",
        "gitignore": ".gitignore .mogignore .dockerignore .npmignore .gitattributes",
    }.items()
    for name in names.split()
}

_INTERPRETERS: dict[str, str] = {
    program: language
    for language, programs in {
        "bash": "sh bash dash zsh ksh",
        "python": "python pypy",
        "javascript": "node nodejs",
        "typescript": "deno bun ts-node",
        "ruby": "ruby",
        "php": "php",
        "perl": "perl",
        "lua": "lua",
        "r": "rscript",
        "julia": "julia",
        "fish": "fish",
        "powershell": "pwsh",
        "make": "make",
    }.items()
    for program in programs.split()
}

CODE = words(
    "python javascript typescript tsx go rust java c cpp csharp ruby php vue svelte astro kotlin swift scala lua"
    " perl r julia haskell ocaml elixir erlang clojure dart zig objc groovy solidity fortran bash fish powershell"
    " sql proto graphql nix vim"
)
"""Languages whose files are programs: a secret in them is looked for in string literals, and their names alone never
gate them.
"""

PROSE = frozenset(("markdown", "rst", "latex", "html", "gettext", "diff"))
"""Languages written for people: there a bare ``password: word`` is a sentence, not a setting."""

_BINARY = words(
    "png jpg jpeg gif webp bmp ico icns tif tiff psd avif heic mp3 mp4 m4a ogg flac wav avi mov mkv webm pdf zip gz"
    " tgz bz2 xz lzma zst br 7z rar jar war ear class pyc pyo pyd so dylib dll exe a o lib wasm egg whl deb rpm"
    " dmg iso woff woff2 ttf otf eot mmdb sqlite sqlite3 npy npz parquet pickle onnx pt"
)

_LOCKS = words(
    "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lockb bun.lock poetry.lock uv.lock pdm.lock"
    " pipfile.lock cargo.lock composer.lock gemfile.lock go.sum flake.lock packages.lock.json"
)


def language_of(path: str, head: bytes = b"") -> str:
    """Language of a file by its name, else by its extension, else by the shebang in ``head`` (its first bytes), else
    ``text``.
    """
    name = path.rpartition("/")[2].lower()
    _, dot, extension = name.rpartition(".")
    if known := _NAMES.get(name):
        return known
    if extension == "json" and name.startswith(("tsconfig", "jsconfig")):
        return "jsconfig"
    if dot and (known := _EXTENSIONS.get(extension)):
        return known
    if name.startswith((".env", "dockerfile.", "containerfile.", "makefile.")):
        return {".": "dotenv", "m": "make"}.get(name[0], "dockerfile")
    return (_by_shebang(head) if head.startswith(b"#!") else "") or TEXT


def _by_shebang(head: bytes) -> str:
    words = head[2:200].split(b"\n", 1)[0].decode("latin-1").split()
    if words and words[0].endswith("/env"):
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    program = words[0].rpartition("/")[2].lower() if words else ""
    return _INTERPRETERS.get(program.rstrip("0123456789."), _INTERPRETERS.get(program, ""))


def binary_by_name(path: str) -> bool:
    """Is this file binary by its extension alone (images, archives, objects, compiled translations)? It is then never
    read.
    """
    stem, dot, extension = path.rpartition(".")
    if not dot or not stem or stem.endswith("/"):
        return False
    return extension in _BINARY or extension.lower() in _BINARY or (extension == "mo" and "LC_MESSAGES/" in path)


def text_only_by_name(path: str) -> bool:
    """Is this lock file or minified asset worth its words and not its symbols?"""
    name = path.rpartition("/")[2].lower()
    return name in _LOCKS or ".min." in name or name.endswith((".bundle.js", ".js.map", ".css.map", ".lock"))
