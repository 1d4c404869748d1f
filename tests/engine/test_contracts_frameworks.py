# ruff: noqa: E501
"""What each shipped pack finds in a small project of its framework: names, and the code behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import surface_kit

MakeRepo = Callable[[Mapping[str, str | bytes]], Path]

DJANGO = {
    "shop/__init__.py": "",
    "shop/models.py": """from django.db import models

class Base(models.Model):
    class Meta:
        abstract = True

class Order(Base):
    pass
""",
    "shop/more/__init__.py": "",
    "shop/views.py": """from django.shortcuts import render
from django.views.generic import ListView
from shop.models import Order

def detail(request, pk):
    order = Order.objects.get(pk=pk)
    return render(request, "shop/detail.html", {"order": order})

class Orders(ListView):
    def get_queryset(self):
        return Order.objects.filter(open=True)

def close(request):
    Order.objects.create(open=False)
""",
    "shop/urls.py": """from django.urls import path
from . import views
from .views import Orders

urlpatterns = [
    path("", Orders.as_view(), name="orders"),
    path("<int:pk>/", views.detail),
    path("nested/", include([path("close/", views.close)])),
    # path("not/this/", views.detail)
]
""",
    "site/__init__.py": "",
    "site/urls.py": """from django.urls import include, path
urlpatterns = [path("orders/", include("shop.urls"))]
""",
    "shop/management/commands/tidy.py": """from django.core.management.base import BaseCommand

class Command(BaseCommand):
    def handle(self): ...
""",
    "shop/migrations/0001_initial.py": "class Migration:\n    operations = []\n",
    "shop/templates/shop/detail.html": "<p>{{ order }}</p>\n",
}

FLASK = {
    "app/__init__.py": """from flask import Flask
from app.moved import kept, moved
from app.users import bp

def create():
    app = Flask(__name__)
    app.register_blueprint(bp, url_prefix="/api")
    app.register_blueprint(moved, url_prefix="/new")
    app.register_blueprint(kept)
    return app
""",
    "app/moved.py": """from flask import Blueprint

moved = Blueprint("moved", __name__, url_prefix="/old")
kept = Blueprint("kept", __name__, url_prefix="/kept")

@moved.get("/one")
def one(): ...

@kept.get("/two")
def two(): ...
""",
    "app/users.py": """from flask import Blueprint, render_template

bp = Blueprint("users", __name__)
PLACE = "/place"

@bp.route("/users/<int:id>", methods=["GET", "PUT"])
def user(id):
    '''@bp.route("/never")'''
    return render_template("user.html")

@bp.route(PLACE + "/x")
def unread(): ...

@bp.route(PLACE)
def place(): ...

TWICE = "/one"
TWICE = "/two"

@bp.route(TWICE)
def neither(): ...

@bp.cli.command("seed")
def seed(): ...
""",
}

FASTAPI = {
    "app/__init__.py": "",
    "app/main.py": """from fastapi import FastAPI
from app import users
from app.items import router as items

app = FastAPI()
app.include_router(users.router, prefix="/v1")
app.include_router(items)

@app.get("/")
def root(): ...
""",
    "app/users.py": """from fastapi import APIRouter
from pydantic import BaseModel

router = APIRouter(prefix="/users")
cache = {}

class User(BaseModel):
    name: str

@router.get("/{user_id}")
def read(user_id: int):
    return cache.get("/not/a/route")

@router.post("")
def create(user: User): ...
""",
    "app/items.py": """from fastapi import APIRouter
router = APIRouter(prefix="/items")

@router.api_route("/many", methods=["GET", "POST"])
async def many(): ...
""",
}

CELERY = {
    "jobs.py": """from celery import Celery, shared_task
app = Celery()

@app.task(name="mail.send", bind=True)
def send(self): ...

@shared_task
def tidy(): ...
""",
    "caller.py": "from jobs import send, tidy\n\ndef work():\n    send.delay(1)\n    tidy.apply_async()\n",
}

CLICK = {
    "tool/__init__.py": "",
    "tool/cli.py": """import click

@click.group()
def cli(): ...

@cli.command("rows")
@click.option("--n")
def list_rows(n): ...

