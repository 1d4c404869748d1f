"""Is there a credential in this file? Decided once, at ingest, before anything else sees the bytes.

Who calls: the extraction workers (``classify``, ``redact``), notes and pins (``contains_secret``), the indexer
(``keyed_digest``). What may not come in: storing or printing of values; a ``Gate`` holds rule names and offsets,
never the bytes.

Three strengths. A path rule or a strong marker (private key, vendor token, database address with its password) gates
the file. A heuristic (``password = "…"``) yields the span of the value, so that only the symbol around it is gated.
An obvious placeholder in documentation or tests is a span at most. The input is hostile: every expression is linear,
and starts with a literal so that the search for it runs at memory speed.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from mog.engine.code.languages_map import CODE, PROSE, TEXT, language_of, words

MAX_SPANS = 2_000
"""A file with more values to hide is gated as a whole (rule ``many-values``)."""


class Span(NamedTuple):
    """Byte offsets [start, end) of one value, and the rule that found it."""

    start: int
    end: int
    rule: str


@dataclass(frozen=True, slots=True)
class Gate:
    """The answer for one file.

    Attributes:
        file: the whole file is gated.
        rule: the rule that gates the file ("" when none does).
        spans: values to be redacted, sorted, not overlapping; empty when the file is gated.
    """

    file: bool = False
    rule: str = ""
    spans: tuple[Span, ...] = ()

    def __bool__(self) -> bool:
        return self.file or bool(self.spans)


OPEN = Gate()

# -- by path ---------------------------------------------------------------------------------------------

_EXACT = words(
    ".npmrc .pypirc .netrc _netrc .pgpass .my.cnf .htpasswd .git-credentials .dockercfg .boto .s3cfg .vault-token"
    " .vault_pass .vault-password .rhosts id_rsa id_dsa id_ecdsa id_ed25519 kubeconfig terraform.tfstate"
    " terraform.tfstate.backup application_default_credentials.json serviceaccount.json service-account.json"
    " service_account.json wp-config.php master.key credentials secrets .secrets htpasswd vault.yml vault.yaml .env"
    " .envrc"
)
_SUFFIXES = (
    ".pem",
    ".key",
    ".p12",
    ".pfx",
    ".jks",
    ".keystore",
    ".kdbx",
    ".ppk",
    ".tfvars",
    ".tfvars.json",
    ".agekey",
    ".ovpn",
)
_FOLDERS = frozenset((".ssh", ".gnupg", ".aws", ".azure", "secrets", ".secrets", "credentials"))
_DEEP = (".docker/config.json", ".kube/config", "gcloud/credentials.db", ".config/gh/hosts.yml")
_LENIENT = re.compile(
    r"(?:^|/)(?:docs?|documentation|examples?|samples?|tests?|testing|specs?|fixtures|testdata|__tests__|locales?|lang|i18n)/"
    r"|(?:^|/)(?:test_|conftest)|[._]test\.|\.spec\."
)
_SAMPLE = re.compile(r"(?:^|[._-])(?:example|sample|template|tmpl|dist|default|schema|test)(?:[._-]|$)")
_ENV_NAME = re.compile(r"^\.env(?:[.-].+)?$|^[^.].*\.env(?:\.[a-z0-9]+)?$|^\.?[\w-]+\.env$")
_SECRET_NAME = re.compile(
    r"^\.?(?:[\w-]+[._-])?(?:(?:secrets?|credentials?|client[_-]?secrets?)(?:[._-][\w-]+)*|passwords?|passwd|private[_-]?keys?)"
    r"\.(?:toml|ya?ml|json|ini|cfg|conf|properties|txt|csv|xml|env|plist|db|enc)$"
)


def path_rule(path: str) -> str:
    """Rule that gates a file by its path alone, "" when none does; programs and prose are not gated by their names."""
    folder, _, raw = path.rpartition("/")
    name = raw.lower()
    if _SAMPLE.search(name) or name.endswith(".pub"):
        return ""
    if name in _EXACT or name.endswith(_SUFFIXES) or path.lower().endswith(_DEEP):
        return f"path:{_family(name)}"
    if language_of(path) in CODE or language_of(path) in PROSE:
        return ""
    if _ENV_NAME.match(name):
        return "path:env"
    if _SECRET_NAME.match(name) and not _LENIENT.search(path):
        return "path:secret-name"
    return "path:secret-folder" if folder and not _FOLDERS.isdisjoint(folder.lower().split("/")) else ""


def _family(name: str) -> str:
    if name.endswith((".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".ppk", ".agekey")) or name.startswith(
        "id_"
    ):
        return "key-file"
    return "env" if name.startswith(".env") else "credential-file"


# -- strong markers --------------------------------------------------------------------------------------

_WORD = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_TOKEN = re.compile(rb"[\w-]{1,512}+")

_VENDORS = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        ("github-token", rb"gh[opusr]_[0-9A-Za-z]{30,}"),
        ("github-fine-grained-token", rb"github_pat_[0-9A-Za-z_]{22,}"),
        ("gitlab-token", rb"gl(?:pat|ptt|dt|rt|cbt|ft|imt|agent|oas)-[\w-]{20,}"),
        ("stripe-key", rb"[srp]k_(?:live|test)_[0-9A-Za-z]{16,}"),
        ("npm-token", rb"npm_[0-9A-Za-z]{30,}"),
        ("slack-token", rb"xox[abeoprs]-[\w-]{16,}|xapp-[\w-]{16,}"),
        ("anthropic-key", rb"sk-ant-[\w-]{16,}"),
        ("openai-key", rb"sk-(?:proj|svcacct|admin)-[\w-]{16,}|sk-[0-9A-Za-z]{32,}"),
        ("pypi-token", rb"pypi-[\w-]{32,}"),
        ("huggingface-token", rb"hf_[0-9A-Za-z]{30,}"),
        ("google-oauth-secret", rb"GOCSPX-[\w-]{20,}"),
        ("digitalocean-token", rb"do[oprt]_v1_[0-9a-f]{32,}"),
        ("shopify-token", rb"shp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32,}"),
        ("docker-token", rb"dckr_(?:pat|oat)_[\w-]{20,}"),
        ("webhook-secret", rb"whsec_[0-9A-Za-z]{24,}"),
        ("rubygems-key", rb"rubygems_[0-9a-f]{40,}"),
        ("linear-key", rb"lin_api_[0-9A-Za-z]{32,}"),
        ("supabase-key", rb"sbp_[0-9a-f]{32,}"),
        ("groq-key", rb"gsk_[0-9A-Za-z]{32,}"),
        ("mailgun-key", rb"key-[0-9a-f]{32}"),
        ("postman-key", rb"PMAK-[\w-]{40,}"),
        ("nvidia-key", rb"nvapi-[\w-]{40,}"),
        ("age-key", rb"AGE-SECRET-KEY-1[0-9A-Z]{40,}"),
    )
)
_UNDERSCORE = re.compile(rb"_[0-9A-Za-z]{16}")
_DASH = re.compile(rb"-[0-9A-Za-z][\w-]{15}")
_CAPITAL_A = re.compile(rb"A(?:[KS]IA[0-9A-Z]{16}(?![0-9A-Za-z])|Iza[\w-]{35})")
_JWT_BODY = re.compile(rb"\.eyJ[\w-]{8,8192}+(?:\.[\w-]{0,4096}+)?")
_CAPITAL_G = re.compile(rb"G\.[\w-]{16,64}+\.[\w-]{16,64}+")
_ADDRESS = re.compile(
    rb"://(?:hooks\.slack\.com/(?:services|workflows|triggers)/(?P<slack>[\w/-]{16,200}+)"
    rb"|(?:\w{1,10}\.)?discord(?:app)?\.com/api/webhooks/(?P<discord>\d{1,30}/[\w-]{16,200}+)"
    rb"|(?P<user>[^\s/:@\"'<>`]{0,64}+):(?P<word>[^\s/@\"'<>`]{1,200}+)@(?P<host>[^\s/:?#\"'<>`,;)]{0,100}+))"
)
_PEM = re.compile(rb"PRIVATE KEY(?: BLOCK)?-----")
_PEM_GAP = re.compile(
    rb"(?>(?>\\[nrt]|[\s\"'`+,;#*>|/\\()]|(?:Proc-Type|DEK-Info|Comment|Version):[^\r\n\\]{0,100}+){0,200}+)"
    rb"[A-Za-z0-9+/=]{16,}"
)
_NETRC = re.compile(
    rb"machine[ \t]{1,8}\S{1,200}+\s{1,8}login[ \t]{1,8}\S{1,200}+\s{1,8}password[ \t]{1,8}(\S{1,200}+)"
)
_DATABASES = frozenset(
    b"postgres postgresql psql mysql mariadb mongodb mongo redis rediss amqp amqps mssql sqlserver oracle"
    b" clickhouse cockroachdb couchdb cassandra neo4j bolt influxdb kafka nats ldap ldaps jdbc snowflake"
    b" redshift cql memcached rabbitmq smb".split()
)


class _File(NamedTuple):
    """What the rules know of a file besides its bytes."""

    data: bytes
    language: str
    lenient: bool


def _matches(expression: re.Pattern[bytes], literal: bytes, data: bytes) -> Iterator[re.Match[bytes]]:
    """Matches of an expression at each occurrence of the literal that it starts with."""
    at = data.find(literal)
    while at >= 0:
        if found := expression.match(data, at):
            yield found
        at = data.find(literal, at + len(literal))


def _token_around(data: bytes, at: int) -> tuple[int, bytes]:
    """(start, token) of the run of word characters and dashes around an offset, 128 bytes back at most."""
    window = data[max(0, at - 128) : at]
    start = at - len(window) + len(window.rstrip(_WORD))
    found = _TOKEN.match(data, start)
    return start, found[0] if found else b""


def _vendor_tokens(data: bytes) -> Iterator[Span]:
    end = 0
    for expression in (_UNDERSCORE, _DASH):
        end = 0
        for hit in expression.finditer(data):
            if hit.start() < end:
                continue
            start, token = _token_around(data, hit.start())
            end = start + len(token)
            yield from _vendor(start, token)


def _vendor(start: int, token: bytes) -> Iterator[Span]:
    """The vendor's token in a run of word characters; it may follow another word, as in ``KEY_ghp_…``."""
    for name, pattern in _VENDORS:
        found = pattern.search(token)
        if found and (found.start() == 0 or token[found.start() - 1] in b"-_"):
            yield Span(start + found.start(), start + found.end(), name)
            return


