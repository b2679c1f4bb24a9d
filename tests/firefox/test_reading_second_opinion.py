"""Names, compared with another implementation of the same standard on the same pages: each difference has its reason.

The other one is npm's `dom-accessibility-api`, in the page's own world; the table is in docs/reference/names-of-controls.md.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from foxloop_trio.testing._page_reader import PageReader
from foxloop_trio.testing._second_opinion import second_opinion

pytestmark = [pytest.mark.firefox, pytest.mark.long]  # it needs npm, which the default run does not

CASES = json.loads((Path(__file__).parent / "pages" / "names.json").read_text())
TABLE = Path(__file__).parents[2] / "docs" / "reference" / "names-of-controls.md"

EYE = """
import(OTHER).then(({ computeAccessibleName }) => {
  const all = Array.from(document.querySelectorAll("body *"));
  return all.map(el => {
    const { left, top, width, height } = el.getBoundingClientRect();
    return { tag: el.localName, type: el.localName === "input" ? el.type : "", box: [left, top, width, height].map(Math.round),
             case: Number(el.closest("section")?.getAttribute("aria-label")?.slice(4) ?? -1), name: computeAccessibleName(el) };
  });
})
"""


async def names_of_the_other(reader: PageReader) -> list[dict[str, Any]]:
    folder = second_opinion()
    for path in folder.rglob("*.mjs"):
        address = f"/other/{path.relative_to(folder).as_posix()}"
        reader.site.pages[address] = path.read_bytes()
        reader.site.types[address] = "text/javascript"
    result = await reader.session.bidi(
        "script.evaluate",
        expression=f"({EYE.strip().replace('OTHER', json.dumps(reader.site.url + '/other/index.mjs'))}).then(JSON.stringify)",
        target={"context": await reader.tab.bidi_context()},
        awaitPromise=True,
    )
    assert result["type"] == "success", result["exceptionDetails"]["text"]
    found: list[dict[str, Any]] = json.loads(result["result"]["value"])
    return found


def reasons() -> dict[str, str]:
    """The table's rows: markup, and why we differ."""
    rows = [line.split("|") for line in TABLE.read_text().splitlines() if line.startswith("| `")]
    return {row[1].strip().strip("`").replace("&#124;", "|"): row[-2].strip() for row in rows}


async def test_every_difference_to_another_implementation_is_explained(reader: PageReader) -> None:
    """Cases of every step: same name, or a row in the table; and no row that nothing needs."""
    fragments = await reader.fragments([case["html"] for case in CASES])
    others = await names_of_the_other(reader)
    differ = {}
    compared = 0
    for at, (case, controls) in enumerate(zip(CASES, fragments, strict=True)):
        for control in controls:
            same = [
                one
                for one in others
                if (one["case"], one["tag"], one["type"], one["box"]) == (at, control["tag"], control["type"], control["box"])
            ]
            if len(same) != 1 or control.get("label_more"):
                continue
            compared += 1
            theirs = " ".join(same[0]["name"].split())
            if theirs != control["label"] and theirs != "":
                differ[case["html"]] = (control["label"], theirs)
    assert compared >= len(CASES)
    explained = reasons()
    assert {html: names for html, names in differ.items() if html not in explained} == {}
    assert [html for html in explained if html not in differ] == []
    assert all(len(reason) > 20 for reason in explained.values())
