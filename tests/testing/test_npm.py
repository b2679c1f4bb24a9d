"""Pinned packages of the npm registry: fetched once, compared with the pin, unpacked as plain files, mapped for a browser."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import shutil
import tarfile
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from foxloop_trio.corpora import CorpusError, serve_pages
from foxloop_trio.testing import _npm
from foxloop_trio.testing._npm import Pin, npm_packages, read_pins
from foxloop_trio.testing._npm_import_map import import_map
from foxloop_trio.testing._npm_site import serve_library_pages

MAIN = b"export default 1;"


def tarball(*members: tuple[str, bytes]) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz") as archive:
        for name, content in members:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return written.getvalue()


def pin(name: str, content: bytes) -> Pin:
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode()
    return Pin(name=name, version="1.0.0", integrity=integrity)


GOOD = tarball(
    ("package/package.json", json.dumps({"name": "@small/fox", "type": "module", "exports": "./index.js"}).encode()),
    ("package/index.js", MAIN),
)
FOX = pin("@small/fox", GOOD)


def brings(content: bytes) -> Callable[[Sequence[Pin], Path], None]:
    def fetch(pins: Sequence[Pin], folder: Path) -> None:
        for wanted in pins:
            (folder / wanted.tarball).write_bytes(content)

    return fetch


def no_download(pins: Sequence[Pin], folder: Path) -> None:
    raise AssertionError("nothing may be downloaded here")


# Getting them


def test_a_package_is_fetched_once_and_then_kept(tmp_path: Path) -> None:
    """Our choice: the second call finds the folder, and nothing but it is left."""
    found = npm_packages([FOX], tmp_path, download=brings(GOOD))
    assert (found["@small/fox"] / "index.js").read_bytes() == MAIN
    assert npm_packages([FOX], tmp_path, download=no_download) == found
    assert [path.name for path in (tmp_path / "npm").iterdir()] == [FOX.folder]


def test_only_what_is_missing_is_fetched(tmp_path: Path) -> None:
    """A new pin does not fetch the others again."""
    npm_packages([FOX], tmp_path, download=brings(GOOD))
    asked: list[str] = []

    def fetch(pins: Sequence[Pin], folder: Path) -> None:
        asked.extend(wanted.name for wanted in pins)
        brings(GOOD)(pins, folder)

    npm_packages([FOX, pin("owl", GOOD)], tmp_path, download=fetch)
    assert asked == ["owl"]


def test_a_tarball_that_was_put_there_by_hand_is_used(tmp_path: Path) -> None:
    """The way out that the errors name does work."""
    (tmp_path / "npm").mkdir()
    brings(GOOD)([FOX], tmp_path / "npm")
    assert npm_packages([FOX], tmp_path, download=no_download)["@small/fox"].is_dir()


def test_other_bytes_are_refused_and_nothing_is_unpacked(tmp_path: Path) -> None:
    """The pin is the integrity; what differs is never unpacked."""
    with pytest.raises(CorpusError, match=r"is not the pinned @small/fox 1\.0\.0"):
        npm_packages([FOX], tmp_path, download=brings(GOOD + b" "))
    assert list((tmp_path / "npm").iterdir()) == []


def test_nothing_is_unpacked_outside_of_the_folder(tmp_path: Path) -> None:
    """A pinned tarball is not trusted either."""
    evil = tarball(("package/../../evil.js", b"x"))
    with pytest.raises(CorpusError, match="outside of its folder"):
        npm_packages([pin("evil", evil)], tmp_path / "cache", download=brings(evil))
    assert not list(tmp_path.rglob("evil.js"))


def test_links_are_left_out(tmp_path: Path) -> None:
    """Only plain files are unpacked, since the folder is served."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz") as archive:
        link = tarfile.TarInfo("package/passwd")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
        archive.addfile(tarfile.TarInfo("package/empty.js"))
    found = npm_packages([pin("links", written.getvalue())], tmp_path, download=brings(written.getvalue()))
    assert [path.name for path in found["links"].iterdir()] == ["empty.js"]


def test_two_at_once_end_with_one_folder(tmp_path: Path) -> None:
    """The slower of two test runs takes what the faster one put there."""

    def overtaken(pins: Sequence[Pin], folder: Path) -> None:
        npm_packages([FOX], tmp_path, download=brings(GOOD))
        brings(GOOD)(pins, folder)

    npm_packages([FOX], tmp_path, download=overtaken)
    assert [path.name for path in (tmp_path / "npm").iterdir()] == [FOX.folder]


def test_a_pin_without_sha512_is_refused(tmp_path: Path) -> None:
    """Weaker digests are in old lock files."""
    (tmp_path / "npm.json").write_text('{"fox": {"version": "1.0.0", "integrity": "sha1-abc"}}')
    with pytest.raises(CorpusError, match="must begin with sha512-"):
        read_pins(tmp_path / "npm.json")


