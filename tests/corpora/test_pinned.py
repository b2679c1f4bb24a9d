"""Archives of public pages: fetched once, checked, unpacked, kept; and what is taken out of each."""

import hashlib
import io
import json
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from foxloop_trio.corpora import FORMASAURUS, MINIWOB, CorpusError, formasaurus_pages, miniwob_pages, saved_pages, task_names

Download = Callable[[Path], None]


def made_wheel() -> bytes:
    """A small wheel, which counts as the pinned one for these tests."""
    wheel = io.BytesIO()
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("miniwob/__init__.py", "")
        archive.writestr("miniwob/html/core/core.js", "var core = {};")
        archive.writestr("miniwob/html/miniwob/click-test.html", "<title>Grüße</title>")
        archive.writestr("miniwob/html/flight/AA/wrapper.html", "")
    return wheel.getvalue()


WHEEL = made_wheel()
PINNED = attrs.evolve(MINIWOB, sha256=hashlib.sha256(WHEEL).hexdigest())


def download(folder: Path) -> None:
    (folder / MINIWOB.file).write_bytes(WHEEL)


def no_download(_: Path) -> None:
    raise AssertionError("nothing may be downloaded here")


def test_the_pages_are_fetched_once_and_then_kept(tmp_path: Path) -> None:
    """Our choice: the second call finds the folder, and the scratch folder is gone."""
    pages = miniwob_pages(tmp_path / "cache", pinned=PINNED, download=download)
    assert task_names(pages) == ["click-test", "flight.AA"]
    assert miniwob_pages(tmp_path / "cache", pinned=PINNED, download=no_download) == pages
    assert [path.name for path in pages.parent.iterdir()] == ["html"]


def test_a_wheel_that_was_put_there_by_hand_is_used(tmp_path: Path) -> None:
    """The way out that the error for an unreachable index names does work."""
    pages = miniwob_pages(tmp_path / "first", pinned=PINNED, download=download)
    by_hand = tmp_path / "second" / pages.parent.name
    by_hand.mkdir(parents=True)
    download(by_hand)
    assert miniwob_pages(tmp_path / "second", pinned=PINNED, download=no_download) == by_hand / "html"


def test_another_wheel_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    """corpora.md 1: the SHA-256 is pinned; a fetched file that differs is never unpacked."""

    def other(folder: Path) -> None:
        (folder / MINIWOB.file).write_bytes(b"something else")

    with pytest.raises(CorpusError, match=hashlib.sha256(b"something else").hexdigest()):
        miniwob_pages(tmp_path / "cache", pinned=PINNED, download=other)
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []


def test_two_at_once_end_with_one_folder(tmp_path: Path) -> None:
    """The slower of two test runs takes what the faster one put there."""

    def overtaken(folder: Path) -> None:
        download(folder)
        miniwob_pages(tmp_path / "cache", pinned=PINNED, download=download)

    pages = miniwob_pages(tmp_path / "cache", pinned=PINNED, download=overtaken)
    assert task_names(pages) == ["click-test", "flight.AA"]
    assert [path.name for path in pages.parent.iterdir()] == ["html"]


def test_an_index_that_cannot_be_reached_names_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where pip gets nothing, the error says which file belongs where."""
    for name, value in (
        ("INDEX_URL", "http://127.0.0.1:9/simple"),
        ("RETRIES", "0"),
        ("CONFIG_FILE", "/dev/null"),
        ("FIND_LINKS", ""),
    ):
        monkeypatch.setenv(f"PIP_{name}", value)
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
    with pytest.raises(CorpusError, match=r"pip could not fetch miniwob 1\.1\.0") as refused:
        miniwob_pages(tmp_path / "cache")
    assert f"put it into {tmp_path / 'cache'}" in str(refused.value)


def test_the_cache_follows_xdg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """XDG: an absolute XDG_CACHE_HOME counts, a relative one does not."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert miniwob_pages(pinned=PINNED, download=download).is_relative_to(tmp_path / "xdg" / "foxloop-trio")
    monkeypatch.setenv("XDG_CACHE_HOME", "here")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert miniwob_pages(pinned=PINNED, download=download).is_relative_to(tmp_path / "home" / ".cache" / "foxloop-trio")


# Formasaurus


def made_source() -> bytes:
    """A small source package of the same shape: five pages, of which two are at odd positions."""
    source = io.BytesIO()
    index = {
        f"html/{number}.html": {
            "url": f"https://site{number}.test/",
            "visible_html_fields": [{"q": "qq"}, None] if number else None,
        }
        for number in range(5)
    }
    with tarfile.open(fileobj=source, mode="w:gz") as archive:
        files = {"index.json": json.dumps(index), **{f"html/{number}.html": f"<p>{number}" for number in range(5)}}
        for name, text in files.items():
            entry = tarfile.TarInfo(f"formasaurus-0.10.0/formasaurus/data/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return source.getvalue()


SOURCE = made_source()


def saved(tmp_path: Path, content: bytes = SOURCE) -> Path:
    pinned = attrs.evolve(FORMASAURUS, sha256=hashlib.sha256(content).hexdigest())
    return formasaurus_pages(
        tmp_path, pinned=pinned, download=lambda folder: (folder / FORMASAURUS.file).write_bytes(content) and None
    )


def test_only_the_saved_pages_of_odd_positions_are_unpacked(tmp_path: Path) -> None:
    """The even ones are kept for checks: they are not even on the disk."""
    folder = saved(tmp_path)
    assert sorted(path.name for path in folder.iterdir()) == ["1.html", "3.html", "index.json"]
    assert [(page.position, page.file, page.url) for page in saved_pages(folder)] == [
        (1, "1.html", "https://site1.test/"),
        (3, "3.html", "https://site3.test/"),
    ]
    assert [dict(form) for form in saved_pages(folder)[0].forms] == [{"q": "qq"}, {}]


def test_a_source_package_of_another_shape_is_refused(tmp_path: Path) -> None:
    """The error names the archive and what it lacks."""
    other = io.BytesIO()
    with tarfile.open(fileobj=other, mode="w:gz"):
        pass
    with pytest.raises(CorpusError, match=r"index\.json"):
        saved(tmp_path, other.getvalue())


def test_an_index_that_is_none_is_an_error_with_the_way_out(tmp_path: Path) -> None:
    """Somebody may have changed the folder."""
    (tmp_path / "index.json").write_text("[]")
    with pytest.raises(CorpusError, match="Remove the folder"):
        saved_pages(tmp_path)