@cli.command()
def drop_table(): ...
""",
    "pyproject.toml": '[project]\nname = "tool"\ndependencies = ["click>=8"]\n[project.scripts]\ntool = "tool.cli:cli"\n',
}

PYTEST = {
    "tests/conftest.py": "import pytest\n\n@pytest.fixture\ndef db(tmp_path):\n    return 1\n\n@pytest.fixture(name='other')\ndef made(db): ...\n",
    "tests/test_one.py": "def test_reads(db, tmp_path):\n    assert db\n\nclass TestMany:\n    def test_more(self, db): ...\n",
}

EXPRESS = {
    "package.json": '{"dependencies": {"express": "4"}}',
    "src/app.js": """const express = require('express');
const users = require('./routes/users');
const { list } = require('./handlers');
const app = express();
app.use('/api', users);
app.get('/health', (req, res) => res.send('ok'));
app.get('view engine');
app.get('/list', list);
""",
    "src/handlers.js": "exports.list = function list(req, res) {};\n",
    "src/routes/users.js": """const express = require('express');
const { list } = require('../handlers');
const router = express.Router();
router.get('/users/:id', auth, list);
router.route('/users').get(list).post(list);
// router.get('/gone', list)
module.exports = router;
""",
}

NEXT = {
    "package.json": '{"dependencies": {"next": "14"}}',
    "app/page.tsx": "export default function Home() { return null }\n",
    "app/(shop)/product/[handle]/page.tsx": "export default function Product() { return null }\n",
    "app/api/revalidate/route.ts": "export async function POST() {}\n",
    "pages/blog/[slug].tsx": "export default function Post() { return null }\n",
    "pages/index.tsx": "export default function Index() { return null }\n",
    "pages/api/hello.ts": "export default function handler() {}\n",
}

MOZAIKS = {
    "app/modules/tasks/module.yaml": "id: tasks\nactions:\n  - name: complete_task\n    title: x\n  - name: create\nevents:\n  - name: task.completed\n",
    "app/modules/tasks/backend/__init__.py": "",
    "app/modules/tasks/backend/handler.py": "def complete_task(ctx): ...\n\ndef create(ctx): ...\n",
    "app/modules/tasks/backend/service.py": "def x(): ...\n",
    "app/modules/tasks/backend/repo.py": "def y(): ...\n",
    "workflows/build/orchestrator.yaml": "name: build\n",
    "workflows/build/agents.yaml": "agents:\n  - name: Planner\n    prompt: x\n",
    "workflows/build/tools.yaml": "tools:\n  - function: save\n    agent: Planner\n",
    "workflows/build/tools/save.py": "def save(): ...\n",
    "app/ui/pages/Board.tsx": "export function Board() { return null }\n",
}

NEST = {
    "src/cats.controller.ts": """import { Controller, Get, Post, Param } from '@nestjs/common';
import { CatsService } from './cats.service';

@Controller('cats')
export class CatsController {
  constructor(private cats: CatsService) {}

  @Get(':id')
  find(@Param('id') id: string) { return this.cats.one(id); }

  @Post()
  create() {}
}
""",
    "src/cats.service.ts": "import { Injectable } from '@nestjs/common';\n\n@Injectable()\nexport class CatsService { one(id: string) {} }\n",
}

SPRING = {
    "src/main/java/x/OwnerController.java": """package x;
import org.springframework.web.bind.annotation.*;

@RestController
@RequestMapping("/owners")
class OwnerController {
  // @GetMapping("/gone")
  @GetMapping("/{id}")
  public Owner show(@PathVariable int id) { return null; }

  @RequestMapping(value = "/new", method = RequestMethod.POST)
  public Owner make() { return null; }
}
""",
    "src/main/java/x/Owner.java": 'package x;\nimport jakarta.persistence.Entity;\n\n@Entity\n@Table(name = "owners")\npublic class Owner { }\n',
}

RAILS = {
    "config/routes.rb": """Rails.application.routes.draw do
  root "home#index"
  # get "/gone", to: "x#y"
  get "/about", to: "pages#about"
  namespace :admin do
    resources :photos, only: [:index, :show] do
      get "preview"
    end
  end
  resource :profile, except: [:destroy, :new]
end
""",
    "app/controllers/pages_controller.rb": "class PagesController < ApplicationController\n  def about\n  end\nend\n",
    "app/models/user_account.rb": "class UserAccount < ApplicationRecord\nend\n",
    "db/migrate/20200101_make.rb": "class Make < ActiveRecord::Migration[7.0]\nend\n",
}

LARAVEL = {
    "routes/web.php": """<?php
use App\\Http\\Controllers\\UserController;
use Illuminate\\Support\\Facades\\Route;

