"""Names, compared with another implementation of the same standard on the same pages: each difference has its reason.

The other one is npm's `dom-accessibility-api`, in the page's own world; the table is in docs/reference/names-of-controls.md.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from foxloop_trio.corpora import miniwob_pages, page_of_task, serve_pages, start_episode, task_names
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
    return { tag: el.localName, type: el.localName === "input" ? el.type : "",
             box: [left, top, width, height].map(n => Math.round(n * 2) / 2),
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


def pairs(controls: list[dict[str, Any]], others: list[dict[str, Any]], case: int = -1) -> Iterator[tuple[str, str]]:
    """Our name and the other one, of each control that can be told by its tag, type and box, and that the other one names."""
    for control in controls:
        this = (case, control["tag"], control["type"], control["box"])
        same = [one for one in others if (one["case"], one["tag"], one["type"], one["box"]) == this]
        if len(same) == 1 and not control.get("label_more"):
            yield control["label"], " ".join(same[0]["name"].split())


async def test_every_difference_to_another_implementation_is_explained(reader: PageReader) -> None:
    """Cases of every step: same name, or a row in the table; and no row that nothing needs."""
    fragments = await reader.fragments([case["html"] for case in CASES])
    others = await names_of_the_other(reader)
    differ = {}
    compared = 0
    for at, (case, controls) in enumerate(zip(CASES, fragments, strict=True)):
        for ours, theirs in pairs(controls, others, at):
            compared += 1
            if theirs not in ("", ours):
                differ[case["html"]] = (ours, theirs)
    assert compared >= len(CASES)
    explained = reasons()
    assert {html: names for html, names in differ.items() if html not in explained} == {}
    assert [html for html in explained if html not in differ] == []
    assert all(len(reason) > 20 for reason in explained.values())


LEAST_COMPARED = 150
"""Controls of those pages that have a name by the standard; most have none, and are called by what stands beside them."""


async def test_names_on_the_pages_of_miniwob_are_those_of_the_other_implementation(reader: PageReader) -> None:
    """Pages that we did not write, one episode of each task: no difference at all, so there is nothing to explain."""
    pages = miniwob_pages()
    compared, differ = 0, []
    with serve_pages(pages) as site:
        for task in task_names(pages):
            if page_of_task(task).startswith("miniwob/"):
                await start_episode(reader.session, reader.tab, site.address, task, "0")
                controls = (await reader.answer(max_controls=1000))["frames"][0]["controls"]
                for ours, theirs in pairs(controls, await names_of_the_other(reader)):
                    compared += theirs != ""
                    if theirs not in ("", ours):
                        differ.append((task, ours, theirs))
    assert differ == []
    assert compared >= LEAST_COMPARED
