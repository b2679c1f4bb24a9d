"""Acts across frames, and on what shows only under the pointer, in real Firefox."""

from typing import Any

import pytest

from foxloop_trio.browser import BrowserSession, Tab
from foxloop_trio.testing._act_probe import PageProbe, ProbeSite, soon
from foxloop_trio.testing._tool_bench import ToolBench

pytestmark = pytest.mark.firefox


def elsewhere(address: str) -> str:
    """The same server by another name: another origin, in another process."""
    return address.replace("127.0.0.1", "localhost")


async def act_inside(page: PageProbe, label: str, op: str = "click", *, host: str = "localhost", **more: Any) -> dict[str, Any]:
    """An act on the one control with this label, in whatever frame it is."""
    for frame in (await page.call("page.read"))["frames"]:
        for control in frame["controls"]:
            if control["label"] == label:
                place = {"frame": frame["frame"], "document": frame["document"], "node": control["node"], "guard": control["guard"]}
                page.frame = frame
                return await page.call("page.act", **{**page.order(label, op), **place, "key": frame["key"], "host": host, **more})
    raise AssertionError(label)


@pytest.mark.parametrize("other_origin", [False, True])
async def test_what_the_page_around_lays_over_a_frame_covers_what_is_in_it(
    page: PageProbe, site: ProbeSite, other_origin: bool
) -> None:
    """Also two frames deep, and where the frame must be scrolled into view first; beside the cover the press lands."""
    place = elsewhere if other_origin else str
    host = "localhost" if other_origin else "127.0.0.1"
    inside = (
        "<button onclick=\"this.textContent = 'Hit'\" style='position:absolute;left:0;top:0;width:90px;height:40px'>{}</button>"
    )
    deep = place(site.put(inside.format("Deep")))
    child = place(site.put(inside.format("Under") + f"<iframe src='{deep}' style='position:absolute;left:0;top:60px'></iframe>"))
    await page.go(
        site.put(
            f"<div style='height:3000px'></div><iframe src='{child}' style='width:400px;height:300px;padding:7px'></iframe>"
            "<div id=veil style='position:fixed;inset:0'>Veil</div>"
        )
    )
    for label in ("Under", "Deep"):
        result = await act_inside(page, label, host=host)
        assert (result["ok"], result["started"], result["reason"]) == (False, False, "covered"), result
        assert result["detail"] == 'covered by div "Veil"'
    await page.js("void veil.remove()")
    for label in ("Under", "Deep"):
        result = await act_inside(page, label, host=host)
        assert result["ok"], result


async def test_a_frame_without_an_address_is_of_the_page_that_made_it(page: PageProbe, site: ProbeSite) -> None:
    """srcdoc, about:blank and blob: frames are acted in by the host around them; a sandboxed one, and one elsewhere, are not."""
    inside = "<button onclick='this.textContent += 1'>{}</button>"
    await page.go(
        site.put(
            f'<iframe srcdoc="{inside.format("doc")}"></iframe><iframe id=blank></iframe><iframe id=blob></iframe>'
            f'<iframe sandbox=allow-scripts srcdoc="{inside.format("box")}"></iframe>'
            f"<iframe src='{elsewhere(site.put(inside.format('far')))}'></iframe>"
            f'<script>blank.contentDocument.body.innerHTML = "{inside.format("written")}";'
            f"blob.src = URL.createObjectURL(new Blob([\"{inside.format('made')}\"], {{type: 'text/html'}}))</script>"
        )
    )
    labels = {"doc", "written", "made", "box", "far"}

    async def are_there() -> bool:
        frames = (await page.call("page.read"))["frames"]
        return {one["label"] for frame in frames for one in frame["controls"]} == labels

    await soon(are_there)
    for label in ("doc", "written", "made"):
        result = await act_inside(page, label, host="127.0.0.1")
        assert result["ok"], (label, result)
    for label in ("box", "far"):
        result = await act_inside(page, label, host="127.0.0.1")
        assert (result["started"], result["reason"]) == (False, "other-site"), label
    assert (await act_inside(page, "doc1", host="localhost"))["reason"] == "other-site"


async def test_a_dialog_of_a_page_of_another_origin_does_not_stay_open(page: PageProbe, site: ProbeSite) -> None:
    """The act makes a frame ask; it is answered with no, told, and the frame can be read at once."""
    child = elsewhere(
        site.put(
            "<button>Quiet</button><p id=p></p><script>onmessage = () => { p.textContent = 'said ' + confirm('Sure?') }</script>"
        )
    )
    await page.go(
        site.put(f"<button onclick=\"frames[0].postMessage(1, '*'); this.title = 1\">Go</button><iframe src='{child}'></iframe>")
    )
    await page.call("page.read")
    await page.read()
    result = await page.act("Go", "click")
    assert result["ok"]

    async def said() -> str:
        return "".join(frame["text"] for frame in (await page.call("page.read"))["frames"])

    async def is_said() -> bool:
        return "said false" in await said()

    await soon(is_said)


async def test_what_shows_only_under_the_pointer_is_brought_out_first(firefox: BrowserSession, tab: Tab, page: PageProbe) -> None:
    """The pointer comes over its place; where that is covered, the true reason and the next step."""
    bench = await ToolBench.over(firefox, tab, domains=("127.0.0.1",))
    await page.open(
        "<style>nav ul { display: none } nav:hover ul { display: block }</style>"
        "<nav style='width:300px'>Menu<ul><li><button onclick=\"out.textContent = 'Chosen'\">Deep item</button></ul></nav>"
        "<p id=out></p>"
    )
    output = await bench.call("click", on="Deep item")
    assert output.ok, (output.summary, output.untrusted)
    assert await page.js("out.textContent") == "Chosen"
    await page.open(
        "<style>nav ul { display: none } nav:hover ul { display: block }</style>"
        "<nav style='width:300px'>Menu<ul><li><button>Deep item</button></ul></nav><div style='position:fixed;inset:0'>Veil</div>"
    )
    result = await page.act("Deep item", "click")
    assert (result["ok"], result["started"], result["reason"]) == (False, False, "hidden")
    assert "hover that one first" in result["detail"]
