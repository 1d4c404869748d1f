"""Registries: a key names one implementation and is never anything else; which code is which; registries of packages."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from mog.engine.errors import ConfigError, UsageError
from mog.engine.executor import TaskRegistry, discover
from mog.engine.executor import registry as room
from mog.engine.executor.registry import code_digest


def nothing(ctx):
    return {}


@pytest.mark.parametrize("key", ["", " a", "a b", "a\tb", "a\n", "a\u00a0b", "\u200b", 7, None, "x" * 257])
def test_a_key_survives_a_log_line(key):
    registry = TaskRegistry()
    with pytest.raises(UsageError):
        registry.register_worker(key, nothing)
    with pytest.raises(UsageError):
        registry.register_auditor(key, nothing)
    assert registry.describe() == {"workers": [], "auditors": []}


def test_one_implementation_a_key_and_two_namespaces():
    registry = TaskRegistry()
    registry.register_worker("hash.argon2.v1", nothing)
    registry.register_auditor("hash.argon2.v1", lambda ctx: True)
    for register in (registry.register_worker, registry.register_auditor):
        with pytest.raises(UsageError, match="already"):
            register("hash.argon2.v1", nothing)
    registry.register_worker("only.worker", nothing)
    with pytest.raises(ConfigError, match="no auditor"):
        registry.auditor("only.worker")
    assert registry.describe() == {"workers": ["hash.argon2.v1", "only.worker"], "auditors": ["hash.argon2.v1"]}
    with pytest.raises(UsageError, match="not callable"):
        registry.register_worker("none", None)


@pytest.mark.parametrize("key", ["os:system", "os.system", "json.loads", "wave:open"])
def test_a_key_never_becomes_an_import(key):
    sys.modules.pop("wave", None)
    with pytest.raises(ConfigError, match="never imported"):
        TaskRegistry().worker(key)
    assert "wave" not in sys.modules


def test_registries_are_joined_unless_they_disagree():
    one, other = TaskRegistry(), TaskRegistry()
    one.register_worker("a", nothing)
    other.register_worker("b", nothing)
    assert one.joined([other]).describe()["workers"] == ["a", "b"] and one.describe()["workers"] == ["a"]
    other.register_worker("a", lambda ctx: {})
    with pytest.raises(ConfigError, match="two registries"):
        one.joined([other])


# -- which code


def made(package, extra=()):
    def work(ctx, limit=3, *, step=1):
        return {"package": package, "extra": [one for one in extra if one in {"x", "y", "z"}], "limit": limit + step}

    return work


def test_the_digest_of_code_follows_what_it_does_and_closes_over():
    assert code_digest(made("argon2")) == code_digest(made("argon2"))
    assert code_digest(made("argon2")) != code_digest(made("bcrypt"))
    assert code_digest(made("a", ("x",))) != code_digest(made("a", ("y",)))
    assert code_digest(lambda ctx: {"n": 1}) != code_digest(lambda ctx: {"n": 2})
    other = made("argon2")
    other.__defaults__ = (4,)
    assert code_digest(other) != code_digest(made("argon2"))
    other = made("argon2")
    other.__kwdefaults__ = {"step": 2}
    assert code_digest(other) != code_digest(made("argon2"))


def test_a_declared_version_stands_for_the_code():
    one, other, third = TaskRegistry(), TaskRegistry(), TaskRegistry()
    one.register_worker("k", made("a"), version="1")
    other.register_worker("k", made("b"), version="1")
    third.register_worker("k", made("a"), version="2")
    assert one.worker("k").digest == other.worker("k").digest != third.worker("k").digest


class Callable:
    def __init__(self):
        self.open = open

    def __call__(self, ctx):
        return {}


def test_anything_callable_has_a_digest():
    assert code_digest(Callable()) == code_digest(Callable()) != code_digest(print)
    assert code_digest(Callable().__call__) and code_digest(type)

    def endless(ctx):
        return endless

    assert code_digest(endless)


# -- installed packages


def packages(monkeypatch, **points):
    def found(group):
        assert group == "mog.registries"
        return [SimpleNamespace(name=name, load=load) for name, load in points.items()]

    monkeypatch.setattr(room, "metadata", SimpleNamespace(entry_points=found))


def test_only_what_the_configuration_names_is_loaded(monkeypatch):
    registry = TaskRegistry()
    registry.register_worker("a", nothing)
    packages(monkeypatch, mine=lambda: registry, made=lambda: lambda: registry, evil=lambda: pytest.fail("loaded"))
    assert discover([]).describe()["workers"] == []
    assert discover(["mine"]).describe()["workers"] == ["a"]
    assert discover(["made", "made"]).describe()["workers"] == ["a"]
    with pytest.raises(ConfigError, match=r"no installed package.*evil, made, mine"):
        discover(["mine", "absent"])


def test_a_package_that_brings_no_registry_is_refused(monkeypatch):
    def broken():
        raise ImportError("no module")

    packages(monkeypatch, broken=broken, seven=lambda: 7, text=lambda: lambda: "x")
    for name in ("broken", "seven", "text"):
        with pytest.raises(ConfigError):
            discover([name])