def _fixed_tokens(data: bytes) -> Iterator[Span]:
    for hit in _CAPITAL_A.finditer(data):
        if not data[hit.start() - 1 : hit.start()].isalnum() or hit.start() == 0:
            yield Span(
                *hit.span(), "google-api-key" if data[hit.start() + 1 : hit.start() + 2] == b"I" else "aws-access-key"
            )
    for hit in _CAPITAL_G.finditer(data):
        if data[hit.start() - 1 : hit.start()] == b"S":
            yield Span(hit.start() - 1, hit.end(), "sendgrid-key")
    for hit in _matches(_JWT_BODY, b".eyJ", data):
        head = data[max(0, hit.start() - 4096) : hit.start()]
        size = len(head) - len(head.rstrip(_WORD))
        if size >= 12 and data.startswith(b"eyJ", hit.start() - size):
            yield Span(hit.start() - size, hit.end(), "jwt")


def _private_keys(data: bytes) -> Iterator[Span]:
    for hit in _PEM.finditer(data):
        opening = data.rfind(b"-----BEGIN ", max(0, hit.start() - 48), hit.start())
        body = _PEM_GAP.match(data, hit.end()) if opening >= 0 else None
        if body and b"\n" not in data[opening : hit.end()]:
            closing = data.find(b"-----END", body.end())
            yield Span(opening, closing if closing >= 0 else len(data), "private-key")


