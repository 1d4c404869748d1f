"""Nothing of the machine that made a commit may be in it: registry hosts, machine paths, addresses.

Looks at every file that is tracked or would be (names too), and the author, committer and message of every commit.
What is meant to be there stands in accepted.txt beside this file, one exact text a line.

Usage: python .ci/leaks.py [REPOSITORY]. Exit 1 with one line a finding.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ACCEPTED = Path(__file__).with_name("accepted.txt")
# Each host and path is written in two halves, so that this file does not find itself.
_HOSTS = [
    ("py" "pi", "org"), ("python" "hosted", "org"), ("npm" "js", "org"), ("npm" "js", "com"), ("yarn" "pkg", "com"),
    ("deb" "ian", "org"), ("ubu" "ntu", "com"), ("crates", "io"), ("golang", "org"), ("ruby" "gems", "org"),
]  # fmt: skip
_FOLDERS = ["work", "root", "tmp", "home/[a-z]", "Users/[A-Za-z]", "opt/[a-z]"]
PATTERNS = {
    "registry host": re.compile(r"\b(?:[\w-]+\.)*(?:" + "|".join(rf"{name}\.{top}" for name, top in _HOSTS) + r")\b"),
    "machine path": re.compile(r"(?<![\w.)\]}<>*~/-])/(?:" + "|".join(_FOLDERS) + r")[\w./-]*"),
    "drive path": re.compile(r"\b[A-Z]:\\\\?Users\\\\?\w+"),
    "e-mail address": re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\b"),
    "IP address": re.compile(r"(?<![\w.-])(?:\d{1,3}\.){3}\d{1,3}(?![\w.-])"),
}


# names that no machine can have (RFC 2606)
_RESERVED = re.compile(r"@(?:[\w-]+\.)*(?:example\.(?:com|org|net)|(?:\w+\.)?(?:invalid|example|test))$")


def accepted() -> frozenset[str]:
    """Texts that a person decided may stand in the repository."""
    lines = ACCEPTED.read_text(encoding="utf-8").splitlines()
    return frozenset(line.strip() for line in lines if line.strip() and not line.startswith("#"))


def findings(text: str, allowed: frozenset[str]) -> Iterator[tuple[int, str, str]]:
    """Yield (line, kind, text found) for everything that is not accepted."""
    for number, line in enumerate(text.splitlines(), start=1):
        for kind, pattern in PATTERNS.items():
            for match in pattern.finditer(line):
                found = match.group()
                if found not in allowed and found.rstrip("./") not in allowed and not _RESERVED.search(found):
                    yield number, kind, found


def git(root: Path, *arguments: str) -> bytes:
    """Output of a git command; "" where there is no commit yet."""
    done = subprocess.run(
        ["git", "-C", str(root), *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=300
    )
    return done.stdout


def report(root: Path) -> list[str]:
    """One line for each finding in files, their names and the commits of the repository at ``root``."""
    allowed = accepted()
    lines = []
    names = git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in names.decode("utf-8", "surrogateescape").split("\0"):
        path = root / name
        text = name + "\n"
        if name and path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            text += "" if b"\0" in data[:8192] else data.decode("utf-8", "replace")
        lines += [f"{name}:{number - 1}: {kind}: {found}" for number, kind, found in findings(text, allowed)]
    log = git(root, "log", "--all", "--format=%H%x1f%an <%ae>%n%cn <%ce>%n%B%x1e").decode("utf-8", "replace")
    for record in log.split("\x1e"):
        commit, _, text = record.strip().partition("\x1f")
        lines += [f"commit {commit[:12]}: {kind}: {found}" for _, kind, found in findings(text, allowed)]
    return lines


def main() -> int:
    """Print the findings; 1 when there are any."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    lines = report(root)
    sys.stdout.write("".join(line + "\n" for line in lines) or "no leaks in tracked files and commits\n")
    return 1 if lines else 0


if __name__ == "__main__":
    raise SystemExit(main())
