"""Pages that are huge, busy or ill-meant are read within the time limit or refused; reading changes nothing: page reference 2,
B83."""

import json
from typing import Any

import pytest
import trio

from foxloop_trio.channel import CallTimeout, RemoteCallError
from foxloop_trio.testing._page_reader import PageReader, soon

pytestmark = pytest.mark.firefox

READ_SECONDS = 5.0
"""Page reference 6: a read gives up after this."""
SLOW_MACHINE = 4.0
"""How much slower than meant a shared machine may be."""


async def in_time(reader: PageReader, **params: Any) -> dict[str, Any]:
    """The answer, long before anybody would call it a hang."""
    with trio.fail_after(2 * READ_SECONDS * SLOW_MACHINE):
        return await reader.session.channel.call("page.read", {"tab": reader.tab.id, **params}, timeout=READ_SECONDS * SLOW_MACHINE)


async def top_or_refused(reader: PageReader) -> dict[str, Any] | None:
    """The top frame, or None when the add-on or the channel said that it takes too long."""
    try:
        return dict((await in_time(reader))["frames"][0])
    except CallTimeout:
        return None
    except RemoteCallError as error:
        assert error.code == "timeout"  # noqa: PT017  # either way is right
        return None


async def test_reading_changes_nothing(reader: PageReader) -> None:
    """Page reference 2: no focus, no scroll, no attribute, no event, no own function touched."""
    await reader.open("<input><button>b</button><div style='height:3000px'></div><form><input name=action></form>")
    await reader.js(
        "void (window.seen = [], new MutationObserver(r => seen.push(...r.map(x => x.type))).observe(document, "
        "{subtree: true, childList: true, attributes: true, characterData: true}), "
        "['focus', 'blur', 'scroll', 'click', 'input', 'pointerover'].forEach(t => addEventListener(t, () => seen.push(t), true)), "
        "window.natives = [alert, confirm, prompt])"
    )
    await reader.frame()
    await reader.frame(find="b", focus="b")
    await reader.call("tab.capture", format="png", marks="controls")
    assert await reader.js("seen") == []
    same = "[alert === natives[0], confirm === natives[1], prompt === natives[2], 'foxloop' in window]"
    assert await reader.js(same) == [True, True, True, False]


REDEFINED = """
for (const name of ["getAttribute", "querySelectorAll", "closest", "matches", "checkVisibility", "getBoundingClientRect"])
  Element.prototype[name] = () => { throw new Error("trap") };
Object.defineProperty(Element.prototype, "localName", { get() { throw new Error("trap") } });
Object.defineProperty(Node.prototype, "childNodes", { get() { return [] } });
Object.defineProperty(Node.prototype, "firstChild", { get() { return null } });
Object.defineProperty(HTMLInputElement.prototype, "value", { get() { return "a lie" } });
Document.prototype.querySelectorAll = () => [];
window.getComputedStyle = () => ({ display: "none" });
Array.prototype.map = Array.prototype.push = Map.prototype.get = () => { throw new Error("trap") };
String.prototype.replace = JSON.stringify = () => { throw new Error("trap") };
Object.prototype.toJSON = () => "a lie";
"""


async def test_a_page_that_redefines_everything_is_read_as_it_is(reader: PageReader) -> None:
    """Xrays: what a page does to its prototypes is not seen from the isolated world."""
    html = f"<h1>News</h1><input aria-label=i value=true><p>text</p><button>b</button><script>{REDEFINED}</script>"
    await reader.call("tab.goto", url=reader.site.put(html))

    async def parsed() -> bool:
        return len((await reader.frame())["controls"]) == 2

    await soon(parsed)
    await trio.sleep(0.1)  # the page's own eye, which would tell that its script ran, is put out
    frame = await reader.frame()
    assert [(one["label"], one["value"]) for one in frame["controls"]] == [("i", "true"), ("b", "")]
    assert (frame["text"], frame["headings"]) == ("News\ntext\nb", ["News"])


CLOBBERING = (
    *("action", "attributes", "checkVisibility", "children", "childNodes", "closest", "contains", "elements", "form"),
    *("getAttribute", "getBoundingClientRect", "getClientRects", "hasAttribute", "isConnected", "labels", "localName", "matches"),
    *("method", "parentElement", "querySelector", "requestSubmit", "target", "textContent", "ownerDocument", "style", "innerText"),
    *("scrollTop", "getRootNode", "firstChild", "nextSibling", "assignedSlot", "className", "openOrClosedShadowRoot", "parentNode"),
)


