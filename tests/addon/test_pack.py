"""The add-on as a package: what is in it, and that it is the same everywhere."""

import io
import json
import time
import zipfile

import pytest

from foxloop_trio.errors import UsageError
from foxloop_trio.webextension import addon_path, pack_addon

CONFIG = {"url": "ws://127.0.0.1:4711/foxloop", "token": "not for your eyes"}


def unpacked(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_package_holds_the_folder_as_it_is() -> None:
    """Every file, byte for byte, and no config."""
    folder = addon_path()
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert unpacked(pack_addon()) == files
    assert "config.json" not in files
    assert {"manifest.json", "background/main.js", "content/port.js", "shared/protocol.json"} <= files.keys()


def test_the_config_goes_in_as_a_file_of_its_own() -> None:
    """What a launched copy reads at its start."""
    files = unpacked(pack_addon(CONFIG))
    assert json.loads(files.pop("config.json")) == CONFIG
    assert files == unpacked(pack_addon())


def test_equal_contents_give_equal_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the clock, the order of keys and the owner of the files."""
    first = pack_addon(CONFIG)
    monkeypatch.setattr(time, "time", lambda: 2_000_000_000.0)
    assert pack_addon(dict(reversed(CONFIG.items()))) == first
    with zipfile.ZipFile(io.BytesIO(first)) as archive:
        assert archive.namelist() == sorted(archive.namelist())
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


@pytest.mark.parametrize(
    "config",
    [{}, {"url": "ws://127.0.0.1:1/foxloop"}, {**CONFIG, "host": "x"}, {**CONFIG, "token": ""}, {**CONFIG, "token": None}, {1: 2}],
)
def test_a_config_with_other_keys_or_no_texts_is_refused(config: dict[str, object]) -> None:
    """The message names keys and types, never a value."""
    with pytest.raises(UsageError) as caught:
        pack_addon(config)
    assert "not for your eyes" not in str(caught.value)