Route::get('/users/{id}', [UserController::class, 'show']);
Route::prefix('admin')->group(function () {
    Route::post('/posts', 'PostController@store');
});
Route::apiResource('photos', PhotoController::class);
# Route::get('/gone', 'x');
""",
    "app/Models/User.php": "<?php\nclass User extends Model {}\n",
    "app/Http/Controllers/UserController.php": "<?php\nnamespace App\\Http\\Controllers;\n\nclass UserController {\n    public function show($id) {}\n}\n",
}

GIN = {
    "main.go": """package main

import "github.com/gin-gonic/gin"

func list(c *gin.Context) {}

type Api struct{}

func (a *Api) remove(c *gin.Context) {}

func main() {
	r := gin.Default()
	api := &Api{}
	r.GET("/ping", list)
	v1 := r.Group("/v1")
	{
		v1.POST("/users", list)
		admin := v1.Group("/admin")
		admin.DELETE("/users/:id", api.remove)
	}
	// r.GET("/gone", list)
}
""",
}

GRPC = {
    "api/users.proto": """syntax = "proto3";
// service Gone {
service Users {
  rpc Get (GetRequest) returns (User);
  rpc List(ListRequest) returns (stream User) {}
}
message User {
  string name = 1;
  message Address { string city = 1; }
}
""",
}

OPENAPI = {
    "openapi.yaml": """openapi: 3.0.0
paths:
  /users/{id}:
    parameters: []
    get:
      operationId: read
    delete: {}
components:
  schemas:
    User: {type: object}
