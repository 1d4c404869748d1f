"""mog's own secret gate over mog's own tracked files: what it would withhold elsewhere may not be committed here.

A finding that a person judged harmless stands in accepted.txt as ``gate PATH RULE``.

Usage: python .ci/secret_gate.py [REPOSITORY], with mog importable. Exit 1 and a line a finding, without the value.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from mog.engine.code.secrets import classify

ACCEPTED = Path(__file__).with_name("accepted.txt")


def report(root: Path) -> list[str]:
    """One line for each file or value that the gate would withhold."""
    accepted = set(ACCEPTED.read_text(encoding="utf-8").splitlines())
    listing = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=300).stdout
    lines = []
    for name in names.decode("utf-8", "surrogateescape").split("\0"):
        path = root / name
        if not name or path.is_symlink() or not path.is_file():
            continue
        data = path.read_bytes()
        gate = classify(name, data)
        found = [(1, gate.rule)] if gate.file else []
        found += [(data.count(b"\n", 0, span.start) + 1, span.rule) for span in gate.spans]
        lines += [f"{name}:{number}: {rule}" for number, rule in found if f"gate {name} {rule}" not in accepted]
    return lines


def main() -> int:
    """Print the findings; 1 when there are any."""
    lines = report(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve())
    sys.stdout.write("".join(line + "\n" for line in lines) or "no credential in tracked files\n")
    return 1 if lines else 0


if __name__ == "__main__":
    raise SystemExit(main())