def _addresses(file: _File) -> Iterator[tuple[bool, Span]]:
    """(strong?, span) of webhooks and of addresses with a password in them."""
    for hit in _matches(_ADDRESS, b"://", file.data):
        if hit["slack"] or hit["discord"]:
            group = "slack" if hit["slack"] else "discord"
            yield hit[group].count(b"/") > 0, Span(*hit.span(group), f"{group}-webhook")
        elif not _templated(hit["word"]):
            scheme = _token_around(file.data, hit.start())[1].lower().partition(b"-")[0] if hit.start() else b""
            before = file.data[max(0, hit.start() - 16) : hit.start()].lower()
            scheme = re.split(rb"[^a-z0-9]", before)[-1] or scheme
            weak = _is_placeholder(hit["word"]) or (hit["word"] == hit["user"] and not _remote(hit["host"]))
            database = scheme in _DATABASES or before.rpartition(b"+")[0].rpartition(b"\n")[2].endswith(
                tuple(_DATABASES)
            )
            yield database and not weak, Span(*hit.span("word"), "connection-url")


def _remote(host: bytes) -> bool:
    return b"." in host and not host.startswith((b"127.", b"0.0.0.0"))


# -- heuristics ------------------------------------------------------------------------------------------

_NO_ASSIGNMENTS = frozenset(("css", "scss", "less", "gettext", "gitignore"))
"""Languages that assign nothing to a key; looking there finds ``[type=password]:focus``."""
_TAIL = rb"(?:s|_?\d{1,2}|_?value)?[\\\"'\])]{0,4}(?: string)?[ \t]{0,8}(?P<sep>=>|:=|==?|::?|>)"
_KEYS = tuple(
    (word, offset, re.compile(tail + _TAIL))
    for word, offset, tail in (
        (b"pass", 0, rb"pass(?:word|wd|phrase|code|wort)?"),
        (b"secret", 2, rb"cret(?:[_-]?(?:access[_-]?)?key|[_-]?token)?"),
        (b"token", 2, rb"ken"),
        (b"key", 0, rb"key"),
        (b"pwd", 0, rb"pwd"),
    )
)
"""(word, where in it the search starts, expression from there on): a rare start is found fastest."""
_AUTHORIZATION = re.compile(
    rb"authorization[\\\"']{0,3}[ \t]{0,4}[:=,][ \t]{0,4}[\\\"'`]{0,3}(?:bearer|basic|token)[ ]{1,4}"
)
_HEADER_VALUE = re.compile(rb"[\w.~+/=-]{8,4096}+")
_KEY_OF = frozenset(
    b"api access auth private encryption encrypt signing sign account storage shared master client service app"
    b" application deploy license webhook hmac jwt admin cipher aes crypto ssh subscription integration rest secret".split()
)
_QUOTED = re.compile(
    rb"[ \t]{0,8}[rRbBuUfF@$]{0,2}\\{0,2}(?:(?>\"\"\"|\")([^\"\r\n]{1,512}+)\""
    rb"|(?>'''|')([^'\r\n]{1,512}+)'|`([^`\r\n]{1,512}+)`)"
)
_TYPED = re.compile(rb"[ \t]{0,4}[\w\[\]&<>., |?'*]{1,48}=(?!=)")
_BARE = re.compile(rb"[ \t]{0,8}([^\s\"'`#;,<>{}()\[\]|]{3,512}+)[ \t]*(?=[\r\n#;,\"]|\Z)")
_CONNECTION = re.compile(rb"([^;\s\"'<>(){}]{3,128}+);")
_ELEMENT = re.compile(rb"([^<>\s]{3,512}+)</")
_BARE_LANGUAGES = frozenset(("bash", "fish", "powershell"))

