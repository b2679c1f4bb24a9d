"""The add-on's JavaScript is tested by Node, without a browser: what needs no page."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from foxloop_trio.webextension import addon_path

NODE_SECONDS = 120


@pytest.fixture(scope="session")
def addon_modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the add-on in which Node takes `.js` for modules, as Firefox does by the manifest."""
    folder = tmp_path_factory.mktemp("addon") / "addon"
    shutil.copytree(addon_path(), folder)
    (folder / "package.json").write_text(json.dumps({"type": "module"}))
    return folder


@pytest.fixture(scope="session")
def node_test(addon_modules: Path) -> Callable[[Path], subprocess.CompletedProcess[str]]:
    """Runs one file of `js/` with Node's own test runner. Node is needed, not optional."""
    node = shutil.which("node")
    if node is None:
        pytest.fail("these tests need node 20 or newer; on Debian: apt-get update && apt-get install nodejs", pytrace=False)

    def run(file: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [node, "--test", str(file)],
            check=False,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=NODE_SECONDS,
            env={"ADDON": str(addon_modules), "PATH": str(Path(node).parent)},
        )

    return run
