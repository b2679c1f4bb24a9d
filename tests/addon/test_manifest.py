"""The add-on's files as they ship: the manifest, and habits that every script keeps."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from foxloop_trio import wire
from foxloop_trio.webextension import ADDON_ID, addon_path

ROOT = addon_path()
SCRIPTS = sorted(ROOT.rglob("*.js"))
MANIFEST: dict[str, Any] = json.loads((ROOT / "manifest.json").read_text())


def test_the_policy_lets_the_background_reach_the_loopback_and_nothing_else() -> None:
    """B29: without a policy of its own, MV3 turns ws:// into wss:// and never connects."""
    (policy,) = MANIFEST["content_security_policy"].values()
    rules = {rule.split()[0]: rule.split()[1:] for rule in policy.split(";")}
    assert "upgrade-insecure-requests" not in rules
    assert rules["default-src"] == ["'none'"]
    assert rules["script-src"] == ["'self'"]
    assert rules["connect-src"] == ["'self'", "ws://127.0.0.1:*", "http://127.0.0.1:*"]


def test_the_manifest_asks_for_what_is_used_and_no_more() -> None:
    """Each permission is used by a script; none of the powerful ones is there."""
    code = "".join(path.read_text() for path in SCRIPTS)
    assert MANIFEST["permissions"] == ["alarms", "tabs", "webNavigation", "webRequest", "webRequestBlocking"]
    used = [permission.removesuffix("Blocking") for permission in MANIFEST["permissions"]]
    assert all(f"browser.{permission}." in code for permission in used)
    assert '["blocking"]' in code
    assert set(re.findall(r"browser\.(\w+)\.", code)) <= {"alarms", "tabs", "runtime", "webNavigation", "webRequest", "windows"}
    assert MANIFEST["host_permissions"] == ["<all_urls>"]


def test_the_add_on_is_the_one_that_the_package_names() -> None:
    """Id, no data collection, and a Firefox that knows that key."""
    gecko = MANIFEST["browser_specific_settings"]["gecko"]
    assert gecko == {
        "id": ADDON_ID,
        "strict_min_version": "142.0",
        "data_collection_permissions": {"required": ["none"]},
    }


def test_every_content_script_is_injected_and_after_what_it_depends_on() -> None:
    """The manifest's order is the order of dependencies, as each header names them."""
    (scripts,) = MANIFEST["content_scripts"]
    listed = scripts["js"]
    assert sorted(listed) == sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "content").iterdir())
    defined: list[str] = []
    for name in listed[1:]:
        text = (ROOT / name).read_text()
        (part,) = re.findall(r'^foxloop\.define\("(\w+)", ', text, re.MULTILINE)
        used = set(re.findall(r"\w+", re.findall(r"^foxloop\.define\(\"\w+\", \((?:\{([^}]*)\})?", text, re.MULTILINE)[0]))
        unpacked = re.search(r"^  const \{([^}]*)\} = parts;", text, re.MULTILINE)
        used |= set(re.findall(r"\w+", unpacked[1])) if unpacked else set()
        told = re.search(r"^// Depends on: ([^.]*)\.", text, re.MULTILINE)
        assert told is not None, name
        promised = set() if told[1] == "nothing" else set(re.split(r",\s*(?://\s*)?", told[1]))
        assert used <= set(defined), name
        assert used <= promised <= set(defined), name
        defined.append(part)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_script_says_what_it_is_and_runs_no_text_as_code(path: Path) -> None:
    """First line "// name: purpose"; no eval, no new Function, no markup from text."""
    text = path.read_text()
    assert text.startswith(f"// {path.stem}: ")
    assert not re.search(r"\beval\(|new Function|innerHTML|outerHTML|insertAdjacentHTML|document\.write|importScripts", text)
    assert all(len(line) <= 132 for line in text.splitlines())
    assert text.isascii() or path.stem in {"captcha", "values"}


def test_the_add_on_s_limits_are_those_of_the_wire() -> None:
    """content/limits.js has its own copy, since a content script cannot wait for a file."""
    ours = dict(re.findall(r"^  (\w+): ([\d_]+),", (ROOT / "content" / "limits.js").read_text(), re.MULTILINE))
    shared = ours.keys() & wire.LIMITS.keys()
    assert len(shared) >= 15
    assert {name: int(ours[name]) for name in shared} == {name: wire.LIMITS[name] for name in shared}