_PLACEHOLDERS = frozenset(
    b"password passwd passwort pass secret secrets token key apikey none null nil true false undefined string str text"
    b" test testing tests example placeholder dummy sample todo tbd redacted hidden masked optional required default"
    b" value user username pw pwd word foo bar baz passphrase empty disabled enabled yes no env vault required".split()
)
_YOURS = re.compile(
    rb"^(?:your|my|the|some|an?|insert|enter|put)[_ -]?.{0,24}(?:password|passwd|pass|secret|token|key|here)\b",
    re.IGNORECASE,
)
_WORDS_ONLY = re.compile(rb"[_\-.:/ ]*+[a-z]+(?:[_\-.:/ ]+[a-z]+)*+[_\-.:/ ]*", re.IGNORECASE)
_EXAMPLE = re.compile(
    rb"example|placeholder|your|dummy|sample|redacted|xxxx|\*\*\*\*|\.\.\.|0{8}|eyJzdWIiOiIxMjM0NTY3ODkwIi",
    re.IGNORECASE,
)


def _templated(value: bytes) -> bool:
    """Is the value filled in later, from the environment, a vault or a template?"""
    return value[:1] in b"$%{<[!&*@(:" or any(
        mark in value for mark in (b"${", b"{{", b"#{", b"%(", b"$(", b"<%", b"%s", b"{}", b"://")
    )


