"""SQL in five dialects: definitions, what statements name, anchors. Expected by the rules of the dialects."""

from __future__ import annotations

import pytest
from conform import anchor, defined, facts, links, row, span

from mog.engine.code import facts as schema

DEFINED = {
    "table": ("CREATE TABLE t (a int);", "t t.a"),
    "lower case": ("create table t (a int);", "t t.a"),
    "if not exists": ("CREATE TABLE IF NOT EXISTS t (a int);", "t t.a"),
    "schema": ("CREATE TABLE app.t (a int);", "app.t app.t.a"),
    "three parts": ("CREATE TABLE db.dbo.t (a int);", "dbo.t dbo.t.a"),
    "quoted": ('CREATE TABLE "My" ("Col" int);', "My My.Col"),
    "backticks": ("CREATE TABLE `t` (`a` int(11) NOT NULL, KEY `k` (`a`)) ENGINE=InnoDB;", "t t.a"),
    "brackets": ("CREATE TABLE [dbo].[T] ([Id] INT IDENTITY(1,1));\nGO\n", "dbo.T dbo.T.Id"),
    "constraints are no columns": ("CREATE TABLE t (a int, PRIMARY KEY (a), CONSTRAINT c CHECK (a > 0));", "t t.a"),
    "column with a default": ("CREATE TABLE t (a numeric(10, 2) DEFAULT round(1.5, 1), b text);", "t t.a t.b"),
    "temporary": ("CREATE TEMP TABLE t (a int);", "t t.a"),
    "as a query": ("CREATE TABLE t AS SELECT 1;", "t"),
    "virtual": ("CREATE VIRTUAL TABLE t USING fts5(a, b);", "t"),
    "view": ("CREATE OR REPLACE VIEW v AS SELECT 1;", "v"),
    "materialized view": ("CREATE MATERIALIZED VIEW v AS SELECT 1;", "v"),
    "view with an algorithm": ("CREATE ALGORITHM=UNDEFINED DEFINER=`a`@`b` SQL SECURITY DEFINER VIEW v AS SELECT 1;", "v"),
    "function": ("CREATE FUNCTION f(a int) RETURNS int AS $$ SELECT 1; $$ LANGUAGE sql;\nCREATE TABLE t (a int);", "f t t.a"),
    "tagged dollar quote": ("CREATE FUNCTION f() RETURNS int AS $x$ SELECT '$$'; $x$ LANGUAGE sql; CREATE VIEW v AS SELECT 1;", "f v"),
    "standard body": ("CREATE FUNCTION f() RETURNS int RETURN 1; CREATE VIEW v AS SELECT 1;", "f v"),
    "mysql procedures": (
        "DELIMITER $$\nCREATE PROCEDURE p() BEGIN IF 1 THEN SELECT 1; END IF; END$$\nCREATE PROCEDURE q() SELECT 1$$\nDELIMITER ;\n", "p q"),
    "mysql slashes": ("DELIMITER //\nCREATE PROCEDURE p() BEGIN SELECT 1; END//\nCREATE PROCEDURE q() BEGIN END//\n", "p q"),
    "batches": ("CREATE PROC p AS\nSELECT 1; SELECT 2;\nGO\nCREATE PROCEDURE q AS BEGIN SELECT 1; END\nGO\n", "p q"),
    "alter-or-create": ("CREATE OR ALTER PROCEDURE p AS SELECT 1;\nGO\n", "p"),
    "oracle": ("CREATE OR REPLACE PROCEDURE p IS x NUMBER; BEGIN x := 1; END;\n/\nCREATE TABLE t (a NUMBER);\n", "p t t.a"),
    "trigger of sqlite": (
        "CREATE TRIGGER r AFTER INSERT ON t BEGIN UPDATE b SET x = CASE WHEN 1 THEN 2 END; END;\nCREATE TABLE t (a);", "r t t.a"),
    "trigger": ("CREATE TRIGGER r BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION f();", "r"),
    "type": ("CREATE TYPE mood AS ENUM ('a', 'b');", "mood"),
    "index is none": ("CREATE INDEX i ON t (a);", ""),
    "in a comment": ("-- CREATE TABLE t (a int);\n/* CREATE TABLE u (a int); */", ""),
    "in a string": ("INSERT INTO x VALUES ('CREATE TABLE t (a int);');", ""),
    "temporary of sql server": ("CREATE TABLE #t (a int);", ""),
    "twice": ("CREATE TABLE t (a int);\nCREATE TABLE t (b int);", "t t.a t#2 t#2.b"),
    "transaction": ("BEGIN;\nCREATE TABLE t (a int);\nCOMMIT;", "t t.a"),
    "empty": ("", ""),
}  # fmt: skip
TABLES = "CREATE TABLE t (a int);\nCREATE TABLE u (a int);\n"
LINKS = {
    "foreign key": ("CREATE TABLE t (a int);\nCREATE TABLE u (b int REFERENCES t(a));", {"u references t"}),
    "view": (TABLES + "CREATE VIEW v AS SELECT * FROM t JOIN u ON t.a = u.a;", {"v references t", "v references u"}),
    "case does not count": ("CREATE TABLE T (a int);\nSELECT * FROM t;", {"- references T"}),
    "insert, update, delete": (TABLES + "INSERT INTO t VALUES (1); UPDATE u SET a = 1; DELETE FROM t;", {"- references t", "- references u"}),
    "insert with columns": (TABLES + "INSERT INTO t (a) VALUES (1);", {"- references t"}),
    "alter and drop": (TABLES + "ALTER TABLE t ADD b int; DROP TABLE IF EXISTS u;", {"- references t", "- references u"}),
    "subquery": (TABLES + "SELECT (SELECT max(a) FROM u) FROM t;", {"- references t", "- references u"}),
    "from of a function": (TABLES + "SELECT extract(year FROM t) , trim(both FROM u);", set()),
    "distinct from": (TABLES + "SELECT 1 WHERE 1 IS DISTINCT FROM t;", set()),
    "named query": (TABLES + "WITH t2 AS (SELECT * FROM t) SELECT * FROM t2;", {"- references t"}),
    "trigger": (TABLES + "CREATE TRIGGER r AFTER UPDATE ON t BEGIN DELETE FROM u; END;", {"r references t", "r references u"}),
    "unknown table": ("SELECT * FROM elsewhere;", {"- references !external:elsewhere"}),
    "schema told apart": ("CREATE TABLE a.t (x int);\nCREATE TABLE b.t (x int);\nSELECT * FROM b.t;", {"- references b.t"}),
    "procedure": ("CREATE PROCEDURE p() SELECT 1;\nCALL p();", {"- calls p"}),
    "exec": ("CREATE PROC dbo.p AS SELECT 1;\nGO\nEXEC dbo.p 1;\n", {"- calls dbo.p"}),
    "function in a query": ("CREATE FUNCTION f(a int) RETURNS int RETURN a;\nSELECT f(1), lower('x');", {"- calls f"}),
    "function of a trigger": (
        "CREATE FUNCTION f() RETURNS trigger AS $$ BEGIN RETURN NEW; END $$ LANGUAGE plpgsql;\n"
        "CREATE TABLE t (a int);\nCREATE TRIGGER r BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f();",
        {"r calls f", "r references t"}),
    "body of a function": (
        TABLES + "CREATE FUNCTION f() RETURNS int AS $$ BEGIN PERFORM g(); INSERT INTO t SELECT * FROM u; END $$ LANGUAGE plpgsql;\n"
        "CREATE FUNCTION g() RETURNS int RETURN 1;", {"f references t", "f references u", "f calls g"}),
    "recursion is no edge": ("CREATE FUNCTION f() RETURNS int AS $$ SELECT f(); $$ LANGUAGE sql;", set()),
    "set-returning": (TABLES + "SELECT * FROM generate_series(1, 2);", set()),
}  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), DEFINED.values(), ids=DEFINED)
def test_definitions_are_symbols(source: str, expected: str) -> None:
    assert defined("a.sql", source) == expected


