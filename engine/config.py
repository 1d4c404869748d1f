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
        workers: extraction processes; 0 chooses by the number of cores.
        watch: ``auto`` (system events, polling where they fail), ``poll`` or ``off``.
        poll_seconds: pause between two looks when polling.
        registries: names of ``mog.registries`` entry points of installed packages whose workers and auditors may be used.
        recheck: ``manual`` (auditors judge drift at ``mog recheck``) or ``at_once`` (also as soon as it is seen).
    """

    project: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_file_bytes: int = DEFAULT_MAX_FILE_BYTES
    allow_secret_content: tuple[str, ...] = ()
    workers: int = 0
    watch: str = "auto"
    poll_seconds: float = 2.0
    recheck: str = "manual"
    registries: tuple[str, ...] = ()
