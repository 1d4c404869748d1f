"""The workbench on the made-up repository, as a program for the terminals of these tests.

Arguments: ``--index`` starts without an index and builds it in a process of its own, ``--slow SECONDS`` makes every
answer late, ``--theme NAME``, ``--dense N`` gives the symbol in focus N nodes around it, ``--hostile`` poisons every text,
``--kept FILE`` remembers where one was, ``--rows N`` opens a bare pane of N rows instead, ``--empty`` an empty app of the toolkit.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def main() -> int:
    sys.path.insert(0, str(Path(__file__).parent.parent / "app"))
    parser = argparse.ArgumentParser()
    parser.add_argument("--index", action="store_true")
    parser.add_argument("--slow", type=float, default=0.0)
    parser.add_argument("--theme", default="")
    parser.add_argument("--dense", type=int, default=0)
    parser.add_argument("--rows", type=int, default=0)
    parser.add_argument("--empty", action="store_true")
    parser.add_argument("--hostile", action="store_true")
    parser.add_argument("--kept", type=Path)
    args = parser.parse_args()
    if args.empty:
        return empty()
    if args.rows:
        return rows(args.rows)
    from fake_hostile import HostileWorkspace
    from fake_workspace import FakeWorkspace

    from mog.app.tui.app import run
    from mog.app.tui.options import Options

    workspace = (HostileWorkspace if args.hostile else FakeWorkspace)(indexed=not args.index, slow=args.slow)
    workspace.spawns = args.index
    if args.dense:
        from fake_around import dense

        workspace.edges = dense(args.dense)
        workspace.nodes |= {node.id: node for edge in workspace.edges for node in edge[:2]}
    return run(workspace, index_first=args.index, theme=args.theme, options=Options(kept=args.kept, tour=False))


def empty() -> int:
    """The smallest app of the toolkit that says it is there."""
    from textual.app import App, ComposeResult
    from textual.widgets import Static

    class Empty(App[None]):
        def compose(self) -> ComposeResult:
            yield Static("Cart.total")

    Empty().run()
    return 0


def rows(count: int) -> int:
    """One pane over a source that makes its rows when they are drawn."""
    from fake_rows import LazyRows, RowsApp

    RowsApp(LazyRows(count)).run()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