""",
    "v2/swagger.json": '{"paths": {"/pets": {"post": {}}}, "definitions": {"Pet": {}}}',
}

GRAPHQL = {
    "schema.graphql": """type Query {
  user(id: ID!): User
  # gone: User
}
extend type Mutation {
  rename(id: ID!): User
}
type User {
  name: String
}
enum Role { ADMIN }
""",
}

REACT = {
    "src/App.jsx": "import React from 'react';\n\nexport function App() { return <Old/>; }\nfunction helper() {}\nclass Old extends React.Component { render() { return null; } }\n",
}

SQLALCHEMY = {
    "db.py": "from sqlalchemy.orm import DeclarativeBase\n\nclass Base(DeclarativeBase): ...\n",
    "models.py": "from db import Base\n\nclass Row(Base):\n    pass\n",
    "use.py": "from models import Row\n\ndef first():\n    return Row.query.filter(1).first()\n",
    "alembic/versions/ab12_start.py": "revision = 'ab12'\n",
}

CASES = {
    "django": (DJANGO, {
        "model shop.Base": "Base", "model shop.Order": "Order",
        "route /orders/": "Orders", "route /orders/<int:pk>/": "detail", "route /orders/nested/close/": "close",
        "command manage.py tidy": "Command", "migration shop/0001_initial": "Migration", "template shop/detail.html": "",
    }),
    "flask": (FLASK, {"route GET /api/users/<int:id>": "user", "route PUT /api/users/<int:id>": "user", "template user.html": "",
                      "route GET /api/place": "place", "route GET /new/one": "one", "route GET /kept/two": "two",
                      "command flask seed": "seed"}),
    "fastapi": (FASTAPI, {"route GET /": "root", "route GET /v1/users/{user_id}": "read", "route POST /v1/users": "create",
                          "route GET /items/many": "many", "route POST /items/many": "many", "schema User": "User"}),
    "celery": (CELERY, {"job mail.send": "send", "job tidy": "tidy"}),
    "click": (CLICK, {"command cli": "cli", "command rows": "list_rows", "command drop-table": "drop_table", "command tool": "cli"}),
    "pytest": (PYTEST, {"fixture db": "db", "fixture other": "made"}),
    "express": (EXPRESS, {"route GET /health": "", "route GET /list": "list", "route GET /api/users/:id": "list",
                          "route GET /api/users": "list", "route POST /api/users": "list"}),
    "nextjs": (NEXT, {"page /": "app/page.tsx", "page /product/{handle}": "app/(shop)/product/[handle]/page.tsx",
                      "route /api/revalidate": "app/api/revalidate/route.ts", "page /blog/{slug}": "pages/blog/[slug].tsx",
                      "route /api/hello": "pages/api/hello.ts"}),
    "mozaiks": (MOZAIKS, {
        "module tasks": "app/modules/tasks/backend/handler.py", "action tasks.complete_task": "complete_task", "action tasks.create": "create",
        "event task.completed": "", "service tasks.service": "app/modules/tasks/backend/service.py",
        "repo tasks.repo": "app/modules/tasks/backend/repo.py", "workflow build": "", "agent build.Planner": "",
        "tool build.save": "save", "page Board": "app/ui/pages/Board.tsx",
    }),
    "nestjs": (NEST, {"route GET /cats/:id": "CatsController.find", "route POST /cats": "CatsController.create", "service CatsService": "CatsService"}),
    "spring": (SPRING, {"route GET /owners/{id}": "OwnerController.show", "route POST /owners/new": "OwnerController.make", "model Owner": "Owner"}),
    "rails": (RAILS, {
        "route GET /": "", "route GET /about": "PagesController.about", "service PagesController": None, "route GET /admin/photos": "", "route GET /admin/photos/:id": "",
        "route GET /admin/photos/:id/preview": "", "route POST /profile": "", "route GET /profile": "", "route GET /profile/edit": "",
        "route PATCH /profile": "", "model UserAccount": None, "migration 20200101_make": None,
    }),
    "laravel": (LARAVEL, {
        "route GET /users/{id}": "UserController.show", "service UserController": None, "route POST /admin/posts": "", "route GET /photos": "", "route POST /photos": "",
        "route GET /photos/:id": "", "route PUT /photos/:id": "", "route DELETE /photos/:id": "", "model User": None,
    }),
    "gin": (GIN, {"route GET /ping": "list", "route POST /v1/users": "list", "route DELETE /v1/admin/users/:id": "Api.remove"}),
    "grpc": (GRPC, {"service Users": "", "route Users/Get": "", "route Users/List": "", "schema User": "", "schema Address": ""}),
    "openapi": (OPENAPI, {"route GET /users/{id}": "", "route DELETE /users/{id}": "", "schema User": "", "route POST /pets": "", "schema Pet": ""}),
    "graphql": (GRAPHQL, {"route query user": "", "route mutation rename": "", "schema User": "", "schema Role": ""}),
    "react": (REACT, {"component App": "App", "component Old": "Old"}),
    "sqlalchemy": (SQLALCHEMY, {"model Base": "Base", "model Row": "Row", "migration ab12_start": "alembic/versions/ab12_start.py"}),
}  # fmt: skip
#: What other packs rightly find in the same files.
ELSEWHERE = ("component ", "config ")


@pytest.mark.parametrize("name", CASES)
def test_a_pack_finds_what_its_framework_declares_and_nothing_else(name: str, make_repo: MakeRepo) -> None:
    files, wanted = CASES[name]
    found = surface_kit.surfaces(make_repo(files))
    kept = {key: behind for key, behind in found.items() if name == "react" or not key.startswith(ELSEWHERE)}
    assert kept.keys() == wanted.keys()
    told = {key: behind for key, behind in wanted.items() if behind is not None}
    assert {key: found[key] for key in told} == told


def test_what_tests_define_is_nothing_that_the_code_offers(make_repo: MakeRepo) -> None:
    files = {f"tests/{path}": text for path, text in {**FLASK, **SQLALCHEMY}.items()}
    found = surface_kit.surfaces(make_repo({**files, "tests/conftest.py": "import pytest\n\n@pytest.fixture\ndef db(): ...\n"}))
    assert found == {"fixture db": "db"}


def test_uses_say_how(make_repo: MakeRepo) -> None:
    from mog.engine.workspace import Workspace

    root: Path = make_repo({**DJANGO, **CELERY, **PYTEST, **SQLALCHEMY})
    with Workspace.open(root) as workspace:
        workspace.index(workers=1)
        used = {f"{row.node.signature} {row.node.name}": dict(row.used) for row in workspace.contracts(limit=500).rows}
        impact = workspace.impact("shop/models.py::Order")
    assert used["model shop.Order"] == {"read": 2, "write": 1}
    assert used["template shop/detail.html"] == {"render": 1}
    assert used["job mail.send"] == {"emit": 1} and used["job tidy"] == {"emit": 1}
    assert used["fixture db"] == {"read": 3}
    assert used["model Row"] == {"read": 1}
    # a change of the model reaches who reads it, and through them their routes
    assert impact.surfaces_by_role == {"model": 1, "route": 3}
    assert {node.name for node in impact.surfaces} == {
        "shop.Order",
        "/orders/",
        "/orders/<int:pk>/",
        "/orders/nested/close/",
    }
