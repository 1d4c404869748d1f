"""A wheel and an sdist hold what they must and nothing beside it. Usage: python .ci/archives.py FILES…"""

from __future__ import annotations

import sys
import tarfile
import zipfile
from pathlib import Path

MUST = {"mog/GRAPH.md", "mog/py.typed", "mog/engine/workspace.py", "mog/app/cli/main.py", "mog/widgets/__init__.py"}


def wheel(path: Path) -> list[str]:
    """What is wrong with a wheel."""
    names = set(zipfile.ZipFile(path).namelist())
    wrong = [f"{path.name} lacks {name}" for name in sorted(MUST - names)]
    wrong += [
        f"{path.name} has no {suffix} file"
        for suffix in (".scm", ".tcss", ".html", ".css", ".js")
        if not any(n.endswith(suffix) for n in names)
    ]
    tops = {name.split("/")[0] for name in names}
    wrong += [f"{path.name} installs {top}" for top in sorted(tops) if top != "mog" and not top.endswith(".dist-info")]
    return wrong


def sdist(path: Path) -> list[str]:
    """What is wrong with a source archive: a wheel must be buildable from it alone."""
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    return [
        f"{path.name} lacks {name}"
        for name in ("GRAPH.md", "setup.py", "LICENSE", "engine/workspace.py")
        if name not in names
    ]


def main() -> int:
    """Print what is wrong; 1 when anything is."""
    paths = [Path(name) for name in sys.argv[1:]]
    wheels, sdists = [p for p in paths if p.suffix == ".whl"], [p for p in paths if p.name.endswith(".tar.gz")]
    wrong = [line for path in wheels for line in wheel(path)] + [line for path in sdists for line in sdist(path)]
    if not wheels or not sdists:
        wrong.append("a wheel and an sdist were expected")
    sys.stdout.write("".join(line + "\n" for line in wrong) or f"{len(paths)} archives are whole\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
