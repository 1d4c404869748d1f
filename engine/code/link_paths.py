"""Paths of a repository as text: what import rules of every language do with them. What may not come in: files, a language."""

from __future__ import annotations


def folder_of(path: str) -> str:
    """Folder of a path, "" for the root."""
    return path.rpartition("/")[0]


def joined(folder: str, name: str) -> str | None:
    """``name`` below ``folder`` with its dots resolved; None when it leaves the repository."""
    parts = [part for part in folder.split("/") if part]
    for part in name.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)