def _is_placeholder(value: bytes) -> bool:
    plain = value.strip(b"-_.*<> \t").lower()
    if plain in _PLACEHOLDERS or not plain or _YOURS.match(value):
        return True
    return len(set(plain)) == 1 and plain[:1] in b"x*.-0?"


def _random_looking(value: bytes) -> bool:
    """Eight characters or more that are not merely words: letters with digits, or a long run of mixed case."""
    if len(value) < 8 or (_WORDS_ONLY.fullmatch(value) and not (len(value) >= 20 and value.isalnum())):
        return False
    letters = any(65 <= (byte & 0xDF) <= 90 for byte in value)
    return (letters and any(48 <= byte <= 57 for byte in value)) or (len(value) >= 16 and len(set(value)) >= 5)


def _is_value(kind: bytes, value: bytes) -> bool:
    """Is this literal, assigned to a key that ends in ``kind``, a credential? Passwords may be words, tokens and keys
    may not.
    """
    if _templated(value) or _is_placeholder(value) or b" " in value.strip():
        return False
    if kind in (b"pass", b"pwd", b"secret"):
        return (
            len(value) >= 3
            and not (b"_" in value and _WORDS_ONLY.fullmatch(value))
            and not value.endswith((b".html", b".txt"))
        )
    return _random_looking(value)


def _assignments(file: _File, lower: bytes) -> Iterator[Span]:
    """Values given to keys that are named like credentials."""
    for word, offset, expression in _KEYS:
        for hit in expression.finditer(lower):
            at, separator = hit.start() - offset, hit["sep"]
            if separator in (b"==", b"::") or (offset and not lower.startswith(word, max(at, 0))):
                continue
            if not _names_credential(file.data, lower, at, word, hit[0]):
                continue
            if separator == b">" and not lower[max(0, at - 48) : at].rstrip(_TAG).endswith(b"<"):
                continue
            found = _value_after(file, hit.end(), separator, _in_connection_string(file.data, at))
            if found and _is_value(word, file.data[slice(*found)].rstrip(b"\\")):
                yield Span(*found, f"assigned-{_RULES[word]}")


_LETTERS = b"abcdefghijklmnopqrstuvwxyz0123456789"
_TAG = _LETTERS + b"_.:-"
_RULES = {b"pass": "password", b"pwd": "password", b"secret": "secret", b"token": "token", b"key": "key"}


def _names_credential(data: bytes, lower: bytes, at: int, word: bytes, key: bytes) -> bool:
    """Is the word at ``at`` the last part of a key, and not the end of another word (bypass, monkey)?"""
    if word == b"key":
        before = lower[max(0, at - 24) : at].rstrip(b"_.-")
        owner = before[len(before.rstrip(_LETTERS)) :]
        return owner in _KEY_OF or owner.endswith((b"api", b"secret", b"access", b"private"))
    inside = lower[max(0, at - 1) : at].isalpha() and not data[at : at + 1].isupper()
    return not inside or word in (b"secret", b"token") or key.startswith((b"passw", b"passphrase"))


def _in_connection_string(data: bytes, at: int) -> bool:
    """Does a capitalised key (``Password=``, ``AccountKey=``) begin a string, or follow a semicolon?"""
    before = data[max(0, at - 48) : at]
    key = before[len(before.rstrip(_WORD)) :] or data[at : at + 1]
    return key[:1].isupper() and before.rstrip(_WORD).rstrip(b" ")[-1:] in (b";", b'"', b"'")