async def test_fields_named_like_properties_mislead_nobody(reader: PageReader) -> None:
    """A form and a document answer with a field when they are asked for a property of its name; ours must not be asked that way."""
    plain = "<section><h2>Order</h2><form action=/sent id=f{0}>{1}<button>send</button></form></section>"
    fields = "".join(f"<input aria-label=x name={name}>" for name in CLOBBERING)
    pictures = "".join(
        f"<img name={name} hidden>"
        for name in ("body", "title", "activeElement", "querySelectorAll", "documentElement", "styleSheets")
    )
    frame = await reader.read(pictures + plain.format(1, fields) + plain.format(2, "<input aria-label=x name=y>"))
    assert frame["title"] == "A page"
    assert frame["headings"] == ["Order", "Order"]
    *inputs, send, plain_input, plain_send = frame["controls"]
    assert len(inputs) == len(CLOBBERING)
    for mine, other in [(inputs[0], plain_input), (send, plain_send)]:
        differ = {key for key in mine if mine[key] != other.get(key)}
        assert differ <= {"node", "form", "form_key", "name", "guard", "box", "row_text"}
    assert {control["form"] for control in inputs} == {send["form"]}


async def test_a_page_with_a_frame_named_like_our_shelf_is_read_all_the_same(reader: PageReader) -> None:
    """Named frames appear on the window; ours is an own property of the isolated world."""
    frame = await reader.read("<iframe name=foxloop srcdoc=x></iframe><iframe name=browser srcdoc=x></iframe><button>b</button>")
    assert [one["label"] for one in frame["controls"]] == ["b"]


async def test_going_back_brings_the_same_document_back(reader: PageReader) -> None:
    """A page from the back-forward cache keeps its name, its numbers and its guards, and answers again."""
    first = await reader.read("<input aria-label=a value=kept>")
    await soon(reader.loaded)
    other = await reader.read("<button>elsewhere</button>")
    assert other["document"] != first["document"]
    await soon(reader.loaded)  # going back while it loads would stop the load instead
    await reader.js("void setTimeout(() => history.back())")
    await soon(lambda: reader.showing(first["document"]))
    assert {**await reader.frame(), "took_ms": 0} == {**first, "took_ms": 0}


KEPT_OUT = ["about:blank"]


async def test_pages_that_firefox_keeps_for_itself_cannot_be_read(reader: PageReader) -> None:
    """Error codes of the wire, at once and with the reason."""
    for address in KEPT_OUT:
        await reader.call("tab.goto", url=address)
        began = trio.current_time()
        with pytest.raises(RemoteCallError, match="Firefox keeps extensions out") as caught:
            await reader.call("page.read")
        assert caught.value.code == "restricted-page"
        assert trio.current_time() - began < 2
    with pytest.raises(RemoteCallError) as caught:
        await reader.session.channel.call("page.read", {"tab": 987654}, timeout=5)
    assert caught.value.code == "no-tab"


async def test_a_page_that_changes_a_thousand_times_a_second_is_read(reader: PageReader) -> None:
    """A read is one turn of the page, so it sees one state of it."""
    await reader.open(
        "<p id=p>0</p><button>b</button><script>let n = 0; const c = new MessageChannel();"
        "c.port1.onmessage = () => { p.textContent = String(++n); p.className = 'c' + n; c.port2.postMessage(0) };"
        "c.port2.postMessage(0)</script>"
    )
    for _ in range(3):
        answer = await in_time(reader)
        assert [one["label"] for one in answer["frames"][0]["controls"]] == ["b"]
    assert await reader.js("n") > 100


async def test_deep_nesting_is_read_or_left(reader: PageReader) -> None:
    """Ten thousand elements in each other: no stack overflows; what is near the top is there."""
    await reader.open("<button>top</button><div id=d></div>")
    await reader.js("void (function () { let at = d; for (let n = 0; n < 10000; n++) { at.append('t'); at = "
                    "at.appendChild(document.createElement('div')) } at.innerHTML = '<button>deep</button>' })()")  # fmt: skip
    answer = await in_time(reader)
    assert answer["frames"][0]["controls"][0]["label"] == "top"


