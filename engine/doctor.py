"""``mog doctor``: one line per thing that can be wrong, with its way out. Called by ``workspace``.

What may not come in: repairs of what cannot be rebuilt. Only ``index.db``, the arrays and the derived half of ``ledger.db``
are ever rebuilt here; an event is never touched.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from mog.engine.code import git
from mog.engine.code.languages_map import CODE
from mog.engine.errors import IndexMissing, MogError, StoreDamaged
from mog.engine.model import Check
from mog.engine.store.index_db import IndexDB, discard
from mog.engine.store.integrity import integrity

if TYPE_CHECKING:
    from mog.engine.attest import LedgerReport
    from mog.engine.workspace import Workspace


def examine(workspace: Workspace, *, repair: bool) -> tuple[Check, ...]:
    """All checks, in order; with ``repair`` a damaged index is made anew and a rebuildable head of the ledger is set right."""
    checks: list[Check] = []
    for look in (_repository, _folder, _ontology):
        checks += _guarded(look.__name__.strip("_"), lambda look=look: look(workspace))  # type: ignore[misc]
    checks += _guarded("index", lambda: _index(workspace, repair))
    checks += _guarded("ledger", lambda: _ledger(workspace, repair))
    checks += _guarded("grammars", lambda: _grammars(workspace))
    return tuple(checks)


def stores(workspace: Workspace) -> tuple[Check, ...]:
    """The index and the ledger alone, as they are: whether what they say can be believed."""
    looked = (("index", lambda: _index(workspace, False)), ("ledger", lambda: _ledger(workspace, False)))
    return tuple(check for name, look in looked for check in _guarded(name, look))


def _guarded(name: str, look: Callable[[], Iterator[Check]]) -> list[Check]:
    try:
        return list(look())
    except MogError as error:
        return [Check(name, "damaged", str(error.what), error.way_out)]


def _repository(workspace: Workspace) -> Iterator[Check]:
    repo = git.open_repo(workspace.root)
    if repo is None:
        yield Check("repository", "warning", "no git here: the folder is walked", "`git init` gives ignore rules and faster runs")
    else:
        yield Check("repository", "ok", f"git lists the files ({git.head_ref(workspace.root)})")


def _folder(workspace: Workspace) -> Iterator[Check]:
    mode = stat.S_IMODE(workspace.mog_dir.stat().st_mode) if workspace.mog_dir.exists() else 0o700
    if mode & 0o077:
        yield Check("folder", "warning", f".mog can be read by others (mode {mode:o})", "chmod 700 .mog")
    else:
        yield Check("folder", "ok", ".mog is yours alone")


def _ontology(workspace: Workspace) -> Iterator[Check]:
    ontology = workspace.ontology
    yield Check("ontology", "ok", f"{len(ontology.node_types)} node types, {len(ontology.edge_types)} edge types")


def _index(workspace: Workspace, repair: bool) -> Iterator[Check]:
    path = workspace.mog_dir / "index.db"
    try:
        with IndexDB.open(path, write=False) as db:
            yield from integrity(db)
    except IndexMissing:
        yield Check("index", "warning", "there is no index yet", "mog index")
    except StoreDamaged as error:
        if not repair:
            yield Check("index", "damaged", error.what, "mog doctor --repair")
            return
        discard(path)
        workspace.index(full=True)
        yield Check("index", "repaired", f"{error.what}; it was made anew")


def _ledger(workspace: Workspace, repair: bool) -> Iterator[Check]:
    """Events against themselves, and what was made from them against a replay."""
    from mog.engine import attest
    from mog.engine.reason.mesh import folder

    if not workspace.ledger_path.exists():
        yield Check("ledger", "ok", "no ledger yet: nothing was recorded")
        return
    log, fold = workspace.beliefs.log, partial(folder, workspace.ontology)
    found = attest.report(log, fold)
    if found.check.ok:
        yield from _sound(found)
    elif not found.check.repairable:
        way_out = "restore ledger.db from a copy, or keep what is sound: `mog ledger salvage FILE`"
        yield Check("ledger", "damaged", found.check.reason, way_out)
    elif not repair:
        yield Check("ledger", "damaged", found.check.reason, "keep a copy of ledger.db, then `mog doctor --repair`")
    else:
        log.rebuild(fold())
        after = attest.report(log, fold)
        what = f"{found.check.reason}; {after.check.events} events hold, the rest was made anew"
        yield Check("ledger", "repaired" if after.check.ok else "damaged", what if after.check.ok else after.check.reason)


def _sound(found: LedgerReport) -> Iterator[Check]:
    what = f"{found.check.events} events, chain whole; {found.check.records} records are what they give"
    yield Check("ledger", "ok", what)
    for problem in found.problems:
        yield Check("ledger", "damaged", problem, "`mog ledger verify` says more")
    if found.signature is not None and not found.signature.known:
        yield Check("ledger", "warning", "it is signed with a key that nobody here knows", "make sure whose ledger this is")


def _grammars(workspace: Workspace) -> Iterator[Check]:
    for info in workspace.grammars():
        if not info.loads and info.files and info.language in CODE:
            what = f"{info.files} files are text only: no grammar"
            yield Check(f"grammar {info.language}", "warning", what, f"mog grammars add {info.language}")
    loading = sum(info.loads for info in workspace.grammars())
    yield Check("grammars", "ok" if loading else "damaged", f"{loading} grammars load", "" if loading else "reinstall mog")
