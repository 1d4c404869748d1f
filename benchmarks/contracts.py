# ruff: noqa: E501
"""Rule packs against real projects: what each framework says of itself when it is asked, and what the index found.

    python -m benchmarks.contracts [--only NAME] [--given NAME=FOLDER]

Who calls: people, for docs/results/contracts.md. Projects that are packages are fetched by name; the others are taken from a folder that
was cloned before (``--given``). The truth is made by the framework's own introspection in an environment of its own, except where the
table says ``read``: there it is a list that a person made from the sources. What may not come in: sources of others in this repository.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from mog.engine.workspace import Workspace

CACHE = Path(os.environ.get("MOG_BENCH_CACHE") or platformdirs.user_cache_dir("mog-bench")) / "contracts"


@dataclass(frozen=True, slots=True)
class Project:
    """One project: where it is had, what its introspection needs, the code that prints ``{role: [names]}`` as JSON.

    Attributes:
        package: name of a wheel, "" for one that is given as a folder. clone: owner/name of that folder's repository.
        needs: packages of its environment. truth: Python (or Node) that runs in the project's folder. env: variables for it.
        node: the truth is Node. how: words for the table. skip: paths that count neither way.
    """

    name: str
    framework: str
    truth: str
    how: str
    package: str = ""
    clone: str = ""
    needs: tuple[str, ...] = ()
    env: Mapping[str, str] = None  # type: ignore[assignment]
    node: bool = False
    skip: tuple[str, ...] = ("tests/", "test/", "docs/", "examples/")


DJANGO = """
import json, django
from django.conf import settings
settings.configure(SECRET_KEY="x", ROOT_URLCONF="allauth.urls", USE_TZ=True, DATABASES={}, MIDDLEWARE=["allauth.account.middleware.AccountMiddleware"],
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "django.contrib.sites",
                    "django.contrib.messages", "allauth", "allauth.account", "allauth.socialaccount", "allauth.mfa", "allauth.usersessions",
                    "allauth.socialaccount.providers.openid"])
django.setup()
from django.apps import apps
from django.urls import get_resolver
from django.core.management import get_commands
def walk(patterns, before):
    for one in patterns:
        text = before + str(one.pattern)
        if hasattr(one, "url_patterns"):
            yield from walk(one.url_patterns, text)
        else:
            yield text
routes = {"/" + text for text in walk(get_resolver().url_patterns, "")}
models = {m.__module__.split(".models")[0].rsplit(".", 1)[-1] + "." + m.__name__ for m in apps.get_models() if m.__module__.startswith("allauth")}
commands = {"manage.py " + name for name, app in get_commands().items() if app.startswith("allauth")}
print(json.dumps({"route": sorted(routes), "model": sorted(models), "command": sorted(commands)}))
"""
FLASK = """
import json
from httpbin import app
routes = {f"{m} {r.rule}" for r in app.url_map.iter_rules() for m in r.methods - {"HEAD", "OPTIONS"} if r.endpoint in app.view_functions
          and app.view_functions[r.endpoint].__module__.startswith("httpbin")}
print(json.dumps({"route": sorted(routes)}))
"""
FASTAPI = """
import json, pathlib, re, shutil, sys, tempfile
folder = pathlib.Path(tempfile.mkdtemp())
shutil.copytree("backend", folder / "backend")
for path in (folder / "backend").rglob("*.py"):  # written for a newer Python than this one may be
    path.write_text(re.sub(r"except (\\w+), (\\w+):", r"except (\\1, \\2):", path.read_text()).replace("list[Item]", 'list["Item"]'))
(folder / "backend/app/frontend").mkdir(exist_ok=True)
(folder / "backend/app/frontend/index.html").touch()
sys.path.insert(0, str(folder / "backend"))
from app.main import app
from app.models import SQLModel
import sqlmodel
routes = {f"{m.upper()} {path}" for path, held in app.openapi()["paths"].items() for m in held}
def below(cls):
    for one in cls.__subclasses__():
        yield one
        yield from below(one)
models = {cls.__name__ for cls in below(sqlmodel.SQLModel) if cls.__module__.startswith("app")}
print(json.dumps({"route": sorted(routes), "model": sorted(models)}))
"""
CLICK = """
import json
from sqlite_utils import cli
names = {cli.cli.name, *cli.cli.commands}
print(json.dumps({"command": sorted(names)}))
"""
CELERY = """
import ast, json, pathlib
names = set()
for path in pathlib.Path("weblate").rglob("*.py"):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        for mark in getattr(node, "decorator_list", ()):
            call = mark.func if isinstance(mark, ast.Call) else mark
            if isinstance(call, ast.Attribute) and call.attr == "task" or isinstance(call, ast.Name) and call.id == "shared_task":
                given = [k.value.value for k in getattr(mark, "keywords", ()) if k.arg == "name" and isinstance(k.value, ast.Constant)]
                names.add(given[0] if given else node.name)
