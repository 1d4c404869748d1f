"""Names and the mentions that mean them, or mean something else: the labelled set the resolver is judged by.

Who calls: ``benchmarks.walks`` and the resolver's tests. What may not come in: anything but data and its arithmetic.
Every name of ``NAMES`` is known at once, so a mention can also be merged with the wrong neighbour. Labels were given by
hand and say what a reader would say, but that an acronym alone means nothing; none was changed to suit a resolver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

NAMES = (
    # products and parts of systems
    "Payment Gateway", "authentication", "Retrieval Service", "HNSW index", "pgvector", "Rate Limiter",
    "Order Book", "Kubernetes", "PostgreSQL", "Node.js", "C++", "C#", "GitHub Actions", "Visual Studio Code",
    "Log Aggregator", "Data Lake", "Content Delivery Network", "User Group", "Index Builder", "Cache Warmer",
    "Message Queue", "Colour Picker", "Licence Server", "Optimisation Engine", "Query Planner", "Status Page",
    "Search Index", "Access Control", "Windows",
    # companies
    "Acme Corporation", "Globex GmbH", "Initech, Inc.", "株式会社トヨタ", "ООО Ромашка",
    # people and places
    "Anna Müller", "Jörg Schäfer", "Zürich", "Straßenbahn", "Tromsø", "José García", "O'Brien",
    # versions and numbers
    "Python 3.11", "Python 3.12", "HTTP/2", "UTF-8", "TLS 1.3", "Shard 7", "Shard 17", "RFC 9162", "Team A",
    "Team B", "Rack 1 Slot 2",
    # code
    "UserService", "UserService.get_user", "verify_token", "src/auth/mw.py", "src/auth/mw_test.py", "MAX_RETRIES",
    "__init__", "init", "HTTPServer", "parse_json", "json_parse", "UserGroup.members",
    # Cyrillic
    "Платёжный шлюз", "Служба поиска", "Очередь сообщений", "Киев",
    # Japanese and Chinese
    "支払いゲートウェイ", "データベースサーバー", "検索サービス", "東京", "京都", "支付网关", "数据库",
    # Greek
    "Αθήνα",
)  # fmt: skip

# mention → the name it means, "" for none of them
PAIRS: tuple[tuple[str, str], ...] = (
    # the four traps, and their like
    ("Payment Gateway Tests", ""), ("payment gateway timeout bug 4411", ""), ("authentication tests", ""),
    ("PG", ""), ("Payment Gateway v2", ""), ("Payment", ""), ("Gateway", ""), ("payment gateway owner", ""),
    ("the Payment", ""), ("authentication service", ""), ("authentication failure", ""), ("authorization", ""),
    ("RS", ""), ("RL", ""), ("CDN", ""), ("Retrieval", ""), ("Retrieval Service outage", ""),
    ("Retrieval Service API", ""), ("HNSW", ""), ("IVFFlat index", ""), ("index", ""), ("Rate", ""),
    ("Limiter", ""), ("Order", ""), ("Order Books Inc. review", ""), ("Kubernetes cluster", ""),
    ("PostgreSQL driver", ""), ("MySQL", ""), ("Node", ""), ("C", ""), ("GitHub", ""), ("Visual Studio", ""),
    ("Data Pond", ""), ("User Groups admin", ""), ("Index Building", ""), ("Message Bus", ""),
    ("Search Indexer", ""), ("Access Controller", ""), ("Query Plan", ""), ("Status", ""), ("window", ""),
    ("group user", ""), ("Rate Limiting", ""),
    # English spellings
    ("payment gateway", "Payment Gateway"), ("Payment-Gateway", "Payment Gateway"),
    ("PaymentGateway", "Payment Gateway"), ("payment_gateway", "Payment Gateway"),
    ("the Payment Gateway", "Payment Gateway"), ("Payment Gateways", "Payment Gateway"),
    ("PAYMENT GATEWAY", "Payment Gateway"), ("Payment Gateway's", "Payment Gateway"),
    ("Gateway, Payment", "Payment Gateway"), ("Authentication", "authentication"),
    ("our authentication", "authentication"), ("retrieval services", "Retrieval Service"),
    ("RetrievalService", "Retrieval Service"), ("HNSW indexes", "HNSW index"), ("HNSW indices", "HNSW index"),
    ("hnsw-index", "HNSW index"), ("PG Vector", "pgvector"), ("PgVector", "pgvector"), ("pg-vector", "pgvector"),
    ("rate limiters", "Rate Limiter"), ("RateLimiter", "Rate Limiter"), ("order books", "Order Book"),
    ("Orderbook", "Order Book"), ("kubernetes", "Kubernetes"), ("Postgre SQL", "PostgreSQL"), ("NodeJS", "Node.js"),
    ("node js", "Node.js"), ("c++", "C++"), ("c#", "C#"), ("Github actions", "GitHub Actions"),
    ("VisualStudioCode", "Visual Studio Code"), ("log aggregators", "Log Aggregator"), ("datalake", "Data Lake"),
    ("Data Lakes", "Data Lake"), ("content-delivery network", "Content Delivery Network"),
    ("user groups", "User Group"), ("Index Builders", "Index Builder"), ("cache-warmer", "Cache Warmer"),
    ("MessageQueue", "Message Queue"), ("message queues", "Message Queue"), ("Color Picker", "Colour Picker"),
    ("color pickers", "Colour Picker"), ("License Server", "Licence Server"),
    ("Optimization Engine", "Optimisation Engine"), ("query planners", "Query Planner"),
    ("Status Pages", "Status Page"), ("search indices", "Search Index"), ("Access-Control", "Access Control"),
    ("Ｐａｙｍｅｎｔ Ｇａｔｅｗａｙ", "Payment Gateway"),
    # companies
    ("Acme", "Acme Corporation"), ("Acme Corp.", "Acme Corporation"), ("ACME Inc.", "Acme Corporation"),
    ("Acme Rockets", ""), ("Globex", "Globex GmbH"), ("globex gmbh", "Globex GmbH"), ("Globex Labs", ""),
    ("Initech", "Initech, Inc."), ("Initech LLC", "Initech, Inc."), ("トヨタ", "株式会社トヨタ"),
    ("Ромашка", "ООО Ромашка"), ("トヨタ自動車", ""), ("Ромашка Плюс", ""),
    # people and places, umlauts and accents
    ("Anna Mueller", "Anna Müller"), ("Müller, Anna", "Anna Müller"), ("anna müller", "Anna Müller"), ("Anna", ""),
    ("Hanna Müller", ""), ("Anna Maler", ""), ("Joerg Schaefer", "Jörg Schäfer"), ("Jorg Schafer", "Jörg Schäfer"),
    ("Schäfer", ""), ("Zuerich", "Zürich"), ("Zurich", "Zürich"), ("Zürich Nord", ""),
    ("Strassenbahn", "Straßenbahn"), ("Strassenbahnen", "Straßenbahn"), ("Tromso", "Tromsø"),
    ("Jose Garcia", "José García"), ("José", ""), ("O’Brien", "O'Brien"), ("OBrien", "O'Brien"), ("Brien", ""),
    # versions and numbers
    ("Python 3.13", ""), ("Python", ""), ("Python 3.1", ""), ("Python 31.1", ""), ("Python v3.11", "Python 3.11"),
    ("python3.12", "Python 3.12"), ("Python-3.11", "Python 3.11"), ("HTTP/3", ""), ("HTTP 2", "HTTP/2"),
    ("HTTP2", "HTTP/2"), ("UTF8", "UTF-8"), ("utf-16", ""), ("TLS 1.2", ""), ("TLS v1.3", "TLS 1.3"),
    ("TLS 13", ""), ("shard-7", "Shard 7"), ("Shard 17", "Shard 17"), ("Shard 71", ""), ("Shards 7", "Shard 7"),
    ("RFC9162", "RFC 9162"), ("RFC 6962", ""), ("team a", "Team A"), ("Team C", ""), ("Team", ""),
    ("Rack 2 Slot 1", ""), ("rack-1 slot-2", "Rack 1 Slot 2"),
    # code
    ("user_service", "UserService"), ("user service", "UserService"), ("UserService()", "UserService"),
    ("UserService.get_user()", "UserService.get_user"), ("UserService::get_user", "UserService.get_user"),
    ("get_user", ""), ("UserService.get_users_by_id", ""), ("UserServiceTest", ""), ("GroupUser", ""),
    ("verifyToken", "verify_token"), ("verify_token()", "verify_token"), ("VerifyToken", "verify_token"),
    ("token_verify", ""), ("verify_tokens_batch", ""), ("src/auth/mw.py", "src/auth/mw.py"), ("mw.py", ""),
    ("src/auth/mw_test.py", "src/auth/mw_test.py"), ("src\\auth\\mw.py", "src/auth/mw.py"),
    ("max_retries", "MAX_RETRIES"), ("maxRetries", "MAX_RETRIES"), ("max_retry_delay", ""),
    ("__init__", "__init__"), ("init", "init"), ("HttpServer", "HTTPServer"), ("http_server", "HTTPServer"),
    ("HTTPServer2", ""), ("parseJson", "parse_json"), ("parseJSON", "parse_json"), ("jsonParse", "json_parse"),
    ("GroupUser.members", ""),
    # Cyrillic
    ("платёжный шлюз", "Платёжный шлюз"), ("Платежный шлюз", "Платёжный шлюз"),
    ("платёжного шлюза", "Платёжный шлюз"), ("платёжные шлюзы", "Платёжный шлюз"), ("шлюз", ""),
    ("тесты платёжного шлюза", ""), ("службы поиска", "Служба поиска"), ("служба доставки", ""),
    ("очередь сообщений", "Очередь сообщений"), ("очереди сообщений", "Очередь сообщений"), ("киев", "Киев"),
    ("Киевская область", ""), ("ПШ", ""),
    # Japanese and Chinese
    ("支払い・ゲートウェイ", "支払いゲートウェイ"), ("支払いｹﾞｰﾄｳｪｲ", "支払いゲートウェイ"),
    ("支払いゲートウェイテスト", ""), ("ゲートウェイ", ""), ("データベースサーバ", "データベースサーバー"),
    ("データベース・サーバー", "データベースサーバー"), ("データベース", ""), ("検索サービス", "検索サービス"),
    ("検索サービス障害", ""), ("東京都", ""), ("東京", "東京"), ("京都", "京都"), ("支付网关", "支付网关"),
    ("支付网关测试", ""), ("支付 网关", "支付网关"), ("数据库", "数据库"), ("数据库备份", ""),
    # Greek
    ("ΑΘΗΝΑ", "Αθήνα"), ("Αθηνα", "Αθήνα"),
    # nothing alike
    ("Mars", ""), ("quarterly report", ""), ("зебра", ""), ("猫", ""),
)  # fmt: skip
TRAPS = PAIRS[:4]


@dataclass(frozen=True, slots=True)
class Merging:
    """What a resolver did with the set.

    Attributes:
        merged: mentions it resolved. right: of those, to the name meant. wrong: (mention, name taken, name meant).
        missed: (mention, name meant) that it did not resolve. wanted: mentions that mean a name.
    """

    merged: int
    right: int
    wrong: tuple[tuple[str, str, str], ...]
    missed: tuple[tuple[str, str], ...]
    wanted: int

    @property
    def precision(self) -> float:
        """Share of its merges that are right; 1 when it made none."""
        return self.right / self.merged if self.merged else 1.0

    @property
    def recall(self) -> float:
        """Share of the merges wanted that it made rightly."""
        return self.right / self.wanted


def judge(resolve: Callable[[str], str], pairs: Iterable[tuple[str, str]] = PAIRS) -> Merging:
    """Score ``resolve``: mention → label of the entity it takes, "" for none."""
    rows = [(mention, resolve(mention), meant) for mention, meant in pairs]
    merged = [row for row in rows if row[1]]
    return Merging(
        merged=len(merged),
        right=sum(taken == meant for _, taken, meant in merged),
        wrong=tuple(row for row in merged if row[1] != row[2]),
        missed=tuple((mention, meant) for mention, taken, meant in rows if meant and not taken),
        wanted=sum(bool(meant) for _, _, meant in rows),
    )
