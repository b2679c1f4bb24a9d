"""Nothing near a token or an action is as good as the thing itself: seeded mutations, each beside twins that are accepted.

For each mutation a fresh token is made, the mutated thing is refused, and then the unmutated one, or its twin with other key order,
other spellings of the same numbers and of the same host, is accepted. A token that a changed action has spent gets a new one.
"""

from __future__ import annotations

import base64
import json
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from foxloop_trio.actions import Action, Money
from foxloop_trio.gate import GateKey
from foxloop_trio.gate._tokens import Token, read_token, sign_token

LOOKALIKE = {"a": "\u0430", "e": "\u0435", "o": "\u043e", "p": "\u0440", "c": "\u0441", "l": "\u04cf", "n": "\u0578", "i": "\u0456"}
"""Latin letters and the Cyrillic or Armenian ones that look like them."""

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."
DOMAIN = "place.notes.local"
KEY, OTHER_KEY = GateKey(b"k" * 32), GateKey(b"o" * 32)

Mutate = Callable[[Any, random.Random], Any]


# --- tokens ---------------------------------------------------------------------------------------------------------------------


def one_bit(token: str, rng: random.Random) -> str:
    at = rng.randrange(len(token))
    return token[:at] + chr(ord(token[at]) ^ (1 << rng.randrange(7))) + token[at + 1 :]


def one_bit_of_the_bytes(token: str, rng: random.Random) -> str:
    """Of what the base64 stands for, so that its text stays well formed."""
    head, *parts = token.split(".")
    which = rng.randrange(2)
    raw = bytearray(base64.urlsafe_b64decode(parts[which] + "=" * (-len(parts[which]) % 4)))
    raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
    parts[which] = base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
    return ".".join([head, *parts])


def cut(token: str, rng: random.Random) -> str:
    return token[: rng.randrange(len(token))]


def one_less(token: str, rng: random.Random) -> str:
    at = rng.randrange(len(token))
    return token[:at] + token[at + 1 :]


def one_more(token: str, rng: random.Random) -> str:
    at = rng.randrange(len(token) + 1)
    return token[:at] + rng.choice([*ALPHABET, "=", " ", "\n", "\x00", "\u200b"]) + token[at:]


def one_other(token: str, rng: random.Random) -> str:
    at = rng.choice([rng.randrange(len(token)), len(token) - 1])
    return token[:at] + rng.choice([char for char in ALPHABET if char != token[at]]) + token[at + 1 :]


def look_alike(token: str, rng: random.Random) -> str:
    """A letter from another script, a fullwidth one, or another alphabet of base64."""
    at = rng.choice([at for at, char in enumerate(token) if char in LOOKALIKE or char in "-_"])
    return (
        token[:at] + {"-": "+", "_": "/"}.get(token[at], LOOKALIKE.get(token[at], chr(ord(token[at]) + 0xFEE0))) + token[at + 1 :]
    )


def other_whole(token: str, rng: random.Random) -> str:
    changes = [
        " " + token,
        token.upper(),
        token.lower(),
        token.swapcase(),
        token + token,
        token.replace("fgt1", "fgt2"),
        token + "=",
    ]
    return rng.choice([one for one in changes if one != token])


def other_parts(token: str, rng: random.Random) -> str:
    head, payload, mac = token.split(".")
    return rng.choice(
        [
            f"{head}.{mac}.{payload}",
            f"{payload}.{mac}",
            f"{head}.{payload}.",
            f"{head}..{mac}",
            f".{payload}.{mac}",
            f"{head}.{payload}.{mac}.",
            f"{head}.{payload}.{mac}.{mac}",
        ]
    )


def one_field(token: str, rng: random.Random) -> str:
    """A field of the payload, under the old signature."""
    head, payload, mac = token.split(".")
    body = json.loads(base64.urlsafe_b64decode(payload + "=="))
    change = rng.choice(["v", "rid", "nonce", "exp", "dig", "more", "less", "order", "space"])
    if change == "more":
        body["x"] = 1
    elif change == "less":
        del body[rng.choice(list(body))]
    elif change == "order":
        body = dict(reversed(body.items()))
    elif change in ("v", "exp"):
        body[change] = rng.choice([body[change] + 1, str(body[change]), None, float(body[change]) + 0.5, -body[change]])
    elif change != "space":
        body[change] = rng.choice([body[change][::-1], body[change].upper() + "0", "", None, 5, [body[change]]])
    text = json.dumps(body, separators=(", ", ": ") if change == "space" else (",", ":"))
    return f"{head}.{base64.urlsafe_b64encode(text.encode()).rstrip(b'=').decode()}.{mac}"


