"""secrets.py: every planted kind is caught, ordinary code is left alone, and hostile input is answered in time.

All credentials here are fake and put together at run time, so that no scanner finds one in this file.
"""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mog.engine.code import secrets
from mog.engine.code.secrets import classify, redact

R = "".join(f"{letter}{number % 10}{letter.upper()}" for number, letter in enumerate("fakefakefakefakefake"))
"""Sixty letters and digits that are no one's secret."""
HUNTER = "hunter" + "2"
PEM = "-----BEGIN {} PRIVATE " + "KEY-----"


def key(name: str, value: str, template: str = '{} = "{}"') -> str:
    return template.format(name, value)


STRONG = {
    "postgres-url": "postgres" + f"://app:{HUNTER}@db.prod.internal/app",
    "mysql-driver-url": "mysql+pymysql" + f"://root:{HUNTER}@10.0.0.5/x",
    "redis-url-without-user": "redis" + f"://:{HUNTER}@cache:6379/0",
    "mongodb-srv": "mongodb+srv" + f"://app:{HUNTER}@cluster.x.net",
    "jwt": ".".join(("ey" + "JhbGciOiJIUzI1NiJ9", "ey" + "J1c2VyIjoiZmFrZSJ9", R[:30])),
    "gitlab": "glpat" + "-" + R[:20],
    "stripe": "sk_live" + "_" + R[:24],
    "github-fine-grained": "github_pat" + "_" + R[:22] + "_" + R[:40],
    "github": "ghp" + "_" + "FAKE" * 9,
    "github-oauth": "gho" + "_" + "FAKE" * 9,
    "npm": "npm" + "_" + R[:36],
    "slack-webhook": "https://hooks.slack" + ".com/services/T00FAKE00/B00FAKE00/" + R[:24],
    "slack-token": "xoxb" + "-123456789012-123456789012-" + R[:24],
    "aws": "AKIA" + "FAKEFAKEFAKEFAK1",
    "google": "AIza" + R[:35],
    "sendgrid": "SG" + "." + R[:22] + "." + R[:43],
    "anthropic": "sk-ant" + "-api03-" + R[:40],
    "openai": "sk-proj" + "-" + R[:40],
    "pypi": "pypi" + "-AgEIcHlwaS5vcmc" + R[:40],
    "azure-connection": "DefaultEndpointsProtocol=https;AccountName=x;AccountKey" + "=" + R[:60] + R[:26] + "==;E=c",
}
FILES = {
    "private-key": PEM.format("RSA") + f"\n{R}\n{R}\n-----END RSA PRIVATE KEY-----\n",
    "private-key-escaped": '{"k": "' + PEM.format("EC") + "\\n" + R + '\\n"}',
    "private-key-over-lines": "K = (\n  '" + PEM.format("OPENSSH") + "\\n'\n  '" + R + "\\n'\n)",
    "private-key-with-headers": PEM.format("RSA") + "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,AB\n\n" + R + "\n",
    "aws-secret": key("aws_secret_access_key", R[:40]),
}


@pytest.mark.parametrize("kind", STRONG)
@pytest.mark.parametrize("template", ['x = "{}"\n', "x: {}\n", "see {} for it\n", "X='{}';", '{{"x": "{}"}}'])
def test_strong_markers_gate_the_file(kind: str, template: str) -> None:
    gate = classify("conf/thing.py", template.format(STRONG[kind]).encode())
    assert gate.file and gate.rule and not gate.spans


@pytest.mark.parametrize("kind", FILES)
def test_key_material_gates_the_file(kind: str) -> None:
    assert classify("conf/thing.txt", FILES[kind].encode()).file


def test_a_netrc_line_gates_the_file() -> None:
    assert classify("notes.txt", f"machine api.x.net login bob password {HUNTER}\n".encode()).rule == "netrc"


ASSIGNED = [
    ("a.py", f'password = "{HUNTER}"'),
    ("a.py", f'password: str = "{HUNTER}"'),
    ("a.py", f"PASSWORD = '''{HUNTER}'''"),
    ("a.py", 'password = "' + "a" * 8 + '"'),
    ("a.py", 'PASSWORD="' + "s3c" + 'r3t"'),
    ("a.py", f'connect(user="x", password="{HUNTER}")'),
    ("a.py", f'os.environ["DB_PASSWORD"] = "{HUNTER}"'),
    ("a.py", '{"PASSWORD": "' + "let" + 'mein"}'),
    ("a.py", f'client_secret = "{HUNTER}"'),
    ("a.py", key("api_key", R[:16])),
    ("a.py", '{"Authorization": "Bearer ' + R[:32] + '"}'),
    ("a.py", f'u = "https://bob:{HUNTER}@example.com/x"'),
    ("a.js", "const c = { apiKey: '" + R[:16] + "' };"),
    ("a.ts", f"let password: string = '{HUNTER}';"),
    ("a.go", f'password := "{HUNTER}"'),
    ("a.go", key("const apiToken string", R[:12])),
    ("a.rs", f'let password: &str = "{HUNTER}";'),
    ("A.java", f'String password = "{HUNTER}";'),
    ("a.php", f'["password" => "{HUNTER}"]'),
    ("a.cs", f'"Server=db;User Id=sa;Password={HUNTER};Encrypt=true"'),
    ("a.yaml", f"db:\n  password: {HUNTER}\n"),
    ("a.yaml", "password: 'correct" + "-horse'"),
    ("a.ini", f"db_password = {HUNTER}\n"),
    ("a.properties", f"db.password={HUNTER}\n"),
    ("a.xml", f"<password>{HUNTER}</password>"),
    ("a.sh", f"export DB_PASSWORD={HUNTER}\n"),
    ("Dockerfile", f"ENV API_TOKEN={R[:12]}\n"),
    ("a.md", f"password: {HUNTER}\n"),
    ("a.toml", key("access_key", R[:20])),
]