print(json.dumps({"job": sorted(names)}))
"""
PYTEST = """
import json, re, subprocess, sys
out = subprocess.run([sys.executable, "-m", "pytest", "--fixtures", "-q", "tests", "-p", "no:cacheprovider"], capture_output=True, text=True).stdout
names = set(re.findall(r"^(\\w+) .*-- tests/", out, re.M)) | set(re.findall(r"^(\\w+) -- tests/", out, re.M))
print(json.dumps({"fixture": sorted(names)}))
"""
EXPRESS = """
const Module = require('module'), path = require('path'), real = Module._load;
const stub = () => new Proxy(function () {}, { get: (t, k) => (k === Symbol.toPrimitive ? () => '' : stub()), apply: () => stub(), construct: () => stub() });
const handler = new Proxy(function () {}, { get: () => handler, apply: () => (a, b, c) => c() });
const own = file => /src.routes/.test(file);
Module._load = function (name, parent, main) {
  if (name === 'express') return real.call(this, process.env.EXPRESS, parent, main);
  if (path.isAbsolute(name) || (parent && /node_modules/.test(parent.filename))) return real.call(this, name, parent, main);
  if (name.startsWith('.')) {
    const file = Module._resolveFilename(name, parent);
    return own(file) ? real.call(this, name, parent, main) : name.includes('config') ? { env: 'development' } : handler;
  }
  return stub();
};
const app = require(path.resolve('src/routes/v1/index.js')), routes = new Set();
const walk = (stack, before) => stack.forEach(layer => {
  if (layer.route) Object.keys(layer.route.methods).forEach(m => routes.add(`${m.toUpperCase()} ${before}${layer.route.path}`));
  else if (layer.handle && layer.handle.stack) walk(layer.handle.stack, before + layer.regexp.source.replace('^\\\\/', '/').replace('\\\\/?(?=\\\\/|$)', '').replace(/\\\\\\//g, '/'));
});
walk(app.stack, '/v1');
console.log(JSON.stringify({ route: [...routes].sort() }));
"""
SPRING = {"route": [
    "GET /", "GET /oups", "GET /vets", "GET /vets.html", "GET /owners", "GET /owners/new", "POST /owners/new", "GET /owners/find",
    "GET /owners/{ownerId}", "GET /owners/{ownerId}/edit", "POST /owners/{ownerId}/edit", "GET /owners/{ownerId}/pets/new",
    "POST /owners/{ownerId}/pets/new", "GET /owners/{ownerId}/pets/{petId}/edit", "POST /owners/{ownerId}/pets/{petId}/edit",
    "GET /owners/{ownerId}/pets/{petId}/visits/new", "POST /owners/{ownerId}/pets/{petId}/visits/new",
], "model": ["BaseEntity", "NamedEntity", "Person", "Owner", "Pet", "PetType", "Visit", "Specialty", "Vet"]}  # fmt: skip
NEXT = {"page": ["/", "/{page}", "/product/{handle}", "/search", "/search/{collection}"], "route": ["/api/revalidate"]}

SETTINGS = dict.fromkeys(
    ("PROJECT_NAME", "POSTGRES_SERVER", "POSTGRES_USER", "POSTGRES_PASSWORD", "FIRST_SUPERUSER_PASSWORD", "SECRET_KEY"),
    "x",
)
PROJECTS = (
    Project("django-allauth", "Django", DJANGO, "URL resolver, app registry, get_commands", "django-allauth",
            needs=("django-allauth[openid,mfa,socialaccount]",)),
    Project("httpbin", "Flask", FLASK, "url_map", "httpbin", needs=("httpbin",)),
    Project("full-stack-fastapi-template", "FastAPI, SQLModel", FASTAPI, "OpenAPI dump, subclasses", clone="fastapi/full-stack-fastapi-template",
            needs=("fastapi[standard]", "sqlmodel", "pydantic-settings", "emails", "pyjwt", "pwdlib[argon2,bcrypt]", "tenacity", "jinja2",
                   "sentry-sdk", "psycopg[binary]", "email-validator", "alembic"),
            env={**SETTINGS, "FIRST_SUPERUSER": "a@example.com", "DATABASE_URL": "postgresql+psycopg://x:x@localhost/x"}),
    Project("sqlite-utils", "Click", CLICK, "command tree", "sqlite-utils", needs=("sqlite-utils",)),
    Project("weblate", "Celery", CELERY, "ast of decorators (its registry needs a database)", "weblate"),
    Project("flask", "pytest", PYTEST, "pytest --fixtures", clone="pallets/flask", needs=("pytest", "flask"), skip=("examples/", "docs/")),
    Project("node-express-boilerplate", "Express", EXPRESS, "router stack", clone="hagopj13/node-express-boilerplate", node=True),
    Project("spring-petclinic", "Spring", json.dumps(SPRING), "read", clone="spring-projects/spring-petclinic", skip=("src/test/",)),
    Project("commerce", "Next.js", json.dumps(NEXT), "read", clone="vercel/commerce"),
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Print one row a role; 1 when a project could not be had."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--given", action="append", default=[], help="NAME=FOLDER of a clone")
    asked = parser.parse_args(arguments)
    given = dict(one.split("=", 1) for one in asked.given)
    print("| project | framework | role | truth | found of it | recall | by suffix | more than the truth | how |")
    print("|---|---|---|---:|---:|---:|---:|---:|---|")
    missed = 0
    for project in PROJECTS:
        if not asked.only or project.name in asked.only:
            missed += _measure(project, given.get(project.name, ""))
    return 1 if missed else 0


def _measure(project: Project, given: str) -> int:
    try:
        root = _folder(project, given)
        truth = json.loads(project.truth) if project.how == "read" else _truth(project, root)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        print(f"{project.name}: not measured: {_why(error)}", file=sys.stderr)
        return 1
    found = _found(root, project.skip)
    for role, names in truth.items():
        _row(project, role, set(names), found.get(role, set()))
    return 0


def _why(error: Exception) -> str:
    return str(getattr(error, "stderr", "") or error).strip()[-800:]


def _row(project: Project, role: str, truth: set[str], found: set[str]) -> None:
    exact = truth & found
    tails = {name for name in truth if any(_tail(name, one) for one in found)}
    share = f"{len(exact) / len(truth):.0%}" if truth else "-"
    ends = f"{len(tails) / len(truth):.0%}" if truth else "-"
    print(
        f"| {project.name} | {project.framework} | {role} | {len(truth)} | {len(exact)} | {share} | {ends} | {len(found - truth)} | {project.how} |"
    )
    for text, names in (("missed", truth - exact), ("more", found - truth)):
        for name in sorted(names)[:12]:
            print(f"    {text}: {name}", file=sys.stderr)


def _tail(name: str, found: str) -> bool:
    """Whether a route is found up to a prefix that is put together at run time: same method, one path ends in the other."""
    method, _, path = name.rpartition(" ")
    other, _, end = found.rpartition(" ")
    path, end = path.rstrip("/"), end.rstrip("/")
    return method == other and (path == end or (len(end) > 1 and path.endswith(end)) or name == found)


def _found(root: Path, skip: Iterable[str]) -> dict[str, set[str]]:
    """Role → names that a file outside of ``skip`` announces."""
    with Workspace.open(root) as workspace:
        workspace.index(full=True)
        answer = workspace.contracts(limit=100_000)
    found: dict[str, set[str]] = {}
    for row in answer.rows:
        if any(
            (not path.startswith(tuple(skip)) and "/tests/" not in path) or "tests/" not in "".join(skip)
            for path in row.files
        ):
            found.setdefault(row.node.signature, set()).add(row.node.name)
    return found


def _folder(project: Project, given: str) -> Path:
    """The project in a fresh git repository below the cache."""
    target = CACHE / project.name
    if given:
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(given, target, symlinks=True, ignore=shutil.ignore_patterns(".git", "node_modules", ".mog"))
    elif project.package and not target.exists():
        _wheel(project, target)
    if not target.exists():
        raise OSError(f"clone {project.clone} and pass --given {project.name}=FOLDER")
    for command in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *command], cwd=target, check=True, stdin=subprocess.DEVNULL, timeout=120)
    return target


def _wheel(project: Project, target: Path) -> None:
    box = CACHE / "wheels"
    box.mkdir(parents=True, exist_ok=True)
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "-q",
        "--no-deps",
        "--only-binary",
        ":all:",
        "-d",
        str(box),
        project.package,
    ]
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
    name = re.sub(r"[-_.]+", "_", project.package)
    with zipfile.ZipFile(sorted(box.glob(f"{name}-*.whl"))[-1]) as archive:
        archive.extractall(target)


def _truth(project: Project, root: Path) -> dict[str, list[str]]:
    """What the framework says when it is asked, in an environment of its own."""
    env = {**os.environ, **(project.env or {})}
    if project.node:
        box = CACHE / "node"
        if not (box / "node_modules" / "express").exists():
            box.mkdir(parents=True, exist_ok=True)
            subprocess.run(
                ["npm", "install", "--silent", "express@4"],
                cwd=box,
                check=True,
                capture_output=True,
                text=True,
                timeout=300,
            )
        env["EXPRESS"] = str(box / "node_modules" / "express")
        command = ["node", "-e", project.truth]
    else:
        command = [str(_python(project)), "-c", project.truth]
    done = subprocess.run(command, cwd=root, env=env, check=True, capture_output=True, text=True, timeout=300)
    loaded: dict[str, list[str]] = json.loads(done.stdout.strip().splitlines()[-1])
    return loaded


def _python(project: Project) -> Path:
    if not project.needs:
        return Path(sys.executable)
    box = CACHE / "venvs" / project.name
    python = box / "bin" / "python"
    if not python.exists():
        venv.create(box, with_pip=True)
        command = [str(python), "-m", "pip", "install", "-q", *project.needs]
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=900)
    return python


if __name__ == "__main__":
    sys.exit(main())
