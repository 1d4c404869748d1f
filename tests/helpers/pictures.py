"""The pictures of the guide and the README: the screen after each task of a newcomer, drawn by the toolkit as SVG.

Who calls: a person who changed how the workbench looks: ``python tests/helpers/pictures.py``. Needs an installed mog, writes
``docs/pictures/*.svg``. What may not come in: pictures made by hand.
"""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "app"))

from five_tasks import TASKS, Task, played  # noqa: E402

OUTSIDE = re.compile(r"@font-face \{.*?\}\n?", re.S)


async def picture(task: Task) -> str:
    """The screen as SVG, without the fonts of another host."""
    with tempfile.TemporaryDirectory() as folder:
        async with played(task, Path(folder) / "harbour") as home:
            svg = home.app.export_screenshot(title=f"mog: {task.name}")
    return OUTSIDE.sub("", svg)


def main() -> None:
    """Draw every task."""
    folder = ROOT / "docs" / "pictures"
    folder.mkdir(exist_ok=True)
    for task in TASKS:
        (folder / f"{task.name}.svg").write_text(asyncio.run(picture(task)), encoding="utf-8")


if __name__ == "__main__":
    main()
