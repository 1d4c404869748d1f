"""What the engine may be told from outside: one plain frozen record, with defaults that need no file.

Who calls: ``app/config.py`` fills it from mog.yaml, the environment and flags; tests and embedders build it directly.
What may not come in: reading files, the environment or the current folder. The engine knows only this record.
"""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_MAX_FILE_BYTES = 2_000_000


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """Settings of one workspace.

    Attributes:
        project: name that goes into node ids; "" takes the name of the root folder.
        include: gitignore-style patterns; when not empty, only files matching one of them are listed.
        exclude: gitignore-style patterns added to ``.gitignore`` and ``.mogignore``.
        max_file_bytes: larger files get a row and a reason, no text and no symbols (bytes).
        allow_secret_content: gitignore-style patterns of files that a person declared free of secrets.
        scip: paths of SCIP indexes, relative to the root; empty: ``*.scip`` at the root and in ``.mog/scip``.
        workers: extraction processes; 0 chooses by the number of cores.
        watch: ``auto`` (system events, polling where they fail), ``poll`` or ``off``.
        poll_seconds: pause between two looks when polling.
        registries: names of ``mog.registries`` entry points of installed packages whose workers and auditors may be used.
        agent_memory: ``allow`` or ``refuse``: whether agents and tools may remember (as evidence and proposals).
        embeddings: ``off`` or ``on``: whether static embeddings break ties (needs the extra ``[embed]``).
        ws_window: context window, in tokens, of clients that do not say theirs. ws_budget_pct: share of it that what a session was
            served may take; above it things are evicted down to ws_evict_to_pct. ws_recency_halflife: turns.
        ws_never_evict: classes (``pinned``, ``active_task``) and kinds of notes that stay. ws_stub_tokens: most of a stub.
        co_change_window: commits looked at for what changes together (0: none). min_co_change: commits two files need to share.
        recheck: ``manual`` (auditors judge drift at ``mog recheck``) or ``at_once`` (also as soon as it is seen).
    """

    project: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_file_bytes: int = DEFAULT_MAX_FILE_BYTES
    allow_secret_content: tuple[str, ...] = ()
    scip: tuple[str, ...] = ()
    workers: int = 0
    watch: str = "auto"
    poll_seconds: float = 2.0
    recheck: str = "manual"
    co_change_window: int = 2_000
    min_co_change: int = 3
    agent_memory: str = "allow"
    embeddings: str = "off"
    registries: tuple[str, ...] = ()
    ws_window: int = 200_000
    ws_budget_pct: int = 60
    ws_evict_to_pct: int = 45
    ws_recency_halflife: int = 40
    ws_never_evict: tuple[str, ...] = ("pinned", "correction", "constraint", "active_task")
    ws_stub_tokens: int = 40