def _value_after(file: _File, at: int, separator: bytes, connection: bool) -> tuple[int, int] | None:
    data = file.data
    if separator == b">":
        return found.span(1) if (found := _ELEMENT.match(data, at)) else None
    found = _QUOTED.match(data, at)
    if found is None and separator == b":" and (typed := _TYPED.match(data, at)):
        found = _QUOTED.match(data, typed.end())
    if found:
        group = found.lastindex or 1
        return found.span(group)
    if separator in (b"=", b":") and (file.language not in CODE or file.language in _BARE_LANGUAGES):
        found = _BARE.match(data, at)
        if found and not (file.language in PROSE | {TEXT} and _WORDS_ONLY.fullmatch(found[1])):
            return found.span(1)
    found = _CONNECTION.match(data, at) if separator == b"=" and connection else None
    return found.span(1) if found else None


def _headers(file: _File, lower: bytes) -> Iterator[Span]:
    for hit in _matches(_AUTHORIZATION, b"authorization", lower):
        value = _HEADER_VALUE.match(file.data, hit.end())
        if value and not _is_placeholder(value[0]) and _random_looking(value[0]):
            yield Span(*value.span(), "authorization-header")


# -- the whole -------------------------------------------------------------------------------------------


def classify(path: str, data: bytes) -> Gate:
    """Gate of a file. ``data`` is its text as ``content.normalise`` gives it; offsets of spans count in it."""
    if rule := path_rule(path):
        return Gate(True, rule)
    language = language_of(path, data[:128])
    file = _File(data, language, bool(_LENIENT.search(path)) or language in PROSE)
    spans: list[Span] = []
    for strong, span in _findings(file):
        if strong and not (file.lenient and _EXAMPLE.search(data, span.start, span.end)):
            return Gate(True, span.rule)
        spans.append(span)
        if len(spans) > MAX_SPANS:
            return Gate(True, "many-values")
    return Gate(spans=_merged(spans)) if spans else OPEN


def _findings(file: _File) -> Iterator[tuple[bool, Span]]:
    """(strong?, span) of everything found, strong rules first."""
    for strong in (_private_keys(file.data), _fixed_tokens(file.data), _vendor_tokens(file.data)):
        for span in strong:
            yield True, span
    yield from _addresses(file)
    if file.language not in CODE and b"machine" in file.data:
        for hit in _NETRC.finditer(file.data):
            yield not _is_placeholder(hit[1]), Span(*hit.span(1), "netrc")
    if file.language in _NO_ASSIGNMENTS:
        return
    lower = file.data.lower()
    for span in _assignments(file, lower):
        yield _is_key_material(file.data, span), span
    for span in _headers(file, lower):
        yield False, span


def _is_key_material(data: bytes, span: Span) -> bool:
    """Is the value one of the cloud providers' secret keys, known by the name before it and its exact length?"""
    before = data[max(0, span.start - 48) : span.start].lower()
    size = span.end - span.start
    return (size == 40 and b"aws" in before and b"secret" in before) or (size in (86, 88) and b"accountkey" in before)


def _merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    out: list[Span] = []
    for span in sorted(spans):
        if out and span.start < out[-1].end:
            out[-1] = Span(out[-1].start, max(out[-1].end, span.end), out[-1].rule)
        else:
            out.append(span)
    return tuple(out)


def redact(data: bytes, spans: Iterable[tuple[int, int, str]]) -> bytes:
    """``data`` with every span overwritten by ``x``, line breaks kept: same length, same lines, same offsets."""
    out = bytearray(data)
    for start, end, _ in spans:
        out[start:end] = re.sub(rb"[^\r\n]", b"x", data[start:end])
    return bytes(out)


def contains_secret(text: str) -> str | None:
    """Rule that finds a credential in a note, or None."""
    gate = classify("", text.encode("utf-8", "surrogatepass"))
    return gate.rule or (gate.spans[0].rule if gate.spans else None)


def keyed_digest(key: bytes, data: bytes) -> bytes:
    """HMAC-SHA256 (RFC 2104) of gated content, first 16 bytes: tells a change to the holder of ``key``, and nothing to
    anyone else.
    """
    return hmac.new(key, data, hashlib.sha256).digest()[:16]
