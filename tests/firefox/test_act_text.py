"""Text in real Firefox: rich editors, masks, marking text, the page's own clipboard."""

from typing import Any

import pytest

from foxloop_trio.testing._act_probe import PageProbe

pytestmark = pytest.mark.firefox


# Editors

REVERTS = (
    "<div id=e role=textbox aria-label=e contenteditable>old</div><script>let ours = false;"
    "e.addEventListener('beforeinput', x => ours = x.isTrusted);"
    "e.addEventListener('input', () => { keep = e.cloneNode(true); ours = false; watch.takeRecords() });"
    "let keep = e.cloneNode(true); const watch = new MutationObserver(() => { if (!ours) { watch.disconnect();"
    "e.replaceChildren(...keep.cloneNode(true).childNodes); listen() } }); "
    "const listen = () => watch.observe(e, {childList: true, subtree: true, characterData: true}); listen()</script>"
)
PASTE_ONLY = (
    "<div id=e role=textbox aria-label=e contenteditable>old</div><script>e.onbeforeinput = x => x.preventDefault();"
    "e.onpaste = x => { x.preventDefault(); e.textContent = ''; "
    "for (const line of x.clipboardData.getData('text/plain').split('\\n')) { const p = document.createElement('p'); "
    "p.textContent = line;"
    "e.append(p) } }</script>"
)
EDITORS: list[tuple[str, str, str]] = [
    ("<div id=e role=textbox aria-label=e contenteditable>old <b>text</b></div>", "new text", "new text"),
    ("<div id=e role=textbox aria-label=e contenteditable>old</div>", "two\nlines 🦊", "two\nlines 🦊"),
    ("<div id=e role=textbox aria-label=e contenteditable>old</div>", "", ""),
    ("<div id=e role=textbox aria-label=e contenteditable=plaintext-only>old</div>", "a\nb\nc", "a\nb\nc"),
    ("<div id=e role=textbox aria-label=e contenteditable><p>old</p><p>more</p></div>", "a\n\nb", "a\n\nb"),
    (REVERTS, "taken", "taken"),
    (PASTE_ONLY, "a\nb", "a\nb"),
]


async def test_an_editor_holds_what_was_typed(page: PageProbe) -> None:
    """B82 and page reference 21.3: by editing commands, one for each line break, or by a paste; its DOM is never rewritten."""
    for html, text, held in EDITORS:
        await page.open(html)
        result = await page.act("e", "type", text)
        assert result["ok"], (html, result)
        lines = await page.js("e.innerText.replace(/\\n\\n+/g, '\\n').trim()")
        assert lines == held.replace("\n\n", "\n"), (html, result)


async def test_an_editor_that_takes_nothing_is_a_mismatch(page: PageProbe) -> None:
    """With what it holds; both ways were tried, and nothing else."""
    await page.open(
        "<div id=e role=textbox aria-label=e contenteditable>old</div>"
        "<script>e.onbeforeinput = x => x.preventDefault(); e.onpaste = x => x.preventDefault()</script>"
    )
    result = await page.act("e", "type", "new")
    assert (result["ok"], result["started"], result["reason"], result["value"]) == (False, True, "mismatch", "old")
    assert result["did"] == ["press", "select all", "insert", "select all", "paste"]
    assert await page.js("e.innerHTML") == "old"


async def test_an_editor_in_the_background_needs_the_focus(page: PageProbe) -> None:
    """Ruling 26: refused before anything happens; a plain field beside it is typed into all the same."""
    await page.open("<div role=textbox aria-label=e contenteditable>old</div><input aria-label=f id=f>")
    other = await page.session.channel.call("tab.open", {"url": page.site.put("in front"), "active": True}, timeout=10)
    try:
        assert (await page.refused("e", "type", "new"))[0] == "needs-focus"
        assert (await page.act("f", "type", "new", focus=False))["ok"]
        assert await page.js("f.value") == "new"
    finally:
        await page.session.channel.call("tab.close", {"tab": other["tab"]["tab"]}, timeout=10)


# Masks

BY_KEYS = (
    "<input id=f aria-label=f><script>f.onbeforeinput = e => { if (e.data && e.data.length > 1) e.preventDefault() };"
    "f.oninput = e => { if (e.data === null || e.data.length > 1) f.value = '' };"
    "f.onkeypress = e => { if (!/[0-9]/.test(e.key)) e.preventDefault() }</script>"
)
MASKS: list[tuple[str, str, str, bool]] = [
    (("<input id=f aria-label=f oninput=\"this.value = this.value.replace(/\\D/g, '').slice(0, 8)"
     ".replace(/^(..)(..)(....)$/, '$1/$2/$3')\">"),
     "24.12.2026", "24/12/2026", True),
    ("<input id=f aria-label=f oninput=\"this.value = this.value.replace(/\\D/g, '').slice(0, 4)\">", "123456", "1234", False),
    (BY_KEYS, "2468", "2468", True),
    ("<input id=f aria-label=f oninput=\"this.value = '€ ' + this.value.replace(/[^0-9.]/g, '')\">", "12.50", "€ 12.50", True),
]  # fmt: skip