@pytest.mark.parametrize(("path", "text"), ASSIGNED)
def test_assigned_values_are_spans_and_vanish_when_redacted(path: str, text: str) -> None:
    data = f"before()\n{text}\nafter()\n".encode()
    gate = classify(path, data)
    assert not gate.file and len(gate.spans) == 1
    (start, end, rule), out = gate.spans[0], redact(data, gate.spans)
    assert rule and data[start:end] not in out and len(out) == len(data)
    assert out[:start] == data[:start] and out[end:] == data[end:]
    assert b"before" not in data[start:end] and b"\n" not in data[start:end]


@pytest.mark.parametrize(
    "path",
    [
        "Secrets.toml",
        "prod.env.txt",
        ".env",
        "conf/.env.local",
        "deploy/prod.env",
        "config/secrets.yml",
        "aws/credentials",
        "id_rsa",
        "x/id_ed25519",
        "keys/server.pem",
        "a.key",
        "a.p12",
        ".npmrc",
        ".pypirc",
        ".netrc",
        ".ssh/config",
        "client_secret_1.json",
        "terraform.tfstate",
        "x.kdbx",
        "my-credentials.json",
        "home/.aws/config",
        ".docker/config.json",
        "private_key.txt",
        "db-passwords.csv",
    ],
)
def test_paths_that_gate(path: str) -> None:
    gate = classify(path, b"nothing to see\n")
    assert gate.file and gate.rule.startswith("path:")


@pytest.mark.parametrize(
    "path",
    [
        "id_rsa.pub",
        ".env.example",
        "secrets.py",
        "src/secrets/mod.rs",
        "credentials.go",
        "docs/secrets.md",
        "docs/passwords.txt",
        "env.py",
        "next-env.d.ts",
        "tokens.json",
        "password_reset_subject.txt",
        "server.crt",
        "keys.py",
        "secrets.template.yaml",
        "environment.yml",
        "vault/notes.md",
        "src/key.ts",
        "locale/passwords.json",
    ],
)
def test_paths_that_do_not_gate(path: str) -> None:
    assert not classify(path, b"nothing to see\n")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "password = ReadOnlyPasswordHashField(label='Password')"),
        ("a.py", 'password = os.environ["DB_PASSWORD"]'),
        ("a.py", "password = getpass.getpass()"),
        ("a.py", f'if password == "{HUNTER}":'),
        ("a.py", '"password": _("The two password fields did not match.")'),
        ("a.py", 'INTERNAL_RESET_SESSION_TOKEN = "_password_reset_token"'),
        ("a.py", 'reset_url_token = "set-password"'),
        ("a.py", 'token = "endblock"'),
        ("a.py", 'label = "Password:"'),
        ("a.py", 'password = ""'),
        ("a.py", 'password = "<your password>"'),
        ("a.py", 'url = f"postgres://{user}:{password}@{host}/db"'),
        ("a.py", 'foreign_key = "author_id2345678"; primary_key = "a1b2c3d4e5f6"'),
        ("a.py", 'MARK = b"-----BEGIN PRIVATE ' + 'KEY-----"'),
        ("a.py", "compass = 'north-4'; bypass = 'x1y2z3'"),
        ("a.py", 'git = "git@github.com:me/x.git"'),
        ("a.py", "self.password = password; token=token"),
        ("a.ts", "interface A { password: string; token: string; secretKey?: string }"),
        ("a.yaml", "password: ${DB_PASSWORD}\ntoken: {{ vault.token }}\nsecret: !vault x\n"),
        ("a.css", "input[type=password]:focus { }"),
        ("a.html", '<label for="id_password">Password:</label><input type="password" name="password">'),
        ("a.json", '{"integrity": "sha512-' + R + '=="}'),
        ("go.sum", "github.com/x v1.2.3 h1:" + R[:43] + "="),
        ("a.po", 'msgid "password = secret"\n'),
    ],
)
def test_ordinary_code_is_left_alone(path: str, text: str) -> None:
    assert classify(path, text.encode()) == secrets.OPEN


