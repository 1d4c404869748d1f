"""``python benchmarks/truth/ts_truth.py LINES OUT CORPUS HOW``: what ``ts_calls.mjs`` noted, in the format of the truth of django.

A name written at a call may have entered several functions. A site is external when none of the project was ever entered from it;
one that entered functions of other names only (a callback handed on, an alias) is not judged. What may not come in: a judgement.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import defaultdict
from pathlib import Path

ASKED = 30


def truth(lines: list[str], corpus: str, how: str) -> dict[str, object]:
    """Sites, external sites, names and the definitions that most call."""
    kinds: dict[tuple[str, str], str] = {}
    entered: set[tuple[str, str]] = set()
    callees: dict[tuple[str, str], set[str]] = defaultdict(set)
    generators: set[str] = set()
    for line in lines:
        what, *fields = line.split("\t")
        if what == "S":
            kinds.setdefault((fields[0], fields[1]), fields[2])
        elif what == "E":
            entered.add((fields[0], fields[1]))
        elif what == "C":
            callees[fields[0], fields[1]].add(fields[2])
        elif what == "G":
            generators.add(fields[0])
    names = {callee: name for (_, name), found in sorted(callees.items()) for callee in sorted(found)}
    callers: dict[str, set[str]] = defaultdict(set)
    for (caller, _), found in callees.items():
        for callee in found:
            callers[callee].add(caller)
    return {
        "corpus": corpus,
        "how": how,
        "sites": [
            {"caller": caller, "callee_name": name, "callees": sorted(found), "kind": kinds[caller, name]}
            for (caller, name), found in sorted(callees.items())
        ],
        "external_sites": [
            {"caller": caller, "callee_name": name}
            for caller, name in sorted(kinds.keys() - entered)
            if name not in generators
        ],
        "names": names,
        "callers_of_30": sorted(callers, key=lambda callee: (-len(callers[callee]), callee))[:ASKED],
    }


if __name__ == "__main__":
    source, out, corpus, how = sys.argv[1:]
    made = truth(Path(source).read_text(encoding="utf-8").splitlines(), corpus, how)
    with open(out, "wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
        packed.write(json.dumps(made, separators=(",", ":")).encode())
