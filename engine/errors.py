"""Every error mog raises on purpose, in one tree. Called from all rooms; raises nothing itself.

What may not come in: messages without a way out, and errors of libraries (they are mapped where the library is called).

    MogError
    ├── UsageError             a value that cannot be meant                            exit 2
    │   └── AmbiguousTarget    several nodes answer to that name
    ├── NotFound               nothing answers to that name                            exit 1
    ├── ConfigError            mog.yaml, .mogignore                                    exit 3
    │   └── OntologyError      GRAPH.md, or a write that GRAPH.md forbids
    ├── IndexMissing           no index yet                                            exit 4
    ├── SnapshotMoved          a question about a snapshot that is no longer this one   exit 4
    ├── WorkspaceError         the folder itself                                       exit 2
    │   ├── NoWorkspace        no repository or .mog above the starting point
    │   └── GitRefused         git is there and says no (dubious ownership, broken)
    ├── ProviderError          a grammar or model could not be had                     exit 5
    ├── PolicyDenied           gated content, untrusted command                        exit 6
    ├── HeldByOther            another process writes                                  exit 8
    ├── StoreDamaged           a database or array that cannot be believed             exit 9
    └── Cancelled              the person or the caller stopped it                     exit 130
"""

from __future__ import annotations


class MogError(Exception):
    """Base of all errors raised on purpose.

    Attributes:
        what: one sentence, what is wrong.
        where: file, field or node it is wrong in ("" when there is none).
        way_out: one sentence, what to do next.
        exit_code: process exit code the command line answers with.
    """

    exit_code = 2

    def __init__(self, what: str, *, where: str = "", way_out: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.way_out = way_out

    def __str__(self) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        return f"{head} ({self.way_out})" if self.way_out else head


class UsageError(MogError):
    """A value that cannot be meant."""


class AmbiguousTarget(UsageError):
    """Several nodes answer to one name; ``candidates`` lists their locators."""

    def __init__(self, what: str, candidates: list[str], *, where: str = "", way_out: str = "") -> None:
        super().__init__(what, where=where, way_out=way_out)
        self.candidates = candidates


class NotFound(MogError):
    """Nothing answers to that name."""

    exit_code = 1


class ConfigError(MogError):
    """A configuration file that cannot be used."""

    exit_code = 3


class OntologyError(ConfigError):
    """GRAPH.md cannot be read, or a write breaks a rule it states."""


class IndexMissing(MogError):
    """A question that needs an index was asked before there was one."""

    exit_code = 4


class SnapshotMoved(MogError):
    """A question was made for another snapshot of the graph than the one there is."""

    exit_code = 4


class WorkspaceError(MogError):
    """The folder cannot serve as a workspace."""


class NoWorkspace(WorkspaceError):
    """Neither a repository nor a ``.mog`` folder at or above the starting point."""


class GitRefused(WorkspaceError):
    """git is present and refuses or fails; mog never falls back to a silent walk."""


class ProviderError(MogError):
    """A grammar or model could not be had."""

    exit_code = 5


class PolicyDenied(MogError):
    """The content is gated or the command is not trusted."""

    exit_code = 6


class HeldByOther(MogError):
    """Another process holds the writer's lock."""

    exit_code = 8


class StoreDamaged(MogError):
    """A database or array file that cannot be believed."""

    exit_code = 9


class Cancelled(MogError):
    """The person or the caller stopped the work."""

    exit_code = 130
