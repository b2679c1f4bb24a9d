"""Reading a page in real Firefox: what the add-on tells of a document, asked for over the wire.

Each test writes a page of its own. `js` evaluates in the page's own world over WebDriver BiDi: that is the test's eye, not the
product's.
"""

import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import attrs
import pytest
import trio

from foxloop_trio.browser import BrowserSession, Tab
from foxloop_trio.channel import RemoteCallError

pytestmark = pytest.mark.firefox

Json = dict[str, Any]

INPUT_TYPES = (
    *("text", "email", "tel", "url", "password", "search", "number", "date", "time"),
    *("checkbox", "radio", "submit", "button", "reset"),
)


@attrs.define
class Site:
    """Pages on a port of this machine, by path."""

    url: str
    pages: dict[str, str] = attrs.field(factory=dict)

    def put(self, html: str) -> str:
        path = f"/page{len(self.pages)}"
        self.pages[path] = f"<!doctype html><html><head><title>A page</title></head><body>{html}</body></html>"
        return self.url + path


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            html = found.pages.get(self.path.split("?")[0])
            body = (html or "not here").encode()
            self.send_response(200 if html else 404)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    found = Site(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield found
    server.shutdown()
    thread.join()
    server.server_close()


async def soon(is_so: Callable[[], Awaitable[bool]]) -> None:
    """Firefox does not tell the test of what happens in its pages; so ask, again and again."""
    with trio.fail_after(10):
        while not await is_so():  # noqa: ASYNC110  # nobody could set an event
            await trio.sleep(0.01)


@attrs.frozen
class Reader:
    """Opens pages in one tab and reads them."""

    session: BrowserSession
    tab: Tab
    site: Site

    async def call(self, method: str, **params: Any) -> Json:
        return await self.session.channel.call(method, {"tab": self.tab.id, **params}, timeout=10)

    async def shows(self, url: str) -> bool:
        return bool(await self.js("[location.href, document.readyState]") == [url, "complete"])

    async def showing(self, document: str) -> bool:
        return bool((await self.call("tab.get"))["tab"]["document"] == document)

    async def loaded(self) -> bool:
        """Only a document that has loaded wholly is kept for the way back."""
        return bool(await self.js("document.readyState === 'complete'"))

    async def frame(self) -> Json:
        answer = await self.call("page.read")
        assert answer["unreadable"] == []
        (frame,) = answer["frames"]
        assert isinstance(frame, dict)
        return frame

    async def read(self, html: str) -> Json:
        url = self.site.put(html)
        await self.call("tab.goto", url=url)
        await soon(lambda: self.shows(url))
        return await self.frame()

    async def controls(self, html: str) -> list[Json]:
        controls: list[Json] = (await self.read(html))["controls"]
        return controls

    async def js(self, expression: str) -> Any:
        result = await self.session.bidi(
            "script.evaluate",
            expression=f"JSON.stringify({expression})",
            target={"context": await self.tab.bidi_context()},
            awaitPromise=True,
        )
        assert result["type"] == "success", result["exceptionDetails"]["text"]
        return json.loads(result["result"].get("value", "null"))


@pytest.fixture
def page(firefox: BrowserSession, tab: Tab, site: Site) -> Reader:
    return Reader(firefox, tab, site)


def labels(controls: list[Json]) -> list[str]:
    return [control["label"] for control in controls]


async def test_each_native_control_is_listed_with_its_role(page: Reader) -> None:
    """Page reference 2.3; hidden, file, range and colour inputs are no controls."""
    controls = await page.controls(
        "<a href=/x>a</a><a>no link</a><button>b</button><details><summary>s</summary></details><textarea></textarea>"
        "<select><option>o</select>"
        + "".join(f"<input type={kind} aria-label={kind} style='width:60px;height:20px'>" for kind in INPUT_TYPES)
        + "<input type=hidden><input type=file><input type=range><input type=color>"
        "<div contenteditable=true>e</div><div role=tab>t</div><div role='tab list'>no role of ours</div>"
    )
    roles = {control["type"] or control["tag"]: control["role"] for control in controls}
    assert roles == {
        "a": "link",
        "button": "button",
        "summary": "button",
        "textarea": "textbox",
        "select": "combobox",
        "div": "tab",
        "text": "textbox",
        "email": "textbox",
        "tel": "textbox",
        "url": "textbox",
        "password": "textbox",
        "search": "searchbox",
        "number": "spinbutton",
        "checkbox": "checkbox",
        "radio": "radio",
        "submit": "button",
        "reset": "button",
        "date": "textbox",
        "time": "textbox",
    }
    assert [control["role"] for control in controls][-2:] == ["textbox", "tab"]


async def test_a_combobox_around_a_field_leaves_the_field_to_stand_for_it(page: Reader) -> None:
    """Page reference 2.3, last rule."""
    controls = await page.controls("<div role=combobox>City <input aria-label=City></div><input role=combobox aria-label=Own>")
    assert [(control["role"], control["label"]) for control in controls] == [("textbox", "City"), ("combobox", "Own")]


NAMED = [
    ("<span id=a>First</span><span id=b hidden>second</span><button aria-labelledby='a b'>x</button>", "First second"),
    ("<button aria-label=' Close  it '>x</button>", "Close it"),
    ("<label for=i>One</label><label>Two <input id=i></label>", "One Two"),
    ("<label>Name: <input></label>", "Name:"),
    ("<input type=submit value='Go on'>", "Go on"),
    ("<input type=submit>", "Submit Query"),
    ("<input type=image alt=Find src=data:, width=30 height=30>", "Find"),
    ("<button><b>Save</b>  <i>all</i></button>", "Save all"),
    ("<button><img alt=Print src=data:, width=9 height=9></button>", "Print"),
    ("<button><svg width=9 height=9><title>Menu</title></svg></button>", "Menu"),
    ("<button><span aria-hidden=true>icon</span> Home</button>", "Home"),
    ("<button>Buy<style>b{}</style><span style='display:none'>hidden words</span></button>", "Buy"),
    ("<button title=Close>&times;</button>", "Close"),
    ("<button>&times;</button>", "\u00d7"),
    ("<input placeholder='Your name' style='width:80px'>", "Your name"),
    ("<a href=/x>" + "long " * 60 + "</a>", ("long " * 60)[:200].strip()),
]


async def test_a_control_is_called_what_a_person_would_call_it(page: Reader) -> None:
    """Page reference 2.5, one case per step."""
    controls = await page.controls("".join(f"<div>{html}</div>" for html, _ in NAMED))
    assert [control["label"].strip() for control in controls] == [label for _, label in NAMED]


HIDING = (
    "display:none",
    "visibility:hidden",
    "opacity:0",
    "position:absolute;left:-9999px",
    "position:absolute;clip:rect(0 0 0 0)",
    "clip-path:inset(50%)",
    "filter:opacity(0)",
    "width:2px;height:2px;padding:0;border:0",
)


async def test_what_nobody_can_see_is_left_out(page: Reader) -> None:
    """Page reference 2.4, for the control itself and for something around it."""
    own = "".join(f"<button style='{style}'>{style}</button>" for style in HIDING)
    around = "".join(
        f"<div style='{style};overflow:hidden'><button>in {style}</button></div>" for style in HIDING if "px" not in style
    )
    assert labels(await page.controls(f"{own}{around}<button>seen</button>")) == ["seen"]


async def test_what_can_barely_be_seen_is_listed(page: Reader) -> None:
    """Page reference 2.4: opacity 0.01, three pixels, far below the fold."""
    controls = await page.controls(
        "<button style='opacity:.01'>faint</button>"
        "<button style='width:3px;height:3px;padding:0;border:0' aria-label=tiny></button>"
        "<button style='position:absolute;top:5000px'>below</button>"
    )
    assert [(control["label"], control["offscreen"]) for control in controls] == [
        ("faint", False),
        ("tiny", False),
        ("below", True),
    ]


async def test_aria_hidden_and_inert_parts_are_left_out(page: Reader) -> None:
    """Page reference 2.4."""
    controls = await page.controls(
        "<div aria-hidden=true><button>a</button></div><div inert><button>b</button></div>"
        "<div style='overflow:hidden;height:0'><button>c</button></div><button>seen</button>"
    )
    assert labels(controls) == ["seen"]


async def test_a_styled_checkbox_is_listed_through_its_label(page: Reader) -> None:
    """Page reference 21.2: the input is transparent, clipped or not rendered; its label is what people see."""
    controls = await page.controls(
        "<input type=checkbox id=a style='opacity:0'><label for=a>Fast</label>"
        "<label>Safe <input type=radio checked style='display:none'></label>"
        "<input type=checkbox id=c style='display:none'><label for=c style='display:none'>Gone</label>"
    )
    assert [(control["label"], control["checked"], control["via"]) for control in controls] == [
        ("Fast", False, "label"),
        ("Safe", True, "label"),
    ]


async def test_section_form_and_row_say_where_a_control_stands(page: Reader) -> None:
    """Page reference 2.6; the digest is FNV-1a of the row's text in base 36."""
    controls = await page.controls(
        "<section><h2>Delivery</h2><div><form><input aria-label=f></form></div></section>"
        "<div aria-label=Unnamed><button>outside</button></div>"
        "<ul><li>Milk <button>drop</button></li><li>Bread <button>drop</button></li></ul>"
    )
    field, outside, milk, bread = controls
    assert field["section"] == "Delivery"
    assert field["form"] == field["node"] + 1
    assert outside["section"] == ""
    assert "form" not in outside
    assert "row" not in outside
    assert milk["row"] == "1lp6bcr"
    assert bread["row"] != milk["row"]


async def test_values_and_states_are_told(page: Reader) -> None:
    """Page reference 2.7."""
    controls = await page.controls(
        "<input aria-label=t value=abc><textarea aria-label=a>two\nlines</textarea>"
        "<select aria-label=s><option value=1>One<option value=2 selected> Two <option disabled>Three"
        "<optgroup disabled><option>Four</optgroup></select>"
        "<select aria-label=m multiple><option selected>x<option selected>y</select>"
        "<input type=checkbox aria-label=c checked>"
        "<div role=checkbox aria-checked=mixed>d</div><div role=tab aria-selected=true>e</div>"
        "<button aria-expanded=false>f</button><li role=option value=3>g</li>"
    )
    by_label = {control["label"]: control for control in controls}
    assert by_label["t"]["value"] == "abc"
    assert by_label["a"]["value"] == "two\nlines"
    assert by_label["s"]["value"] == "2"
    assert by_label["s"]["options"] == [
        {"value": "1", "label": "One", "selected": False},
        {"value": "2", "label": "Two", "selected": True},
    ]
    assert by_label["s"]["multiple"] is False
    assert by_label["m"]["multiple"] is True
    assert [by_label[name].get("checked") for name in "tcde"] == [None, True, "mixed", True]
    assert by_label["f"]["expanded"] is False
    assert "expanded" not in by_label["t"]
    assert by_label["g"]["value"] == ""


async def test_flags_are_told(page: Reader) -> None:
    """Page reference 2.8."""
    controls = await page.controls(
        "<form><fieldset disabled><input aria-label=in></fieldset><input aria-label=ro readonly required><button>send</button>"
        "<button type=button>plain</button></form><button>no form</button><div aria-disabled=true><button>aria</button></div>"
        "<dialog open><button>inside</button></dialog>"
        "<input aria-label=list aria-autocomplete=both><input aria-label=pick aria-haspopup=dialog>"
        "<input aria-label='Due (TT.MM.JJJJ)'><input type=date aria-label=native>"
    )
    by_label = {control["label"]: control for control in controls}
    assert [name for name, control in by_label.items() if control["disabled"]] == ["in", "aria"]
    assert [name for name, control in by_label.items() if control["read_only"]] == ["ro"]
    assert [name for name, control in by_label.items() if control["required"]] == ["ro"]
    assert [name for name, control in by_label.items() if control["submit"]] == ["send"]
    assert [name for name, control in by_label.items() if control["dialog"]] == ["inside"]
    assert [name for name, control in by_label.items() if control["autocomplete"]] == ["list"]
    assert [name for name, control in by_label.items() if control["picker"]] == ["pick"]
    assert {name: control["date_format"] for name, control in by_label.items() if "date_format" in control} == {
        "Due (TT.MM.JJJJ)": "DD.MM.YYYY",
        "native": "YYYY-MM-DD",
    }


async def test_a_send_button_says_where_its_form_goes(page: Reader) -> None:
    """Page reference 1.1 and 21: resolved, from the button before the form, whatever the form's fields are called."""
    controls = await page.controls(
        "<form action=/a method=POST target=_blank><input name=action aria-label=x><input name=getAttribute aria-label=y>"
        "<button>one</button><button formaction=https://other.example/b formmethod=get formtarget=_top>two</button></form>"
    )
    one, two = controls[2:]
    assert one["destination"] == {"url": f"{page.site.url}/a", "method": "post", "target": "_blank"}
    assert two["destination"] == {"url": "https://other.example/b", "method": "get", "target": "_top"}
    assert "destination" not in controls[0]


async def test_secrets_never_leave_the_page(page: Reader) -> None:
    """Page reference 13.3: passwords, codes and card codes are masked at the source, also one that was made visible."""
    html = (
        "<input type=password aria-label=p value=hunter2><input aria-label='One-time code' value=hunter2>"
        "<input aria-label=c autocomplete='section-a cc-csc' value=hunter2><input aria-label='Your PIN' value=''>"
        "<input aria-label='Pinned posts' value=plain><input type=password aria-label=shown id=shown value=hunter2>"
        "<input type=checkbox aria-label='Show password'>"
    )
    controls = await page.controls(html)
    assert [(control["label"], control["secret"], control["value"]) for control in controls] == [
        ("p", True, "•••"),
        ("One-time code", True, "•••"),
        ("c", True, "•••"),
        ("Your PIN", True, ""),
        ("Pinned posts", False, "plain"),
        ("shown", True, "•••"),
        ("Show password", False, "on"),
    ]
    await page.js("void (document.getElementById('shown').type = 'text')")
    frame = await page.frame()
    assert frame["controls"][5]["secret"] is True
    assert "hunter2" not in json.dumps(frame)


async def test_numbers_name_elements_for_as_long_as_the_document_lives(page: Reader) -> None:
    """Page reference 2.1: the same element object has the same number; equal markup made anew has another."""
    first = await page.controls("<div id=box><form><input aria-label=a><button>b</button></form></div>")
    assert [control["node"] for control in first] == [1, 3]
    assert [control["form"] for control in first] == [2, 2]
    await page.js("void (window.kept = document.forms[0].elements[0], kept.remove(), document.forms[0].prepend(kept))")
    again = (await page.frame())["controls"]
    assert [control["node"] for control in again] == [1, 3]
    await page.js("void (box.innerHTML = box.innerHTML)")
    remade = (await page.frame())["controls"]
    assert [control["node"] for control in remade] == [4, 6]


async def test_guards_differ_when_a_judged_fact_does_and_only_then(page: Reader) -> None:
    """Page reference 2.9: a row's text and an expanded state count; another button's text, a class and a paragraph do not."""
    frame = await page.read(
        "<p id=p>text</p><ul><li><span id=row>Milk</span> <button id=b aria-expanded=false>drop</button></li></ul>"
        "<button id=o>other</button>"
    )
    before = {control["label"]: control["guard"] for control in frame["controls"]}

    async def changed(statement: str) -> set[str]:
        await page.js(f"void ({statement})")
        now = await page.frame()
        assert now["key"] == frame["key"]
        return {control["label"] for control in now["controls"] if control["guard"] != before.get(control["label"])}

    assert await changed("p.textContent = 'other text', b.className = 'x', b.style.marginTop = '50px'") == set()
    assert await changed("o.textContent = 'another'") == {"another"}
    assert await changed("row.textContent = 'Bread'") == {"drop", "another"}
    assert await changed("row.textContent = 'Milk', b.setAttribute('aria-expanded', 'true')") == {"drop", "another"}


async def test_the_key_changes_with_any_field_and_with_the_address(page: Reader) -> None:
    """Page reference 2.9: also for a slider, which is no control; not for another non-empty password."""
    await page.read("<input id=t><input type=range id=r><input type=password id=p value=one><input type=hidden id=h>")
    keys = [(await page.frame())["key"]]

    async def changes(statement: str) -> bool:
        await page.js(f"void ({statement})")
        keys.append((await page.frame())["key"])
        return bool(keys[-1] != keys[-2])

    assert not await changes("p.value = 'two', h.value = 'x'")
    assert await changes("t.value = 'x'")
    assert await changes("r.value = 7")
    assert await changes("t.disabled = true")
    assert await changes("p.value = ''")
    assert await changes("location.hash = 'there'")
    assert await changes("t.remove()")


async def test_guards_and_keys_of_equal_pages_differ(page: Reader) -> None:
    """Ruling 22: keyed by a secret of the document, so nothing can be learned by comparing."""
    html = "<input type=password aria-label=p value=hunter2>"
    first, second = await page.read(html), await page.read(html)
    assert first["document"] != second["document"]
    assert first["key"] != second["key"]
    assert first["controls"][0]["guard"] != second["controls"][0]["guard"]
    assert len(first["key"]) == len(first["controls"][0]["guard"]) == 16


async def test_text_and_headings_are_what_a_person_can_read(page: Reader) -> None:
    """Page reference 2.10."""
    frame = await page.read(
        "<h1> Big   news </h1><h2 hidden>no</h2><p>One <b>two</b> three</p><div style='display:none'>hidden</div>"
        "<div style='display:contents'>boxless</div><script>var no;</script><select><option>not told</select>"
        "<div style='height:3000px'></div>"
    )
    assert frame["title"] == "A page"
    assert frame["headings"] == ["Big news"]
    assert frame["text"].split("\n") == ["Big   news", "One", "two", "three", "boxless"]
    assert frame["more"] is True
    assert frame["url"] == (await page.call("tab.get"))["tab"]["url"]


async def test_long_pages_are_cut_and_say_so(page: Reader) -> None:
    """Page reference 2.10 and 2.11: 6000 characters, 300 controls, and the count of those left out."""
    frame = await page.read("<p>" + "word " * 3000 + "</p>" + "<button>b</button>" * 320)
    assert len(frame["text"]) == 6000
    assert len(frame["controls"]) == 300
    assert frame["truncated"] == 20


async def test_half_characters_of_a_page_do_not_break_the_wire(page: Reader) -> None:
    """A lone surrogate has no UTF-8; a cut never leaves one."""
    await page.read("<button id=b>x</button>")
    await page.js(r"void (b.textContent = 'bad \ud83d end', document.title = '\ud83e\udd8a'.repeat(600))")
    frame = await page.frame()
    assert frame["controls"][0]["label"] == "bad \ufffd end"
    assert frame["title"] == "🦊" * 500


async def test_a_challenge_that_can_be_seen_is_a_captcha_and_talk_of_one_is_not(page: Reader) -> None:
    """Page reference 2.10 as narrowed by 21.10."""
    widget = "<div class=g-recaptcha style='width:300px;height:78px'>challenge</div>"
    assert (await page.read(widget))["captcha"] is True
    assert (await page.read(widget + "<textarea name=g-recaptcha-response hidden>token</textarea>"))["captcha"] is False
    assert (await page.read("<div class=g-recaptcha style='width:1px;height:1px'></div>"))["captcha"] is False
    assert (await page.read("<p>Please verify you are human</p>"))["captcha"] is True
    assert (await page.read("<p>All about captchas and recaptcha</p>"))["captcha"] is False
    assert (await page.read("<p>An article: captcha</p>" + "<button>b</button>" * 10))["captcha"] is False


async def test_reading_changes_nothing(page: Reader) -> None:
    """Page reference 2: no focus, no scroll, no attribute, no event, no own function touched."""
    await page.read("<input><button>b</button><div style='height:3000px'></div><form><input name=action></form>")
    await page.js(
        "void (window.seen = [], new MutationObserver(r => seen.push(...r.map(x => x.type))).observe(document, "
        "{subtree: true, childList: true, attributes: true, characterData: true}), "
        "['focus', 'blur', 'scroll', 'click', 'input', 'pointerover'].forEach(t => addEventListener(t, () => seen.push(t), true)), "
        "window.natives = [alert, confirm, prompt])"
    )
    await page.frame()
    await page.frame()
    assert await page.js("seen") == []
    assert await page.js("[alert === natives[0], confirm === natives[1], prompt === natives[2], 'foxloop' in window]") == [
        True,
        True,
        True,
        False,
    ]


async def test_a_page_with_a_frame_named_like_our_shelf_is_read_all_the_same(page: Reader) -> None:
    """Named frames appear on the window; ours is an own property of the isolated world."""
    frame = await page.read("<iframe name=foxloop srcdoc=x></iframe><button>b</button>")
    assert labels(frame["controls"]) == ["b"]


async def test_going_back_brings_the_same_document_back(page: Reader) -> None:
    """A page from the back-forward cache keeps its name, its numbers and its guards, and answers again."""
    first = await page.read("<input aria-label=a value=kept>")
    await soon(page.loaded)
    other = await page.read("<button>elsewhere</button>")
    assert other["document"] != first["document"]
    await soon(page.loaded)  # going back while it loads would stop the load instead
    await page.js("void setTimeout(() => history.back())")
    await soon(lambda: page.showing(first["document"]))
    assert await page.frame() == first


async def test_pages_that_firefox_keeps_for_itself_cannot_be_read(page: Reader) -> None:
    """Error codes of the wire."""
    await page.call("tab.goto", url="about:blank")
    with pytest.raises(RemoteCallError) as caught:
        await page.call("page.read")
    assert caught.value.code == "restricted-page"
    with pytest.raises(RemoteCallError) as caught:
        await page.session.channel.call("page.read", {"tab": 987654}, timeout=5)
    assert caught.value.code == "no-tab"


async def test_a_picture_does_not_show_secrets(page: Reader) -> None:
    """Page reference 21.16: a field with a one-time code looks the same whatever it holds; the page is as before afterwards."""
    await page.read("<input aria-label='Verification code' id=code style='color:red' value=1111><input id=plain value=1111>")

    async def picture() -> str:
        return str((await page.call("tab.capture", format="png"))["data"])

    first = await picture()
    await page.js("void (code.value = '88888888')")
    assert await picture() == first
    assert await page.js("code.getAttribute('style')") == "color:red"
    await page.js("void (plain.value = '88888888')")
    assert await picture() != first


CLOBBERING = (
    *(
        "action",
        "attributes",
        "checkVisibility",
        "children",
        "childNodes",
        "closest",
        "contains",
        "elements",
        "form",
        "getAttribute",
    ),
    *(
        "getBoundingClientRect",
        "getClientRects",
        "hasAttribute",
        "isConnected",
        "labels",
        "localName",
        "matches",
        "method",
        "parentElement",
    ),
    *("querySelector", "requestSubmit", "target", "textContent", "ownerDocument", "style", "innerText", "scrollTop", "getRootNode"),
)


async def test_fields_named_like_properties_mislead_nobody(page: Reader) -> None:
    """A form and a document answer with a field when they are asked for a property of its name; ours must not be asked that way."""
    plain = "<section><h2>Order</h2><form action=/sent id=f{0}>{1}<button>send</button></form></section>"
    fields = "".join(f"<input aria-label=x name={name}>" for name in CLOBBERING)
    pictures = "".join(
        f"<img name={name} hidden>" for name in ("body", "title", "activeElement", "querySelectorAll", "documentElement")
    )
    frame = await page.read(pictures + plain.format(1, fields) + plain.format(2, "<input aria-label=x name=y>"))
    assert frame["title"] == "A page"
    assert frame["headings"] == ["Order", "Order"]
    *inputs, send, plain_input, plain_send = frame["controls"]
    assert len(inputs) == len(CLOBBERING)
    for mine, other in [(inputs[0], plain_input), (send, plain_send)]:
        differ = {key for key in mine if mine[key] != other[key]}
        assert differ <= {"node", "form", "name", "guard"}
    assert {control["form"] for control in inputs} == {send["form"]}