def test_a_placeholder_in_documentation_or_tests_is_a_span() -> None:
    text = ('key = "AKIA' + 'IOSFODNN7EXAMPLE"\n').encode()
    for path in ("docs/aws.md", "tests/test_aws.py", "README.md"):
        gate = classify(path, text)
        assert not gate.file and len(gate.spans) == 1
    assert classify("src/aws.py", text).file


def test_offsets_count_bytes() -> None:
    data = f'# Grüße 🙂\r\npassword = "{HUNTER}é"\r\n'.encode()
    (span,) = classify("a.py", data).spans
    assert data[span.start : span.end] == f"{HUNTER}é".encode()


def test_too_many_values_gate_the_file() -> None:
    gate = classify("dump.yaml", f"password: {HUNTER}\n".encode() * (secrets.MAX_SPANS + 1))
    assert gate == secrets.Gate(True, "many-values")


@given(st.binary(max_size=200), st.lists(st.tuples(st.integers(0, 200), st.integers(0, 200)), max_size=5))
def test_redaction_keeps_length_and_lines(data: bytes, ranges: list[tuple[int, int]]) -> None:
    spans = [(min(pair), max(pair), "r") for pair in ranges]
    out = redact(data, spans)
    assert len(out) == len(data)
    assert [at for at, byte in enumerate(out) if byte in b"\r\n"] == [
        at for at, byte in enumerate(data) if byte in b"\r\n"
    ]


@given(st.binary(max_size=300))
def test_any_bytes_get_an_answer(data: bytes) -> None:
    for path in ("a.py", "a.yaml", "a.txt", ""):
        gate = classify(path, data)
        assert all(0 <= start < end <= len(data) for start, end, _ in gate.spans)
        assert list(gate.spans) == sorted(gate.spans)


pieces = st.sampled_from(
    [
        b'"',
        b"'",
        b"=",
        b": ",
        b"password",
        b"token",
        b"api_key",
        b"AKIA",
        b"eyJ",
        b".",
        b"_",
        b"-",
        b"://",
        b"@",
        b"\n",
        b"x1Y2" * 6,
        b" ",
        b">",
        b"<",
    ]
)


@given(st.lists(pieces, max_size=40).map(b"".join))
def test_any_mix_of_marks_redacts_to_something_clean(data: bytes) -> None:
    gate = classify("a.yaml", data)
    if not gate.file:
        again = classify("a.yaml", redact(data, gate.spans))
        values = {data[start:end] for start, end, _ in gate.spans}
        assert not values & {data[start:end] for start, end, _ in again.spans} or all(set(v) <= {120} for v in values)


HOSTILE = [
    b"_",
    b"-",
    b"J",
    b"Ja",
    b"G.",
    b"AIz",
    b".eyJ",
    b"eyJaaaaaaaaa ",
    b"://",
    b"://a:b",
    b"://:",
    b"password=",
    b"password = ",
    b'api_key="$',
    b"a.a.a.a.key=",
    b'token="abcdefgh"',
    b"authorization: ",
    b"machine a login b ",
    b"-aaaaaaaaaaaaaaaa",
    b'token="' + b"a-" * 200 + b'"',
    b"-----BEGIN PRIVATE KEY-----",
    b"-----BEGIN PRIVATE KEY-----" + b"\n" * 300,
    b"PRIVATE KEY-----\\n",
]


@pytest.mark.parametrize("unit", HOSTILE, ids=lambda unit: repr(unit[:16]))
def test_hostile_input_costs_linear_time(unit: bytes) -> None:
    """Four times the input may cost about four times the time, not sixteen."""

    def cost(size: int) -> float:
        data = (unit * (size // len(unit) + 1))[:size]
        best = min(_timed(data) for _ in range(3))
        return best + 0.002

    assert cost(400_000) < 10 * cost(100_000)


def _timed(data: bytes) -> float:
    start = time.process_time()
    classify("notes.txt", data)
    return time.process_time() - start


def test_notes_are_refused_by_rule_name() -> None:
    assert secrets.contains_secret("the token is " + STRONG["github"]) == "github-token"
    assert secrets.contains_secret(f"password: {HUNTER}") == "assigned-password"
    assert secrets.contains_secret("rotate the password before the token expires") is None
    assert secrets.contains_secret("lone \udcff surrogate") is None


def test_the_keyed_digest_depends_on_key_and_content() -> None:
    digest = secrets.keyed_digest(b"k" * 32, b"content")
    assert len(digest) == 16
    others = {secrets.keyed_digest(b"l" * 32, b"content"), secrets.keyed_digest(b"k" * 32, b"other")}
    assert digest not in others and len(others) == 2


def test_a_gate_never_holds_the_value() -> None:
    data = f'password = "{HUNTER}"\n'.encode()
    assert HUNTER not in repr(classify("a.py", data)) + repr(classify("a.yaml", STRONG["postgres-url"].encode()))
