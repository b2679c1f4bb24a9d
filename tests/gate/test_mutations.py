"""Nothing near a token or an action is as good as the thing itself: seeded mutations, each beside a twin that is accepted."""

from __future__ import annotations

import random
from typing import Any

import pytest

from foxloop_trio.actions import Action

_LOOKALIKE = {"a": "\u0430", "e": "\u0435", "o": "\u043e", "p": "\u0440", "c": "\u0441", "l": "\u04cf", "n": "\u0578"}
_TOKEN_CHARS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."


def _mutated_token(token: str, rng: random.Random) -> str:
    at = rng.randrange(len(token))
    kind = rng.randrange(9)
    if kind == 0:
        return token[:at] + chr(ord(token[at]) ^ (1 << rng.randrange(7))) + token[at + 1 :]
    if kind == 1:
        return token[:at]
    if kind == 2:
        return token[:at] + token[at + 1 :]
    if kind == 3:
        return token[:at] + rng.choice(_TOKEN_CHARS) + token[at:]
    if kind == 4:
        other = rng.choice([char for char in _TOKEN_CHARS if char != token[at]])
        return token[:at] + other + token[at + 1 :]
    if kind == 5:
        last = token[-1]
        return token[:-1] + rng.choice([char for char in _TOKEN_CHARS if char != last])
    if kind == 6:
        return token + rng.choice(["=", "==", "\n", " ", ".", "A"])
    if kind == 7:
        return rng.choice(
            [" " + token, token.upper(), token.lower(), token.swapcase(), token + token, token.replace("fgt1", "fgt2")]
        )
    head, payload, mac = token.split(".")
    return rng.choice(
        [f"{head}.{mac}.{payload}", f"{payload}.{mac}", f"{head}.{payload}.", f"{head}..{mac}", f"{head}.{payload}.{mac}.x"]
    )


def _arguments(rng: random.Random) -> dict[str, Any]:
    return {
        "text": "".join(rng.choice("abcdelnop \u00e9") for _ in range(6)) + "o",
        "count": rng.randrange(1, 1000),
        "target": {"tab": rng.randrange(9), "label": "Send", "list": [1, rng.randrange(5), True]},
        "none": None,
    }


def _mutated_action(action: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    args = dict(action["args"])
    match rng.randrange(14):
        case 0:
            args["text"] += rng.choice([" ", "\u200b", "!", "\u0301", "\u00ad"])
        case 1:
            args["text"] = args["text"].replace("o", _LOOKALIKE["o"])
        case 2:
            args["count"] += rng.choice([-1, 1, 0.5])
        case 3:
            args["count"] = str(args["count"])
        case 4:
            args["target"] = args["target"] | {"tab": 99}
        case 5:
            args["target"] = args["target"] | {"list": args["target"]["list"][::-1]}
        case 6:
            args["target"] = args["target"] | {"list": [1, args["target"]["list"][1], 1]}
        case 7:
            del args["none"]
        case 8:
            args["extra"] = None
        case 9:
            args["none"] = rng.choice([False, 0, "", "null", [], {}])
        case 10:
            letter = rng.choice([char for char in action["domain"] if char in _LOOKALIKE])
            return action | {"domain": action["domain"].replace(letter, _LOOKALIKE[letter], 1)}
        case 11:
            return action | {
                "domain": rng.choice(["x" + action["domain"], action["domain"] + ".evil.net", "www." + action["domain"]])
            }
        case 12:
            return action | {"tool": "post"}
        case _:
            return action | {"scope": rng.choice(["read", "fill", "pay", "Submit"])}
    return action | {"args": args}


def _twin(action: dict[str, Any], rng: random.Random) -> Action:
    """The same action: other key order, other spelling of numbers and host."""
    args = {key: action["args"][key] for key in rng.sample(list(action["args"]), len(action["args"]))}
    args["count"] = float(args["count"])
    args["target"] = dict(reversed(args["target"].items()))
    domain = rng.choice([action["domain"].upper(), action["domain"] + ".", action["domain"]])
    return Action(tool=action["tool"], args=args, domain=domain, scope="submit")


async def _mutations(setup: Any, count: int, seed: int) -> None:
    rng = random.Random(seed)
    domain = "place.notes.local"
    s = setup(tools={"send": "submit", "post": "submit"})
    await s.host.add_grant(scope="submit", domains=[domain, f"{domain}.evil.net", f"x{domain}", f"www.{domain}"])
    for index in range(count):
        s.wall.at += 600  # all earlier requests are forgotten
        action = {"tool": "send", "args": _arguments(rng), "domain": domain, "scope": "submit"}
        token = await s.approved(action)
        bad_token = _mutated_token(token, rng)
        if bad_token != token:
            assert (await s.gate.redeem(bad_token, action)).reason == "bad-token", (index, token, bad_token)
        assert (await s.gate.redeem(token, _twin(action, rng))).decision == "allow", (index, action)

        s.wall.at += 600
        token = await s.approved(action)
        bad_action = _mutated_action(action, rng)
        refused = await s.gate.redeem(token, bad_action)
        assert refused.decision == "deny", (index, action, bad_action)
        assert refused.reason in ("action-changed", "bad-action", "wrong-scope"), refused
        assert (await s.gate.redeem(token, action)).reason == "token-used"


async def test_no_mutated_token_or_action_is_accepted_while_each_twin_is(setup: Any) -> None:
    """AP-02 to AP-04, AP-13: a seeded sample of 400 tokens and 400 actions."""
    await _mutations(setup, 400, seed=2)


@pytest.mark.long
async def test_no_mutated_token_or_action_is_accepted_in_ten_thousand(setup: Any) -> None:
    """The same, 5000 of each."""
    await _mutations(setup, 5000, seed=3)