@pytest.mark.parametrize(("source", "expected"), LINKS.values(), ids=LINKS)
def test_links(source: str, expected: set[str]) -> None:
    assert links({"a.sql": source}, "a.sql") == expected


class TestAcrossFiles:
    def test_the_only_definition_is_certain(self) -> None:
        assert links({"b.sql": "SELECT * FROM t;", "a.sql": TABLES}, "b.sql") == {"- references a.sql:t"}

    def test_one_of_several_is_a_candidate(self) -> None:
        files = {"q.sql": "SELECT * FROM t;", "a.sql": "CREATE TABLE t (a int);", "b.sql": "CREATE TABLE t (a int);"}
        assert links(files, "q.sql") == {"- references ?a.sql:t", "- references ?b.sql:t"}

    def test_the_own_file_comes_first(self) -> None:
        assert links({"a.sql": "CREATE TABLE t (a int);\nSELECT * FROM t;", "b.sql": TABLES}, "a.sql") == {
            "- references t"
        }

    def test_no_other_language_is_meant(self) -> None:
        assert links({"a.sql": "SELECT f(1);", "b.py": "def f(): ...\n"}, "a.sql") == set()


def test_kinds_and_signatures_say_what_it_is() -> None:
    found = facts("a.sql", "CREATE TABLE t (a int);\nCREATE FUNCTION f(x int,\n y int) RETURNS int RETURN 1;")
    said = [(one[schema.KIND], one[schema.SIG]) for one in found["syms"]]
    assert said == [("class", "TABLE t"), ("field", "a"), ("function", "FUNCTION f(x int, y int)")]


def test_lines_and_spans_are_those_of_the_statement() -> None:
    source = "-- first\nCREATE TABLE t (\n  a int,\n  b int\n);\n"
    found = facts("a.sql", source)
    assert [(one[schema.LINE], one[schema.END]) for one in found["syms"]] == [(2, 5), (3, 3), (4, 4)]
    assert span("a.sql", source, "t.b") == "b int"
    assert row(found, "t")[schema.PARENT] == -1


def test_layout_case_and_comments_move_no_anchor() -> None:
    before = "CREATE TABLE t (a int, b text);"
    assert anchor("a.sql", before, "t") == anchor("a.sql", "create table T (\n  a INT, -- why\n  b text\n);", "T")


@pytest.mark.parametrize(
    "after", ["CREATE TABLE t (a int, b int);", "CREATE TABLE t (b text, a int);", 'CREATE TABLE t ("A" int, b text);']
)
def test_every_other_edit_moves_the_anchor(after: str) -> None:
    assert anchor("a.sql", "CREATE TABLE t (a int, b text);", "t") != anchor("a.sql", after, "t")


@pytest.mark.parametrize(
    "data",
    [b"CREATE TABLE " * 8_000, b"(" * 100_000, b"CREATE FUNCTION f() AS $$ BEGIN " * 4_000, b"'" * 99_999, b"\xff CREATE TABLE \xc3(",
     b"CREATE TABLE t (" + b"a int, " * 8_000, b"/*" * 50_000, b"CREATE PROCEDURE p AS BEGIN CASE " * 3_000, b"[" * 50_000,
     b"SELECT * FROM t; " * 5_000, b"$a$" * 30_000],
    ids=lambda data: str(data[:14]),
)  # fmt: skip
def test_hostile_input_is_survived(data: bytes) -> None:
    assert facts("a.sql", data)["lang"] == "sql"
