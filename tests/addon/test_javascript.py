"""Each file of `js/` holds tests of one part of the add-on, run by Node."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

FILES = sorted((Path(__file__).parent / "js").glob("*.test.mjs"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name.removesuffix(".test.mjs"))
def test_the_part_does_what_its_header_says(file: Path, node_test: Callable[[Path], subprocess.CompletedProcess[str]]) -> None:
    """Node finds tests in the file, and all of them pass."""
    done = node_test(file)
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.search(r"^\W+ pass (\d+)$", done.stdout, re.MULTILINE)
    assert passed is not None, done.stdout
    assert int(passed[1]) >= 2