@pytest.mark.skipif(shutil.which("npm") is None, reason="there is no npm, so nothing of it to be said")
def test_a_registry_that_npm_cannot_reach_names_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """npm's own settings decide where it asks; where it gets nothing, the error says which files belong where."""
    for name, value in (("REGISTRY", "http://127.0.0.1:9/"), ("FETCH_RETRIES", "0"), ("CACHE", str(tmp_path / "npm-cache"))):
        monkeypatch.setenv(f"NPM_CONFIG_{name}", value)
    with pytest.raises(CorpusError, match="npm could not fetch 1 packages") as refused:
        npm_packages([FOX], tmp_path / "cache")
    assert f"`npm pack @small/fox@1.0.0` on another machine and put the files into {tmp_path / 'cache' / 'npm'}" in str(
        refused.value
    )


def test_without_npm_the_configured_registry_is_asked_directly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No node is needed: the address of a tarball is made as npm makes it."""
    monkeypatch.setattr(_npm.shutil, "which", lambda _: None)
    folder = tmp_path / "registry" / "@small" / "fox" / "-"
    folder.mkdir(parents=True)
    (folder / "fox-1.0.0.tgz").write_bytes(GOOD)
    with serve_pages(tmp_path / "registry") as registry:
        monkeypatch.setenv("NPM_CONFIG_REGISTRY", registry.address + "/")
        assert npm_packages([FOX], tmp_path / "cache")["@small/fox"].is_dir()
        with pytest.raises(CorpusError, match=r"owl-1\.0\.0\.tgz could not be fetched: HTTP Error 404.*`npm pack owl@1\.0\.0`"):
            npm_packages([pin("owl", GOOD)], tmp_path / "cache")


# Serving them


@pytest.mark.parametrize(
    ("about", "entries"),
    [
        ({"type": "module", "exports": "./a.js"}, {"fox": "a.js"}),
        ({"type": "module", "exports": {"import": "./a.js", "require": "./a.cjs"}}, {"fox": "a.js"}),
        ({"exports": {".": {"node": "./n.mjs", "browser": {"import": "./b.js"}, "default": "./d.js"}}}, {"fox": "b.js"}),
        ({"type": "module", "exports": {".": {"types": "./a.d.ts"}, "./x": ["./x.js"], "./y/*": "./y/*.js"}}, {"fox/x": "x.js"}),
        ({"type": "module", "exports": {".": {"development": "./d.js", "production": "./p.js"}}}, {"fox": "p.js"}),
        ({"module": "esm/a.js", "main": "a.js"}, {"fox": "esm/a.js"}),
        ({"module": "m.js", "exports": {".": {"browser": "./m.js", "require": "./a.js"}}}, {"fox": "m.js"}),
        ({"type": "module"}, {"fox": "index.js"}),
        ({"main": "a.js"}, {}),
        ({"exports": {".": {"require": "./a.js", "default": "./a.js"}}}, {}),
    ],
)
def test_a_bare_specifier_is_the_file_that_node_would_take_in_a_browser(
    tmp_path: Path, about: dict[str, Any], entries: dict[str, str]
) -> None:
    """Node's package entry points, for ES modules; what is no module is left out."""
    (tmp_path / "package.json").write_text(json.dumps(about))
    wanted = {name: f"/npm/fox/{file}" for name, file in entries.items()}
    assert import_map({"fox": tmp_path}) == {"imports": wanted, "scopes": {}}


def test_a_package_s_own_imports_hold_for_its_files_only(tmp_path: Path) -> None:
    """Node's subpath imports are private, which a scope is."""
    (tmp_path / "package.json").write_text(json.dumps({"type": "module", "imports": {"#own": "./own.js"}}))
    assert import_map({"fox": tmp_path}, prefix="/lib")["scopes"] == {"/lib/fox/": {"#own": "/lib/fox/own.js"}}


def test_pages_and_packages_are_served_together(tmp_path: Path) -> None:
    """One address for the pages, the packages by name, and the import map as a script."""
    pages = tmp_path / "pages"
    (pages / "shared").mkdir(parents=True)
    (pages / "shared" / "page.js").write_text("shared")
    (pages / "npm.json").write_text(json.dumps({FOX.name: {"version": FOX.version, "integrity": FOX.integrity}}))

    def get(path: str) -> str:
        with urllib.request.urlopen(site.address + path, timeout=5) as answer:
            text: str = answer.read().decode()
            return text

    with serve_library_pages(pages, cache=tmp_path, download=brings(GOOD)) as site:
        assert get("/shared/page.js") == "shared"
        assert get("/npm/@small/fox/index.js") == MAIN.decode()
        assert '"@small/fox": "/npm/@small/fox/index.js"' in get("/npm/importmap.js")