@pytest.mark.long
async def test_a_page_of_thirty_megabytes_is_read(reader: PageReader) -> None:
    """Within the time limit or refused as too late; the next page is read as if nothing had been."""
    line = "<p>Some words of a very long page, again and again and again <a href=/x>and a link</a> of it</p>"
    await reader.open(line * (30 * 2**20 // len(line)), patience=90)
    frame = await top_or_refused(reader)
    if frame is not None:
        assert (len(frame["controls"]), len(frame["text"])) == (300, 6000)
        assert frame["truncated"] > 100_000

    async def left() -> bool:
        """To leave such a page takes Firefox longer than a navigation may."""
        try:
            return [one["label"] for one in await reader.controls("<button>after</button>")] == ["after"]
        except RemoteCallError as error:
            assert error.code in ("navigation-failed", "timeout")  # noqa: PT017
            return False

    await soon(left, 60)


async def test_one_text_of_many_megabytes_is_read(reader: PageReader) -> None:
    """One paragraph; and one value."""
    await reader.open("<p id=p></p><textarea id=t aria-label=t></textarea>")
    await reader.js("void (p.textContent = 'word '.repeat(1e6), t.value = 'x'.repeat(3e6))")
    frame = await top_or_refused(reader)
    if frame is not None:
        assert len(frame["text"]) == 6000
        assert (len(frame["controls"][0]["value"]), frame["controls"][0]["value_more"]) == (500, 3_000_000 - 500)
    assert [one["label"] for one in await reader.controls("<button>after</button>")] == ["after"]


async def test_very_many_nested_frames_are_bounded_and_counted(reader: PageReader) -> None:
    """Frames in frames in frames, hundreds of them: some are read, the others are counted."""
    leaf = "<p>leaf"
    inner = f"<iframe srcdoc='{leaf}'></iframe>" * 6
    outer = "".join(f'<iframe srcdoc="{inner}"></iframe>' for _ in range(30))
    await reader.open(f"<button>top</button>{outer}")
    answer = await in_time(reader)
    assert answer["frames"][0]["controls"][0]["label"] == "top"
    assert len(answer["frames"]) <= 64

    async def counted() -> bool:
        found = await in_time(reader)
        return sum(one.get("count", 1) for one in found["unreadable"]) + len(found["frames"]) > 150

    await soon(counted, 60)


async def test_kept_out_frames_beyond_those_that_are_named_are_counted(reader: PageReader) -> None:
    """None is dropped silently, however many there are."""
    await reader.open("<p>top</p>" + "<iframe src='about:config' width=20 height=20></iframe>" * 150)

    async def counted() -> bool:
        unreadable = (await in_time(reader))["unreadable"]
        counts: list[int] = [one.get("count", 1) for one in unreadable]
        return len(counts) < 100 and sum(counts) == 150

    await soon(counted)


STORM = """
(function () {
  let made = 0;
  const more = (page, depth) => {
    for (let at = 0; at < 5 && made < 5000; at++) {
      made++;
      const frame = page.createElement("iframe");
      frame.srcdoc = "<p>leaf</p><button>b</button>";
      frame.onload = () => depth < 8 && more(frame.contentDocument, depth + 1);
      page.body.append(frame);
    }
  };
  more(document, 0);
})()
"""


BUSY_SECONDS = 300.0
"""What Firefox may need to get rid of thousands of frames before it can show the next page."""


async def leave(reader: PageReader) -> None:
    """Go on to another page, however long the one that is shown keeps Firefox busy: asked once, since to ask again begins anew."""
    url = reader.site.put("<button>after</button>")
    with trio.fail_after(2 * BUSY_SECONDS):
        await reader.session.channel.call("tab.goto", {"tab": reader.tab.id, "url": url}, timeout=BUSY_SECONDS)
    assert [one["label"] for one in (await reader.frame())["controls"]] == ["after"]


@pytest.mark.long
async def test_a_storm_of_frames_in_frames_is_read_or_refused_and_can_be_left(reader: PageReader) -> None:
    """5,000 frames that make frames while they are read, which keeps Firefox itself busy for minutes: bounded in time and number
    each time, other sites are read meanwhile, and the next page is as if nothing had been."""
    await reader.open("<button>top</button>")
    await reader.js(f"void {STORM.strip()}")
    began = trio.current_time()
    while trio.current_time() - began < 15:
        frame = await top_or_refused(reader)
        assert frame is None or [one["label"] for one in frame["controls"]] == ["top"]
    elsewhere = reader.site.put("<button>elsewhere</button>").replace(reader.site.url, reader.site.other)
    with trio.fail_after(60):
        other = await reader.session.open_tab(elsewhere)
        snapshot = await other.snapshot()
        assert [control.label for control in snapshot.controls] == ["elsewhere"]
        await other.close()
    await leave(reader)


STEADY = """
(function () {
  window.made = 0;
  const inner = "<p>node" + "<iframe srcdoc='<p>leaf<button>b</button>'></iframe>".repeat(49);
  const more = () => {
    const frame = document.createElement("iframe");
    frame.srcdoc = inner;
    frame.onload = () => { window.made += 50; window.made < 5000 && setTimeout(more) };
    document.body.append(frame);
  };
  more();
})()
"""


STEADY_SECONDS = 150.0
"""A machine of its own makes the 5,000 in about that; a shared one goes on with those that it has made by then."""


@pytest.mark.long
async def test_five_thousand_nested_frames_are_read_while_they_come_and_when_they_are_there(reader: PageReader) -> None:
    """srcdoc in srcdoc, some fifty at a time, so that Firefox itself can follow: each read is in time, of a bounded number of
    frames, and those that are not read are counted. A frame beyond them can be read by its number."""
    await reader.open("<button>top</button>")
    await reader.js(f"void {STEADY.strip()}")
    made = 0
    began = trio.current_time()
    while made < 5000 and trio.current_time() - began < STEADY_SECONDS:
        made = await reader.js("made")
        frame = await top_or_refused(reader)
        assert frame is None or [one["label"] for one in frame["controls"]] == ["top"]
        await trio.sleep(2)
    assert made > 1000
    await reader.js("void (made = 5000)")
    answer = await in_time(reader)
    assert len(answer["frames"]) <= 64
    assert len(answer["frames"]) > 32
    assert sum(one.get("count", 1) for one in answer["unreadable"]) > 100
    assert len(json.dumps(answer)) < 1_000_000
    beyond = await in_time(reader, frame=max(one["frame"] for one in answer["frames"]) + 1)
    assert len(beyond["frames"]) == 1
    await leave(reader)


HEAVY = {
    "a name of ten megabytes": ("<button id=b>x</button>", "b.setAttribute('aria-label', 'word '.repeat(2e6))"),
    "many long names": (
        "<div id=d></div>",
        "d.innerHTML = Array.from({length: 300}, () => `<button aria-label='${'w '.repeat(50000)}'></button>`).join('')",
    ),
    "a hundred thousand options": (
        "<select id=s></select>",
        "s.innerHTML = Array.from({length: 1e5}, (_, n) => `<option>${n}`).join('')",
    ),
    "a thousand roots in each other": (
        "<button>top</button><div id=d></div>",
        (
            "(function () { let at = d; for (let n = 0; n < 1000; n++) { at = at.attachShadow({mode: 'closed'}); "
            "at.innerHTML = '<button>b</button><div></div>'; at = at.lastChild } })()"
        ),
    ),
    "a thousand roots beside each other": (
        "<div id=d></div>",
        (
            "(function () { for (let n = 0; n < 1000; n++) d.appendChild(document.createElement('div'))"
            ".attachShadow({mode: 'open'}).innerHTML = '<button>b</button>' })()"
        ),
    ),
    "selectors that look everywhere": (
        "<style id=s></style><div id=d></div><button>b</button>",
        (
            "(s.textContent = Array.from({length: 500}, (_, n) => `div:has(.x${n} ~ .y${n}) { cursor: pointer }`).join(''), "
            "d.innerHTML = '<div><i></i></div>'.repeat(1000))"
        ),
    ),
}


@pytest.mark.parametrize("name", HEAVY)
async def test_what_is_heavy_is_read_in_time(reader: PageReader, name: str) -> None:
    """Bounds on names, on nested roots and on selectors keep the work small."""
    html, script = HEAVY[name]
    await reader.open(html)
    await reader.js(f"void ({script})")
    frame = await top_or_refused(reader)
    assert frame is not None
    assert frame["controls"]
    assert frame["took_ms"] < 1000 * READ_SECONDS