async def test_a_mask_holds_the_text_or_it_is_a_mismatch_with_what_it_holds(page: PageProbe) -> None:
    """Page reference 4.4 [+]: a mask may format; one that listens to keys is typed into key by key."""
    for html, text, held, ok in MASKS:
        await page.open(html)
        result = await page.act("f", "type", text)
        assert (result["ok"], result["value"], result.get("reason")) == (ok, held, None if ok else "mismatch"), (html, result)
        assert await page.js("f.value") == held


async def test_a_colour_is_set(page: PageProbe) -> None:
    """It takes no text, but has a value."""
    await page.open("<input type=color id=f aria-label=f value='#ffffff'>")
    assert (await page.act("f", "type", "#e66000"))["value"] == "#e66000"
    result = await page.again("f", "type", "red")
    assert (result["ok"], result["reason"]) == (False, "mismatch")


# Marking text

MARKED: list[tuple[str, Any, str]] = [
    ("<input id=t aria-label=t value='one two one'>", "two", "two"),
    ("<input id=t aria-label=t value='one two one'>", {"text": "one", "nth": 2}, "one"),
    ("<textarea id=t aria-label=t>one two</textarea>", None, "one two"),
    ("<textarea id=t aria-label=t>one two</textarea>", {"start": 1, "end": 5}, "ne t"),
    ("<div id=t role=textbox aria-label=t contenteditable>one <b>two</b>\n three</div>", "two three", "two three"),
    ("<div id=t role=button tabindex=0 aria-label=t><p>One.</p><p>Two.</p></div>", "One. ", "One."),
    ("<div id=t role=button tabindex=0 aria-label=t><p>One.</p>\n<p>Two.</p></div>", None, "One. Two."),
]


async def test_text_is_marked_as_by_a_mouse(page: PageProbe) -> None:
    """Issue 8, point 2; corpora 5: the button goes down and up around it, and there is time to look at it."""
    for html, value, marked in MARKED:
        await page.open(html)
        await page.record("mousedown", "mouseup", "click")
        result = await page.act("t", "select_text", value)
        assert (result["ok"], " ".join(result["value"].split())) == (True, marked), (html, result)
        assert await page.js("seen.filter(x => x.endsWith(':t')).length <= 2 && !seen.some(x => x.startsWith('click'))") is True
        look = "'value' in t ? t.value.slice(t.selectionStart, t.selectionEnd) : String(getSelection())"
        assert " ".join((await page.js(look)).split()) == marked


async def test_what_is_not_there_cannot_be_marked(page: PageProbe) -> None:
    """Nor anything in a secret field."""
    await page.open("<p><span role=button tabindex=0>text</span></p><input type=password aria-label=p value=hunter2>")
    for value in ("other", {"text": "text", "nth": 2}, {"start": 3, "end": 9}, {"start": 2, "end": 2}):
        assert await page.refused("text", "select_text", value) == ("unsupported", "it does not hold that text")
    assert (await page.refused("p", "select_text"))[0] == "secret"


# The clipboard of the page


async def test_text_is_copied_cut_and_pasted_inside_the_page(page: PageProbe) -> None:
    """Issue 8, point 2: the person's own clipboard is not touched."""
    await page.open(
        "<input id=a aria-label=a value=text><input id=b aria-label=b value='> '><div id=c role=textbox aria-label=c "
        "contenteditable></div>"
    )
    result = await page.act("a", "copy")
    assert (result["ok"], result["value"]) == (True, "text")
    await page.again("b", "press", "End")
    result = await page.again("b", "paste")
    assert (result["ok"], result["value"]) == (True, "> text")
    result = await page.again("a", "cut")
    assert (result["ok"], result["value"], await page.js("a.value")) == (True, "text", "")
    result = await page.again("c", "paste")
    assert (result["ok"], await page.js("c.innerText.trim()")) == (True, "text")
    result = await page.again("a", "paste", "another")
    assert (result["ok"], await page.js("a.value")) == (True, "another")
    await page.again("a", "press", "ctrl+a ctrl+c")
    await page.again("b", "press", "ctrl+a ctrl+v")
    assert await page.js("b.value") == "another"


async def test_the_page_may_put_something_else_on_the_clipboard(page: PageProbe) -> None:
    """Its copy and paste handlers are heard, as with a real key; where it takes the paste itself, nothing is typed."""
    await page.open(
        "<p><button id=s oncopy=\"event.clipboardData.setData('text/plain', 'theirs'); event.preventDefault()\">mine</button></p>"
        "<input id=a aria-label=a onpaste=\"event.preventDefault(); this.value = '[' + "
        "event.clipboardData.getData('text/plain') + ']'\">"
    )
    assert (await page.act("mine", "copy"))["value"] == "theirs"
    result = await page.again("a", "paste")
    assert (result["ok"], result["value"]) == (True, "[theirs]")


async def test_nothing_is_copied_out_of_a_secret_field(page: PageProbe) -> None:
    """It would stand in the result."""
    await page.open("<input type=password aria-label=p value=hunter2><button>b</button>")
    for op in ("copy", "cut"):
        assert (await page.refused("p", op))[0] == "secret"
    assert (await page.refused("b", "cut"))[0] == "unsupported"
    assert (await page.refused("b", "paste", "x"))[0] == "unsupported"
