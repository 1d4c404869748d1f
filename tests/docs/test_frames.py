"""The frames of the README are what the commands print."""

from __future__ import annotations

import os
from pathlib import Path

import frames
import pytest


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="the README is written for a POSIX shell")
def test_the_frames_of_the_readme_are_real(tmp_path: Path) -> None:
    """When this fails and the new output is right: python tests/helpers/frames.py"""
    rendered = frames.render(tmp_path)
    assert rendered.count("```console") >= 4
    assert rendered == frames.README.read_text(encoding="utf-8")
