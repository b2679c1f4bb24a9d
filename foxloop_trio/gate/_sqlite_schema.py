"""The tables of the gate's SQLite file, and each row as the values of its columns and back.

Whatever comes back from a file is untrusted until it has been through the row's own validators: what is not a row of ours raises.
"""

from __future__ import annotations

import json
from typing import Any, Final

from ..actions import Money
from ._rows import ApprovalRow, Grant, Rule, SpendRow

SCHEMA_VERSION: Final = 1
"""`PRAGMA user_version` of the files that this module writes. It grows when a table changes its shape."""

APPLICATION_ID: Final = 0x666F7867
"""`PRAGMA application_id`: ``foxg``. Tells a gate's file from any other SQLite file."""

TABLES: Final = (
    "CREATE TABLE clock (one INTEGER PRIMARY KEY CHECK (one = 1), at REAL)",
    """CREATE TABLE grants (
        place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, scope TEXT NOT NULL, domains TEXT NOT NULL, tools TEXT,
        currency TEXT, spend_cap INTEGER, cap_per_act INTEGER, cap_per_run INTEGER, cap_per_site INTEGER, cap_per_day INTEGER,
        expires_at REAL, max_uses INTEGER, approval TEXT NOT NULL, rules INTEGER NOT NULL, created_at REAL NOT NULL,
        uses INTEGER NOT NULL CHECK (typeof(uses) = 'integer' AND uses >= 0),
        spent INTEGER NOT NULL CHECK (typeof(spent) = 'integer' AND spent >= 0))""",
    """CREATE TABLE covered (
        scope TEXT NOT NULL, domain TEXT NOT NULL, grant_id TEXT NOT NULL, PRIMARY KEY (scope, domain, grant_id)) WITHOUT ROWID""",
    "CREATE INDEX covered_by ON covered (grant_id)",
    """CREATE TABLE requests (
        place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, grant_id TEXT NOT NULL, text TEXT NOT NULL,
        digest TEXT NOT NULL, created_at REAL NOT NULL, expires_at REAL NOT NULL, status TEXT NOT NULL, nonce TEXT)""",
    "CREATE INDEX requests_about ON requests (digest)",
    "CREATE INDEX requests_status ON requests (status)",
    "CREATE INDEX requests_expire ON requests (expires_at)",
    """CREATE TABLE spends (
        place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, grant_id TEXT NOT NULL,
        value INTEGER NOT NULL CHECK (typeof(value) = 'integer' AND value >= 0),
        currency TEXT NOT NULL, host TEXT NOT NULL, at REAL NOT NULL, day INTEGER NOT NULL, run TEXT NOT NULL,
        status TEXT NOT NULL)""",
    "CREATE INDEX spends_of_day ON spends (grant_id, day, value)",
    "CREATE INDEX spends_of_run ON spends (grant_id, run, value)",
    "CREATE INDEX spends_of_site ON spends (grant_id, host, value)",
    """CREATE TABLE rules (
        place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, created_at REAL NOT NULL, site TEXT NOT NULL,
        scope TEXT NOT NULL, tool TEXT, effect TEXT NOT NULL, expires_at REAL)""",
)

GRANT_COLUMNS: Final = (
    "id, scope, domains, tools, currency, spend_cap, cap_per_act, cap_per_run, cap_per_site, cap_per_day, expires_at, max_uses,"
    " approval, rules, created_at, uses, spent"
)
REQUEST_COLUMNS: Final = "id, grant_id, text, digest, created_at, expires_at, status, nonce"
SPEND_COLUMNS: Final = "id, grant_id, value, currency, host, at, day, run, status"
RULE_COLUMNS: Final = "id, created_at, site, scope, tool, effect, expires_at"

Values = tuple[Any, ...]


def upsert(table: str, columns: str) -> str:
    """The statement that adds a row, or replaces the one with its id where it stands."""
    names = columns.split(", ")
    assigned = ", ".join(f"{name} = excluded.{name}" for name in names[1:])
    marks = ", ".join("?" for _ in names)
    return f"INSERT INTO {table} ({columns}) VALUES ({marks}) ON CONFLICT (id) DO UPDATE SET {assigned}"


def grant_values(grant: Grant) -> Values:
    caps = (grant.spend_cap, grant.cap_per_act, grant.cap_per_run, grant.cap_per_site, grant.cap_per_day)
    currency = next((cap.currency for cap in caps if cap is not None), None)
    if any(cap is not None and cap.currency != currency for cap in caps):
        raise ValueError("the caps of a grant must be in one currency")
    return (
        grant.id,
        grant.scope,
        json.dumps(grant.domains),
        None if grant.tools is None else json.dumps(grant.tools),
        currency,
        *(None if cap is None else cap.value for cap in caps),
        grant.expires_at,
        grant.max_uses,
        grant.approval,
        int(grant.rules),
        grant.created_at,
        grant.uses,
        grant.spent,
    )


def grant_from(values: Values) -> Grant:
    id_, scope, domains, tools, currency, spend_cap, per_act, per_run, per_site, per_day, *rest = values
    expires_at, max_uses, approval, rules, created_at, uses, spent = rest
    if rules not in (0, 1):
        raise ValueError("a grant's rules must be 0 or 1")

    def cap(value: Any) -> Money | None:
        return None if value is None else Money(value=value, currency=currency)

    return Grant(
        id=id_,
        scope=scope,
        domains=_names(domains),
        tools=None if tools is None else _names(tools),
        spend_cap=cap(spend_cap),
        cap_per_act=cap(per_act),
        cap_per_run=cap(per_run),
        cap_per_site=cap(per_site),
        cap_per_day=cap(per_day),
        expires_at=expires_at,
        max_uses=max_uses,
        approval=approval,
        rules=bool(rules),
        created_at=created_at,
        uses=uses,
        spent=spent,
    )


def _names(text: str) -> tuple[str, ...]:
    names = json.loads(text)
    if type(names) is not list or not all(type(name) is str for name in names):
        raise TypeError("a list of names is not one")
    return tuple(names)


def request_values(row: ApprovalRow) -> Values:
    return (row.id, row.grant_id, row.text, row.digest, row.created_at, row.expires_at, row.status, row.nonce)


def request_from(values: Values) -> ApprovalRow:
    id_, grant_id, text, digest, created_at, expires_at, status, nonce = values
    return ApprovalRow(
        id=id_,
        grant_id=grant_id,
        text=text,
        digest=digest,
        created_at=created_at,
        expires_at=expires_at,
        status=status,
        nonce=nonce,
    )


def spend_values(row: SpendRow) -> Values:
    return (row.id, row.grant_id, row.amount.value, row.amount.currency, row.host, row.at, row.day, row.run, row.status)


def spend_from(values: Values) -> SpendRow:
    id_, grant_id, value, currency, host, at, day, run, status = values
    amount = Money(value=value, currency=currency)
    return SpendRow(id=id_, grant_id=grant_id, amount=amount, host=host, at=at, day=day, run=run, status=status)


def rule_values(rule: Rule) -> Values:
    return (rule.id, rule.created_at, rule.site, rule.scope, rule.tool, rule.effect, rule.expires_at)


def rule_from(values: Values) -> Rule:
    id_, created_at, site, scope, tool, effect, expires_at = values
    return Rule(id=id_, created_at=created_at, site=site, scope=scope, tool=tool, effect=effect, expires_at=expires_at)