def other_key(token: str, rng: random.Random) -> str:
    """All of it right, and signed by somebody else."""
    known = read_token(KEY, token)
    assert known is not None
    return sign_token(OTHER_KEY, known)


def never_approved(token: str, rng: random.Random) -> str:
    """Signed with the gate's own key, and nothing behind it."""
    known = read_token(KEY, token)
    assert known is not None
    fields = {"request_id": known.request_id, "nonce": known.nonce, "expires_at_ms": known.expires_at_ms, "digest": known.digest}
    name = rng.choice(["request_id", "nonce", "digest"])
    return sign_token(KEY, Token(**fields | {name: rng.randbytes(len(fields[name]) // 2).hex()}))


def no_text(token: str, rng: random.Random) -> Any:
    return rng.choice([None, True, 1, token.encode(), [token], {"token": token}, ("fgt1",)])


TOKEN_MUTATIONS: list[Mutate] = [
    one_bit,
    one_bit_of_the_bytes,
    cut,
    one_less,
    one_more,
    one_other,
    look_alike,
    other_whole,
    other_parts,
    one_field,
    other_key,
    never_approved,
    no_text,
]


# --- actions --------------------------------------------------------------------------------------------------------------------


def some_action(rng: random.Random) -> dict[str, Any]:
    args = {
        "text": "".join(rng.choice("abcdelnop \u00e9") for _ in range(6)) + "o",
        "count": rng.randrange(1, 1000),
        "half": rng.randrange(1, 99) + 0.5,
        "big": rng.choice([10**6, 10**15, 2**53 - 1, -(10**9)]),
        "target": {"tab": rng.randrange(9), "label": "Send", "list": [1, rng.randrange(2, 7), True]},
        "none": None,
        "no": False,
        "empty": "",
    }
    return {"tool": "buy", "args": args, "domain": DOMAIN, "scope": "pay"}


def with_args(action: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return action | {"args": action["args"] | changes}


def text_changed(action: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    text: str = action["args"]["text"]
    at = rng.randrange(len(text))
    changed = [
        text + rng.choice([" ", "\u200b", "!", "\u0301", "\u00ad", "\x00", "\n", "\ufe0f", "\u202e"]),
        " " + text,
        text.replace("o", LOOKALIKE["o"]),
        text.replace("o", "\uff4f"),
        text[:at] + chr(ord(text[at]) ^ (1 << rng.randrange(7))) + text[at + 1 :],
        text.upper(),
        text[:-1],
        text.replace("\u00e9", "e\u0301") + ("" if "\u00e9" in text else "\u00e9"),
    ]
    return with_args(action, text=rng.choice(changed))


def number_changed(action: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    name = rng.choice(["count", "half", "big"])
    value = action["args"][name]
    step = 1 if value < 0 else -1
    return with_args(action, **{name: rng.choice([value + step, -value, value / 2 + 0.25, value // 3 - 7])})


def type_changed(action: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    args = action["args"]
    count = args["count"]
    return with_args(
        action,
        **rng.choice(
            [
                {"count": str(count)},
                {"count": [count]},
                {"count": count != 1},
                {"count": None},
                {"no": rng.choice([0, 0.0, None, "", "false", [], {}])},
                {"none": rng.choice([False, 0, "", "null", [], {}])},
                {"empty": rng.choice([None, False, 0, [], {}])},
                {"text": [args["text"]]},
                {"target": list(args["target"].items())},
                {"target": json.dumps(args["target"])},
            ]
        ),
    )


def not_json(action: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    args = action["args"]
    return with_args(
        action,
        **rng.choice(
            [
                {"count": float("nan")},
                {"count": float("inf")},
                {"big": 2**53},
                {"text": args["text"].encode()},
                {"target": tuple(args["target"])},
                {"target": {1: 2}},
                {"text": object()},
            ]
        ),
    )


def inside_changed(action: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    target = action["args"]["target"]
    items = target["list"]
    return with_args(
        action,
        target=rng.choice(
            [
                target | {"tab": 99},
                target | {"label": "S\u0435nd"},
                target | {"more": None},
                {"tab": target["tab"], "list": items},
                target | {"list": items[::-1]},
                target | {"list": [1, items[1], 1]},
                target | {"list": [True, items[1], True]},
                target | {"list": [*items, None]},
                target | {"list": items[:2]},
                {"l\u0430bel" if key == "label" else key: value for key, value in target.items()},
            ]
        ),
    )


def key_changed(action: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    args = dict(action["args"])
    change = rng.choice(["less", "more", "name"])
    name = rng.choice([key for key in args if key != "count"])
    if change == "more":
        args[rng.choice(["extra", "", "__proto__", "Text"])] = None
    elif change == "less":
        del args[name]
    else:
        args[rng.choice([name.upper(), name + "\u200b", name + " ", name.replace("e", "\u0435") + "\u0435"])] = args.pop(name)
    return action | {"args": args}


def domain_look_alike(action: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    letter = rng.choice([char for char in DOMAIN if char in LOOKALIKE])
    return action | {"domain": DOMAIN.replace(letter, LOOKALIKE[letter], 1)}


def domain_other(action: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    return action | {
        "domain": rng.choice(
            ["x" + DOMAIN, f"{DOMAIN}.evil.net", f"www.{DOMAIN}", "notes.local", DOMAIN.replace(".", "-", 1), "127.0.0.1", "place"]
        )
    }


def domain_no_host(action: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    return action | {
        "domain": rng.choice(
            [
                f"https://{DOMAIN}",
                f"{DOMAIN}:443",
                f"{DOMAIN}/",
                f"user@{DOMAIN}",
                f"{DOMAIN}@evil.net",
                f"evil.net\\@{DOMAIN}",
                f"{DOMAIN}%2eevil.net",
                f" {DOMAIN}",
                f"{DOMAIN}\n",
                f"{DOMAIN}..",
                f".{DOMAIN}",
                f"*.{DOMAIN}",
                f"{DOMAIN}\uff0fevil.net",
                DOMAIN.replace(".", "..", 1),
                DOMAIN.replace(".", "\u2024", 1) + "\x00",
                "",
                "0x7f.1",
                "2130706433",
                "[::1]",
                None,
                DOMAIN.encode(),
                [DOMAIN],
            ]
        )
    }


def tool_changed(action: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    return action | {"tool": rng.choice(["order", "Buy", "buy ", "b\u0443y", "", None, "__class__", "send"])}


def scope_changed(action: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    return action | {"scope": rng.choice(["read", "fill", "submit", "Pay", "p\u0430y", "", None, ["pay"]])}


def amount_changed(action: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    cents = action["args"]["count"]
    return action | {
        "amount": rng.choice(
            [
                {"value": cents - 1, "currency": "EUR"},
                {"value": cents + 1, "currency": "EUR"},
                {"value": cents, "currency": "USD"},
                {"value": cents, "currency": "eur"},
                {"value": float(cents), "currency": "EUR"},
                {"value": str(cents), "currency": "EUR"},
                {"value": cents},
                {"value": cents, "currency": "EUR", "paid": True},
                cents,
                None,
            ]
        )
    }


def field_added(action: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    return action | {rng.choice(["grant_id", "approved", "token", "rule_id", "text"]): rng.choice([True, "x", None])}


def no_action(action: dict[str, Any], rng: random.Random) -> Any:
    less = dict(action)
    del less[rng.choice(list(less))]
    return rng.choice([None, [], "", json.dumps(action), list(action.items()), less])


ACTION_MUTATIONS: list[Mutate] = [
    text_changed,
    number_changed,
    type_changed,
    not_json,
    inside_changed,
    key_changed,
    domain_look_alike,
    domain_other,
    domain_no_host,
    tool_changed,
    scope_changed,
    amount_changed,
    field_added,
    no_action,
]


# --- twins ----------------------------------------------------------------------------------------------------------------------


def shuffled(value: Any, rng: random.Random) -> Any:
    """The same JSON with its keys in another order, and whole numbers written as floats or the other way round."""
    if type(value) is dict:
        return {key: shuffled(value[key], rng) for key in rng.sample(list(value), len(value))}
    if type(value) is list:
        return [shuffled(item, rng) for item in value]
    return float(value) if type(value) is int and rng.randrange(2) else value


def twin(action: dict[str, Any], rng: random.Random) -> Action | dict[str, Any]:
    """The same action in another spelling of everything that has several."""
    domain = rng.choice(
        [DOMAIN, DOMAIN.upper(), DOMAIN + ".", DOMAIN.replace(".", "\u3002"), "\uff50" + DOMAIN[1:], DOMAIN.replace("c", "c\u00ad")]
    )
    same = shuffled(action, rng) | {"domain": domain}
    if rng.randrange(2):
        same["amount"] = {"currency": "EUR", "value": action["args"]["count"]}
    if rng.randrange(2):
        return same
    amount = Money(value=action["args"]["count"], currency="EUR") if rng.randrange(2) else None
    return Action(tool="buy", args=same["args"], domain=domain, scope="pay", amount=amount)


class Buy:
    scope = "pay"

    @staticmethod
    def amount(args: dict[str, Any]) -> Any:
        return Money(value=round(args["count"]), currency="EUR") if type(args.get("count")) in (int, float) else None


async def mutate(setup: Any, count: int, seed: int) -> Counter[str]:
    """`count` mutations, tokens and actions in turn. How often each reason was given, and each way to mutate."""
    rng = random.Random(seed)
    s = setup(tools={"buy": Buy, "order": Buy, "send": "submit"}, key=KEY)
    near = [DOMAIN, f"*.{DOMAIN}", f"x{DOMAIN}", f"{DOMAIN}.evil.net", "*.evil.net", "notes.local", "127.0.0.1"]
    await s.host.add_grant(scope="pay", domains=near)
    await s.host.add_grant(scope="submit", domains=near)
    seen: Counter[str] = Counter()
    for index in range(count):
        s.wall.at += 600  # all earlier requests are forgotten
        action = some_action(rng)
        token = await s.approved(action)
        if index % 2:
            how = TOKEN_MUTATIONS[index // 2 % len(TOKEN_MUTATIONS)]
            bad_token = how(token, rng)
            assert bad_token != token
            refused = await s.gate.redeem(bad_token, action)
            assert (refused.decision, refused.reason) == ("deny", "bad-token"), (index, how.__name__, token, bad_token)
        else:
            how = ACTION_MUTATIONS[index // 2 % len(ACTION_MUTATIONS)]
            bad_action = how(action, rng)
            refused = await s.gate.redeem(token, bad_action)
            assert refused.decision == "deny", (index, how.__name__, action, bad_action)
            assert (await s.gate.redeem(token, action)).reason == "token-used"
            token = await s.approved(action)
        seen.update([refused.reason, how.__name__])
        good = action if rng.randrange(2) else twin(action, rng)
        allowed = await s.gate.redeem(token, good)
        assert allowed.decision == "allow", (index, how.__name__, action, good, allowed)
        assert allowed.action.domain == DOMAIN
        assert allowed.action.amount == Money(value=action["args"]["count"], currency="EUR")
    return seen


ACTION_REASONS = {"action-changed", "bad-action", "wrong-scope", "wrong-amount", "unknown-tool"}


async def test_no_mutated_token_or_action_is_accepted_while_each_twin_is(setup: Any) -> None:
    """AP-02 to AP-05, AP-13, B67: a seeded sample of 324, in which each way to mutate has its turn several times."""
    seen = await mutate(setup, 324, seed=2)
    assert all(seen[how.__name__] >= 10 for how in [*TOKEN_MUTATIONS, *ACTION_MUTATIONS])
    assert {reason for reason in seen if "-" in reason} == ACTION_REASONS | {"bad-token"}


@pytest.mark.long
async def test_no_mutated_token_or_action_is_accepted_in_ten_thousand(setup: Any) -> None:
    """The same, 10,000 in all."""
    seen = await mutate(setup, 10_000, seed=3)
    assert {reason for reason in seen if "-" in reason} == ACTION_REASONS | {"bad-token"}
    assert sum(seen[reason] for reason in seen if "-" in reason) == 10_000
