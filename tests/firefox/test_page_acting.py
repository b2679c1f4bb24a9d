"""Acting on a page in real Firefox: what the add-on does to a control, and what it refuses to do, asked for over the wire.

Each test writes a page of its own. `js` evaluates in the page's own world over WebDriver BiDi: that is the test's eye, not the
product's.
"""

import secrets
from typing import Any

import pytest
import trio

from foxloop_trio.channel import Call, CallTimeout, RemoteCallError
from foxloop_trio.testing._act_probe import PageProbe, soon

pytestmark = pytest.mark.firefox

Json = dict[str, Any]

PRESS = (
    *("pointerover", "pointerenter", "mouseover", "mouseenter", "pointermove", "mousemove", "pointerdown", "mousedown"),
    *("focus", "focusin", "pointerup", "mouseup", "click"),
)
TYPED = ("keydown", "beforeinput", "input", "keyup", "change")
LEFT = ("pointerout", "pointerleave", "mouseout", "mouseleave")
BLURRED = ("blur", "focusout")
EVENTS = (*PRESS, *TYPED, *LEFT, *BLURRED, "submit", "scroll")


async def is_true(call: Call, name: str) -> bool:
    await trio.lowlevel.checkpoint()
    return bool(getattr(call, name))


# Typing


TAKEN = [
    ("<input aria-label=f value=old>", "new text", "new text"),
    ("<input aria-label=f value=old>", "", ""),
    ("<input type=search aria-label=f>", "Grüße 🦊", "Grüße 🦊"),
    ("<input type=email aria-label=f>", "ada@example.org", "ada@example.org"),
    ("<input type=tel aria-label=f>", "+49 30 1234", "+49 30 1234"),
    ("<input type=url aria-label=f>", "https://example.org/", "https://example.org/"),
    ("<input type=number aria-label=f step=any>", "12.5", "12.5"),
    ("<input type=time aria-label=f>", "09:30", "09:30"),
    ("<input type=datetime-local aria-label=f>", "2026-10-09T09:30", "2026-10-09T09:30"),
    ("<input type=date aria-label=f>", "2026-10-09", "2026-10-09"),
    ("<textarea aria-label=f>old\ntext</textarea>", "two\nlines", "two\nlines"),
    ("<input aria-label=f oninput='this.value = this.value.toUpperCase()'>", "code", "CODE"),
    (
        "<input aria-label=f oninput=\"this.value = this.value.replace(/\\D/g, '').replace(/^(...)(...)(....)$/, '($1) $2-$3')\">",
        "5551234567",
        "(555) 123-4567",
    ),
]


async def test_a_field_holds_what_was_typed(page: PageProbe) -> None:
    """Page reference 4.4: the whole content is replaced; a field may reformat it (B80)."""
    await page.open("".join(f"<p>{markup.replace('=f', f'=f{n} id=f{n}')}</p>" for n, (markup, _, _) in enumerate(TAKEN)))
    for n, (_, text, held) in enumerate(TAKEN):
        result = await page.act(f"f{n}", "type", text)
        told = {key: result[key] for key in ("ok", "started", "value", "submitted", "navigated", "dialogs")}
        assert told == {"ok": True, "started": True, "value": held, "submitted": False, "navigated": False, "dialogs": []}
        assert await page.js(f"f{n}.value") == held
        await page.read()


NOT_TAKEN = [
    ("<input type=number aria-label=f>", "letters", ""),
    ("<input aria-label=f maxlength=4>", "too long", "too "),
    ("<input aria-label=f value=mine oninput='setTimeout(() => this.value = \"mine\")'>", "yours", "mine"),
    ("<input aria-label=f oninput=\"this.value = this.value.replace(/[.]/g, '')\">", "12.50", "1250"),
    ("<input type=password aria-label=f maxlength=4>", "too long", "•••"),
]


async def test_a_field_that_did_not_take_the_text_is_a_mismatch(page: PageProbe) -> None:
    """Page reference 4.4 [+] and B80: read back a tick later, with what it holds; a secret stays one."""
    await page.open("".join(f"<p>{markup.replace('=f', f'=f{n}')}</p>" for n, (markup, _, _) in enumerate(NOT_TAKEN)))
    for n, (_, text, held) in enumerate(NOT_TAKEN):
        result = await page.act(f"f{n}", "type", text)
        assert (result["ok"], result["started"], result["reason"], result["value"]) == (False, True, "mismatch", held)
        await page.read()


async def test_a_typed_password_is_masked_in_the_result(page: PageProbe) -> None:
    """Masked at the source."""
    await page.open("<input type=password aria-label=p id=p>")
    assert (await page.act("p", "type", "hunter2"))["value"] == "•••"
    assert await page.js("p.value") == "hunter2"


async def test_typing_sends_what_pages_wait_for(page: PageProbe) -> None:
    """Page reference 4.3 and 4.4: a press, the focus, a key pair around trusted input events, a change."""
    await page.open("<input aria-label=f id=f>")
    await page.record(*EVENTS)
    await page.js("void f.addEventListener('input', e => window.trusted = e.isTrusted)")
    await page.act("f", "type", "x")
    assert await page.js("seen") == [f"{kind}:f" for kind in (*PRESS, *TYPED)]
    assert await page.js("trusted") is True
    assert await page.js("document.activeElement === f") is True


TRACKED = """<script>
// As React does it: an own `value` (or `checked`) property on the element notes what scripts set; an event only counts when the
// element's real value differs from what was noted last.
function track(el, key) {
  const native = Object.getOwnPropertyDescriptor(el.constructor.prototype, key);
  let noted = native.get.call(el);
  const set = v => { noted = v; native.set.call(el, v); };
  Object.defineProperty(el, key, { configurable: true, get: () => native.get.call(el), set });
  return () => { const real = native.get.call(el); const changed = real !== noted; noted = real; return changed; };
}
window.state = {};
function controlled(el, key, type) {
  const changed = track(el, key);
  state[el.id] = el[key];
  document.addEventListener(type, e => {
    if (e.target === el && changed()) state[el.id] = el[key];
    el[key] = state[el.id];
  });
}
</script>"""


async def test_controlled_fields_of_a_framework_take_every_kind_of_act(page: PageProbe) -> None:
    """B80: with a value tracker like React's, the state follows and is not put back."""
    await page.open(
        TRACKED + "<input id=i aria-label=i><textarea id=a aria-label=a></textarea><input type=date id=d aria-label=d>"
        "<select id=s aria-label=s><option>x<option>y</select><input type=checkbox id=c aria-label=c>"
        "<input type=radio name=r id=r aria-label=r>"
        "<script>[[i, 'value', 'input'], [a, 'value', 'input'], [d, 'value', 'input'], [s, 'value', 'change'],"
        "[c, 'checked', 'click'], [r, 'checked', 'click']].forEach(x => controlled(...x))</script>"
    )
    for label, op, value in [
        ("i", "type", "one"),
        ("a", "type", "two\n2"),
        ("d", "date", "2026-10-09"),
        ("s", "select", "y"),
        ("c", "check", None),
        ("r", "check", None),
    ]:
        result = await page.act(label, op, value)
        assert result["ok"], (label, result)
        await page.read()
    assert await page.js("state") == {"i": "one", "a": "two\n2", "d": "2026-10-09", "s": "y", "c": True, "r": True}
    assert await page.js("[i.value, a.value, d.value, s.value, c.checked, r.checked]") == [
        "one",
        "two\n2",
        "2026-10-09",
        "y",
        True,
        True,
    ]


async def test_text_never_lands_in_another_field_that_grabs_the_focus(page: PageProbe) -> None:
    """An editing command would go to whatever has the focus."""
    await page.open("<input aria-label=f id=f onfocus='other.focus()'><input id=other aria-label=other value=keep>")
    assert (await page.act("f", "type", "text"))["ok"]
    assert await page.js("[f.value, other.value]") == ["text", "keep"]


async def test_a_press_that_removes_the_field_ends_the_typing(page: PageProbe) -> None:
    """What was allowed is no longer there."""
    await page.open("<input aria-label=f onpointerdown='this.remove()'><input aria-label=other id=other>")
    result = await page.act("f", "type", "text")
    assert (result["ok"], result["started"], result["reason"]) == (False, True, "gone")
    assert await page.js("other.value") == ""


async def test_a_date_is_set_in_a_date_field_and_typed_in_another(page: PageProbe) -> None:
    """Page reference 4.4."""
    await page.open("<input type=date aria-label=d id=d><input aria-label=t id=t>")
    assert await page.refused("d", "date", "2026-02-30") == ("unsupported", "not a date of the form YYYY-MM-DD")
    assert (await page.act("d", "date", "2026-02-28"))["value"] == "2026-02-28"
    await page.read()
    assert (await page.act("t", "date", "28.02.2026"))["value"] == "28.02.2026"


async def test_enter_sends_the_form_by_its_button(page: PageProbe) -> None:
    """Page reference 4.4; a hidden or disabled send button refuses, a textarea gets a line break."""
    await page.open(
        "<form id=f onsubmit='window.by = event.submitter.id; event.preventDefault()'><input aria-label=i id=i>"
        "<textarea aria-label=a id=a>x</textarea><button id=b>send</button></form>"
    )
    await page.record("keydown", "keypress", "keyup", "submit")
    result = await page.act("i", "enter")
    assert (result["ok"], result["submitted"]) == (True, True)
    assert await page.js("[by, seen]") == ["b", ["keydown:i", "keypress:i", "submit:f", "keyup:i"]]
    await page.js("void (window.by = null, a.setSelectionRange(1, 1))")
    assert not (await page.act("a", "enter"))["submitted"]
    assert await page.js("[by, a.value]") == [None, "x\n"]
    await page.js("void (b.disabled = true)")
    await page.read()
    assert (await page.refused("i", "enter"))[0] == "disabled"
    await page.js("void (b.style.display = 'none')")
    await page.read()
    assert (await page.refused("i", "enter"))[0] == "hidden"


# Choosing and toggling


async def test_an_option_is_selected_by_value_or_by_its_only_label(page: PageProbe) -> None:
    """Page reference 4.4: input and change, no pointer events; a disabled option and an unknown one are refused."""
    await page.open(
        "<select aria-label=s id=s><option value=1>One<option value=2>Two<option value=3>Same<option value=4>Same"
        "<option value=5 disabled>Five</select>"
    )
    await page.record("pointerdown", "click", "input", "change")
    assert (await page.act("s", "select", "2"))["value"] == "2"
    assert await page.js("seen") == ["input:s", "change:s"]
    await page.read()
    assert (await page.act("s", "select", "One"))["value"] == "1"
    await page.read()
    for value in ("Same", "5", "Five", "6"):
        assert (await page.refused("s", "select", value))[0] == "unsupported"
    assert (await page.act("s", "select", "4"))["value"] == "4"


async def test_check_and_uncheck_press_only_when_the_state_differs(page: PageProbe) -> None:
    """Page reference 4.4."""
    await page.open("<label><input type=checkbox id=c> Agree</label>")
    await page.record("click", "input", "change")
    result = await page.act("Agree", "check")
    assert (result["ok"], result["started"], result["checked"]) == (True, True, True)
    assert await page.js("seen") == ["click:c", "input:c", "change:c"]
    await page.read()
    result = await page.act("Agree", "check")
    assert (result["ok"], result["started"], result["checked"]) == (True, False, True)
    result = await page.act("Agree", "uncheck")
    assert (result["ok"], result["checked"]) == (True, False)
    assert len(await page.js("seen")) == 6


@pytest.mark.long
async def test_a_toggle_that_changes_later_is_waited_for(page: PageProbe) -> None:
    """Page reference 4.4 [+]: up to half a second."""
    flip = "const on = this.getAttribute('aria-checked'); setTimeout(() => this.setAttribute('aria-checked', on !== 'true'), {})"
    await page.open(
        f'<div role=switch aria-checked=false tabindex=0 onclick="{flip.format(150)}">soon</div>'
        f'<div role=switch aria-checked=false tabindex=0 onclick="{flip.format(5000)}">late</div>'
    )
    result = await page.act("soon", "check")
    assert (result["ok"], result["checked"]) == (True, True)
    await page.read()
    result = await page.act("late", "check")
    assert (result["ok"], result["started"], result["reason"], result["checked"]) == (False, True, "unsupported", False)
    assert result["detail"] == "state unchanged"


async def test_what_has_no_state_is_not_pressed_to_find_out(page: PageProbe) -> None:
    """A radio cannot be unchecked; a plain button and a link have nothing to check."""
    await page.open("<button id=b>plain</button><input type=radio checked aria-label=r id=r>")
    await page.record("click")
    assert (await page.refused("plain", "check"))[0] == "unsupported"
    assert (await page.refused("r", "uncheck"))[0] == "unsupported"
    assert (await page.refused("plain", "type", "x"))[0] == "unsupported"
    assert await page.js("seen") == []


async def test_a_styled_checkbox_is_pressed_at_its_label(page: PageProbe) -> None:
    """Page reference 21.2 and B83: the label is what people see and what is hit; a link inside it is not."""
    await page.open(
        "<style>.own { opacity: 0; position: absolute } .none { display: none }</style>"
        "<input type=checkbox id=a class=own><label for=a style='display:block;width:200px'>Fast</label>"
        "<label style='display:block'><input type=checkbox id=b class=none> Safe</label>"
        "<input type=checkbox id=c class=none><label for=c style='display:block;width:300px'>"
        "<a href=/terms style='margin-left:40%'>Terms</a></label>"
    )
    for label in ("Fast", "Safe"):
        result = await page.act(label, "check")
        assert (result["ok"], result["checked"]) == (True, True), label
        await page.read()
    terms = next(control for control in page.frame["controls"] if control.get("via") == "label" and control["label"] == "Terms")
    result = await page.act("Fast", "check", node=terms["node"], guard=terms["guard"])
    assert (result["ok"], result["checked"]) == (True, True)
    assert await page.js("[a.checked, b.checked, c.checked, location.pathname.startsWith('/page')]") == [True, True, True, True]


# Clicking


async def test_a_click_is_the_whole_sequence_of_a_mouse(page: PageProbe) -> None:
    """Page reference 4.3; the second press leaves what the first one hovered."""
    await page.open("<button id=a onclick='this.title = 1'>a</button><button id=b onclick='this.title = 1'>b</button>")
    await page.record(*EVENTS)
    assert (await page.act("a", "click"))["ok"]
    await page.act("b", "click")
    focus = PRESS.index("focus")
    assert await page.js("seen") == [
        *(f"{kind}:a" for kind in (*PRESS, *LEFT)),
        *(f"{kind}:b" for kind in PRESS[:focus]),
        *(f"{kind}:a" for kind in BLURRED),
        *(f"{kind}:b" for kind in PRESS[focus:]),
    ]


async def test_a_cancelled_pointerdown_leaves_out_the_mouse_events(page: PageProbe) -> None:
    """Page reference 4.3, step 3; the click comes always."""
    await page.open("<button id=a onpointerdown='event.preventDefault()'>a</button>")
    await page.record("pointerdown", "mousedown", "focus", "pointerup", "mouseup", "click")
    await page.act("a", "click")
    assert await page.js("seen") == ["pointerdown:a", "pointerup:a", "click:a"]


async def test_a_click_on_a_link_goes_there_and_the_old_document_is_gone(page: PageProbe) -> None:
    """The act is answered; what is asked of the old document afterwards is refused (B76)."""
    await page.open("<a href=/elsewhere>go</a>")
    old = page.order("go", "click")
    result = await page.act("go", "click")
    assert (result["ok"], result["started"]) == (True, True)
    settled = await page.call("page.settle", **page.place, list_for=None)
    assert settled["gone"] in (True, False)
    await page.until("location.pathname === '/elsewhere'")
    with pytest.raises(RemoteCallError) as caught:
        await page.call("page.act", **old)
    assert caught.value.code == "document-gone"
    assert (await page.call("page.settle", **page.place, list_for=None)) == {"waited_ms": 0, "gone": True}


async def test_a_document_that_goes_away_after_the_start_has_done_it(page: PageProbe) -> None:
    """Ruling 21: here the toggle is waited for while the page leaves. The submit and the dialog were noted before."""
    await page.open(
        "<form onsubmit='event.preventDefault()'><button role=switch aria-checked=false "
        "onclick=\"alert('leaving'); setTimeout(() => location.href = '/elsewhere')\">leave</button></form>"
    )
    call = page.start(page.order("leave", "check"))
    result = await call.result()
    assert call.started
    assert result == {
        "ok": True,
        "started": True,
        "navigated": True,
        "submitted": True,
        "dialogs": [{"kind": "alert", "message": "leaving", "answer": None}],
    }


async def test_a_submit_is_noticed(page: PageProbe) -> None:
    """Page reference 4.5: cancelled ones too; a form that validation blocks has none."""
    await page.open(
        "<form onsubmit='event.preventDefault()'><button>stay</button></form><form><input required><button>lacks</button></form>"
        "<form action=/elsewhere><button>leave</button></form>"
    )
    for label, submitted in [("stay", True), ("lacks", False), ("leave", True)]:
        result = await page.act(label, "click")
        assert (result["ok"], result["submitted"]) == (True, submitted)


DEAF = (
    "<script>['submit', 'pagehide', 'pageshow'].forEach(type => addEventListener(type, event => {"
    "event.preventDefault(); event.stopImmediatePropagation() }, true))</script>"
)
REOPENED = "((html) => { document.open(); document.write(html); document.close() })(keep.outerHTML)"


@pytest.mark.parametrize(("script", "then"), [(DEAF, "0"), ("", REOPENED)], ids=["stops-events", "document-open"])
async def test_no_page_can_keep_submits_and_its_coming_and_going_from_us(page: PageProbe, script: str, then: str) -> None:
    """Our choice: our listeners come before the page's, and are there again after document.open()."""
    await page.open(
        f"{script}<div id=keep><form onsubmit='event.preventDefault()'><button>send</button></form>"
        "<button id=go onclick=\"location = '/elsewhere'\">go</button></div>"
    )
    await page.js(f"void ({then})")
    document = (await page.read())["document"]
    assert (await page.act("send", "click"))["submitted"]
    await page.act("go", "click")
    await page.until("location.pathname === '/elsewhere'")
    await soon(lambda: page.showing_another_than(document))
    await page.js("void setTimeout(() => history.back())")
    await soon(lambda: page.showing(document))
    assert (await page.read())["document"] == document


@pytest.mark.parametrize(
    ("handler", "reason"),
    [
        ("onmouseover='this.remove()'", "gone"),
        ('onpointermove="this.style.left = `${parseInt(this.style.left) + 200}px`"', "covered"),
        ("onmouseover=\"this.style.left = '400px'\"", None),
        ("onpointermove='cover.hidden = false'", "covered"),
        ("onpointermove='this.disabled = false'", None),
        ("onmouseover=\"this.replaceChildren('b')\"", None),
        ("onmousedown=\"this.replaceChildren('b')\"", None),
    ],
)
@pytest.mark.long
async def test_a_control_that_dodges_the_pointer_is_not_pressed(page: PageProbe, handler: str, reason: str | None) -> None:
    """B83: the target is looked for again after the pointer's way there. One that moved once is followed, and one whose content was
    drawn anew is pressed.
    """
    await page.open(
        f"<button style='position:absolute;left:10px;top:10px' {handler} onclick='window.hit = this.title = 1'><i>b</i></button>"
        "<div id=cover style='position:fixed;inset:0' hidden></div>"
    )
    result = await page.act("b", "click")
    assert (result["ok"], result["started"], result.get("reason")) == (reason is None, True, reason)
    assert await page.js("window.hit ?? null") == (1 if reason is None else None)


async def test_a_suggestion_that_goes_when_it_is_pressed_was_pressed(page: PageProbe) -> None:
    """Our choice: lists of suggestions take the press and close; there is nothing left to click then."""
    await page.open(
        '<ul role=listbox><li role=option onmousedown="window.taken = 1; this.parentElement.remove()" '
        "onclick='window.late = 1'>b</li></ul>"
    )
    assert (await page.act("b", "click"))["ok"]
    assert await page.js("[window.taken, window.late ?? 0]") == [1, 0]


async def test_a_page_that_may_not_be_left_is_left_all_the_same(page: PageProbe) -> None:
    """Our choice: after trusted input Firefox would ask, and nobody is there to answer. The preference says that it must not."""
    await page.open("<script>addEventListener('beforeunload', e => e.preventDefault())</script><p>stay</p>")
    press = [{"type": "pointerMove", "x": 20, "y": 200}, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
    actions = [{"type": "pointer", "id": "mouse", "actions": press}]
    await page.session.bidi("input.performActions", context=await page.tab.bidi_context(), actions=actions)
    await page.open("<p>left</p>")
    assert page.frame["text"] == "left"


# What is checked before


async def test_a_refusal_touches_nothing(page: PageProbe) -> None:
    """Page reference 4.1, one control per reason, and no event of ours."""
    await page.open(
        "<button id=gone>gone</button><button id=hid>hid</button><button id=dis disabled>dis</button>"
        "<input id=ro readonly aria-label=ro>"
        "<fieldset disabled><input aria-label=infield></fieldset><input type=password aria-label=pass readonly>"
    )
    await page.js("void (gone.remove(), hid.style.visibility = 'hidden')")
    await page.record(*EVENTS)
    assert await page.refused("gone", "click") == ("gone", "")
    assert await page.refused("hid", "click") == ("hidden", "")
    assert await page.refused("dis", "click") == ("disabled", "")
    assert await page.refused("infield", "type", "x") == ("disabled", "")
    assert await page.refused("ro", "type", "x") == ("readonly", "")
    assert await page.refused("pass", "type", "x") == ("readonly", "")
    assert await page.refused("dis", "click", node=4711) == ("gone", "")
    assert await page.refused("ro", "click", host="example.org") == ("other-site", "host differs")
    assert await page.js("seen") == []


CHANGES = [
    ("b.textContent = 'Delete'", "control differs"),
    ("b.disabled = true", "control differs"),
    ("b.disabled = false", "control differs"),
    ("b.setAttribute('aria-expanded', 'true')", "control differs"),
    ("row.textContent = 'Bread'", "control differs"),
    ("head.textContent = 'Other'", "control differs"),
    ("field.value = 'typed'", "page differs"),
    ("box.checked = true", "page differs"),
    ("form.action = '/evil'", "control differs"),
    ("form.method = 'post'", "control differs"),
    ("form.target = '_blank'", "control differs"),
    ("b.setAttribute('formaction', '/worse')", "control differs"),
    ("b.setAttribute('form', 'another')", "control differs"),
    ("b.removeAttribute('form')", "control differs"),
    ("base.href = 'http://localhost:1/'", "control differs"),
    ("b.type = 'button'", "control differs"),
    ("location.hash = 'elsewhere'", "page differs"),
    ("field.remove()", "page differs"),
]


async def test_a_change_after_the_look_makes_the_act_stale(page: PageProbe) -> None:
    """Page reference 2.9 and 4.1."""
    await page.open(
        "<base id=base><section><h2 id=head>List</h2><ul><li><span id=row>Milk</span> <form id=form action=/drop>"
        "<button id=b onclick='window.hit = this.title = 1'>Drop</button></form></li></ul></section><input id=field "
        "aria-label=field>"
        "<input type=checkbox id=box aria-label=box><form id=another action=/drop></form>"
    )
    for change, detail in CHANGES:
        label = await page.js("b.textContent")
        await page.js(f"void ({change})")
        assert await page.refused(label, "click") == ("stale", detail), change
        await page.read()
    assert await page.js("window.hit ?? null") is None


@pytest.mark.parametrize(
    ("html", "change", "op", "value"),
    [
        ("<input id=f aria-label=f>", "f.type = 'password'", "type", "x"),
        ("<input id=f aria-label=f>", "f.autocomplete = 'one-time-code'", "type", "x"),
        ("<input id=f aria-label=f>", "f.type = 'email'", "type", "x"),
        ("<a id=f href=/there>f</a>", "f.target = '_blank'", "click", None),
        ("<a id=f href=/there>f</a>", "base.href = 'http://localhost:1/'", "click", None),
    ],
)
async def test_a_control_that_became_another_kind_of_thing_is_stale(
    page: PageProbe, html: str, change: str, op: str, value: str | None
) -> None:
    """Browser tools 4: what was judged was a plain field, and a link to that address."""
    await page.open(f"<base id=base>{html}")
    await page.js(f"void ({change})")
    assert await page.refused("f", op, value) == ("stale", "control differs")
    assert await page.js("f.value || ''") == ""


async def test_a_change_that_does_not_matter_lets_the_act_through(page: PageProbe) -> None:
    """The accepted twin of the stale ones."""
    await page.open("<p id=p>a</p><ul><li>Milk <button id=b>Drop</button></li></ul><button id=o>other</button>")
    await page.js(
        "void (b.onclick = () => b.lang = 'en', p.textContent = 'b', b.className = 'x', o.textContent = 'more', "
        "b.style.marginTop = '30px')"
    )
    assert (await page.act("Drop", "click"))["ok"]


async def test_the_wrong_incarnation_and_a_strange_document_are_refused(page: PageProbe) -> None:
    """Ruling 24: nothing meant for another background page runs."""
    await page.open("<button id=b onclick='window.hit = this.title = 1'>b</button>")
    for change, code in [
        ({"incarnation": "0" * 32}, "other-incarnation"),
        ({"document": "0" * 32}, "document-gone"),
        ({"frame": 7}, "document-gone"),
    ]:
        with pytest.raises(RemoteCallError) as caught:
            await page.act("b", "click", **change)
        assert caught.value.code == code
    with pytest.raises(RemoteCallError) as caught:
        await page.session.channel.call("page.act", {**page.order("b", "click"), "tab": 987654}, timeout=5)
    assert caught.value.code == "no-tab"
    assert await page.js("window.hit ?? null") is None


# Reaching


@pytest.mark.parametrize(
    ("cover", "refused"),
    [
        ("<div style='position:fixed;inset:0 0 auto 0;height:100px' id=banner>Cookies?</div>", 'covered by div "Cookies?"'),
        ("<div style='position:fixed;inset:0' aria-label=Veil></div>", 'covered by div "Veil"'),
        ("<div style='position:fixed;inset:0;pointer-events:none'></div>", None),
        ("<div style='position:absolute;left:0;top:0;width:60px;height:60px'></div>", None),
    ],
)
async def test_a_covered_control_is_refused_by_the_name_of_its_cover(page: PageProbe, cover: str, refused: str | None) -> None:
    """B83. The last one covers a part of it only."""
    await page.open(
        f"<button style='position:absolute;left:10px;top:10px;width:100px;height:60px' onclick='window.hit = this.title = "
        f"1'>b</button>{cover}"
    )
    if refused is None:
        assert (await page.act("b", "click"))["ok"]
    else:
        assert await page.refused("b", "click") == ("covered", refused)
    assert await page.js("window.hit ?? null") == (None if refused else 1)


@pytest.mark.parametrize(
    "html",
    [
        "<div style='height:3000px'></div>{}",
        "<div style='position:fixed;inset:0 0 auto 0;height:80px'></div><p style='height:1500px'></p>{}<p style='height:1500px'>",
        "<div style='height:100px;overflow:auto'><div style='height:900px'></div>{}</div>",
        "<div style='width:100px;overflow:auto;white-space:nowrap'><span style='display:inline-block;width:900px'>x</span>{}</div>",
        "<style>html {{ scroll-behavior: smooth }}</style><div style='height:3000px'></div>{}",
    ],
)
async def test_a_control_is_scrolled_into_reach(page: PageProbe, html: str) -> None:
    """Page reference 4.2: below the fold, behind a bar that stays, in a container of its own."""
    await page.open(html.format("<button id=b onclick='window.hit = this.title = 1'>b</button>"))
    if "fixed" in html:
        await page.js("void scrollTo(0, b.offsetTop - 20)")
    result = await page.act("b", "click")
    assert (result["ok"], await page.js("window.hit ?? null")) == (True, 1), result


async def test_what_changes_while_it_is_scrolled_into_view_is_stale(page: PageProbe) -> None:
    """Ruling 47: after each wait everything is checked again."""
    await page.open(
        "<input id=field aria-label=field><div style='height:3000px'></div><button onclick='window.hit = this.title = 1'>b</button>"
        "<script>addEventListener('scroll', () => { field.value = 'auto-saved' })</script>"
    )
    assert await page.refused("b", "click") == ("stale", "page differs")
    assert await page.js("window.hit ?? null") is None


@pytest.mark.long
async def test_a_ring_is_shown_and_gone_again(page: PageProbe) -> None:
    """Page reference 4.2: for 600 ms, without pointer events, and no part of what is read."""
    await page.open("<button id=b>b</button>")
    before = await page.js("document.documentElement.children.length")
    await page.act("b", "click", mark=True)
    ring = "document.documentElement.lastChild"
    shown = await page.js(f"[document.documentElement.children.length, getComputedStyle({ring}).pointerEvents]")
    assert shown == [before + 1, "none"]
    assert len((await page.read())["controls"]) == 1
    await page.until(f"document.documentElement.children.length === {before}")


# Scrolling


async def test_scrolling_moves_the_window_or_the_container_of_the_control(page: PageProbe) -> None:
    """Page reference 4.4; the end is told, and a disabled textarea hears of its scroll."""
    await page.open(
        "<div id=box style='height:80px;overflow:auto'><button>in</button><div style='height:700px'></div></div>"
        "<button>out</button>"
        f"<textarea id=t disabled aria-label=t style='height:60px'>{'line&#10;' * 40}</textarea><div style='height:3000px'></div>"
    )
    await page.record("scroll")
    assert (await page.act("in", "scroll", 100))["detail"] == "moved by 100 px"
    assert await page.js("[box.scrollTop, scrollY]") == [100, 0]
    assert (await page.act("in", "scroll", 5000))["ok"]
    assert (await page.act("in", "scroll"))["detail"] == "it did not move: it is at its end"
    assert (await page.act("out", "scroll"))["detail"] == "moved by 560 px"
    assert await page.js("scrollY") == 560
    assert (await page.act("out", "scroll", "-60"))["detail"] == "moved by -60 px"
    assert (await page.act("t", "scroll", 50))["detail"] == "moved by 50 px"
    heard = await page.js("seen")
    assert "scroll:box" in heard
    assert heard.count("scroll:t") == 1


# Dialogs


async def test_dialogs_during_an_act_are_answered_by_no_and_reported(page: PageProbe) -> None:
    """B85: alert is closed, confirm declined, prompt cancelled; the page gets its own functions back."""
    await page.open(
        "<button id=b onclick=\"window.answers = [alert('Hello'), confirm('Sure?'), prompt('Name?', 'x'), alert()]\">b</button>"
        "<script>window.natives = [alert, confirm, prompt]</script>"
    )
    with page.session.channel.events() as told:
        result = await page.act("b", "click")
        assert result["ok"]
        assert result["dialogs"] == [
            {"kind": "alert", "message": "Hello", "answer": None},
            {"kind": "confirm", "message": "Sure?", "answer": False},
            {"kind": "prompt", "message": "Name?", "answer": None},
            {"kind": "alert", "message": "", "answer": None},
        ]
        with trio.fail_after(5):
            shown = [news async for news in _take(told, "dialog.shown", 4)]
    assert [news.params["message"] for news in shown] == ["Hello", "Sure?", "Name?", ""]
    assert await page.js("answers") == [None, False, None, None]
    await page.call("page.settle", **page.place, list_for=None)
    assert await page.js("[alert === natives[0], confirm === natives[1], prompt === natives[2]]") == [True, True, True]


async def _take(told: Any, method: str, count: int) -> Any:
    while count:
        news = await told.receive()
        if news.method == method:
            count -= 1
            yield news


async def test_a_dialog_that_comes_while_the_page_settles_is_answered_too(page: PageProbe) -> None:
    """Page reference 21.15."""
    await page.open("<button onclick=\"this.title = 1; setTimeout(() => { window.answer = confirm('Later?') }, 60)\">b</button>")
    with page.session.channel.events() as told:
        assert (await page.act("b", "click"))["dialogs"] == []
        await page.call("page.settle", **page.place, list_for=None)
        with trio.fail_after(5):
            (news,) = [news async for news in _take(told, "dialog.shown", 1)]
    assert news.params == {"tab": page.tab.id, "frame": 0, "kind": "confirm", "message": "Later?", "answer": False}
    assert await page.js("answer") is False


async def test_a_page_that_asks_for_ever_is_stopped(page: PageProbe) -> None:
    """B85: the loop is bounded; the page gets an exception, as from Firefox when further dialogs are forbidden."""
    await page.open(
        "<button id=b onclick=\"try { while (!confirm('Again?')); } catch (e) { window.failed = e instanceof Error }\">b</button>"
    )
    result = await page.act("b", "click")
    assert result["ok"]
    assert len(result["dialogs"]) == 20
    assert await page.js("failed") is True


async def test_a_page_may_put_its_own_function_there_during_the_act(page: PageProbe) -> None:
    """What the page sets itself is not undone."""
    await page.open("<button onclick=\"this.title = 1; window.confirm = () => 'mine'\">b</button>")
    await page.act("b", "click")
    await page.call("page.settle", **page.place, list_for=None)
    assert await page.js("confirm()") == "mine"


@pytest.mark.long
async def test_a_real_dialog_does_not_hold_the_answer_back(page: PageProbe) -> None:
    """B85: a page that kept the native function opens one all the same; the answer comes within two seconds, the end later."""
    await page.open(
        "<script>const say = alert.bind(window)</script><button id=b onclick=\"say('Real'); window.after = this.title = "
        '1">b</button>'
    )
    order = page.order("b", "click")
    with trio.fail_after(5):
        result = await page.call("page.act", **order)
    assert (result["ok"], result["started"], result["reason"]) == (False, True, "dialog")
    assert (await page.call("page.outcome", **page.place, call=order["call"])) == {"known": True, "result": None}
    await page.session.bidi("browsingContext.handleUserPrompt", context=await page.tab.bidi_context(), accept=False)
    await page.until("window.after === 1")
    with trio.fail_after(5):
        while (outcome := await page.call("page.outcome", **page.place, call=order["call"]))["result"] is None:  # noqa: ASYNC110
            await trio.sleep(0.05)
    assert (outcome["result"]["ok"], outcome["result"]["started"]) == (True, True)


# Focus


@pytest.mark.long
async def test_a_tab_in_the_background_hears_of_the_focus(page: PageProbe) -> None:
    """A document without the system's focus sends no focus events by itself; once each all the same."""
    await page.open("<input id=a aria-label=a><input id=b aria-label=b>")
    other = (await page.session.channel.call("tab.open", {"url": page.site.put("in front"), "active": True}, timeout=10))["tab"][
        "tab"
    ]
    try:
        assert await page.js("[document.hidden, document.hasFocus()]") == [True, False]
        await page.record("focus", "focusin", "blur", "focusout")
        assert (await page.act("a", "type", "x", focus=False))["ok"]
        await page.read()
        assert (await page.act("b", "type", "y", focus=False))["ok"]
        moved = ["focus:a", "focusin:a", "blur:a", "focusout:a", "focus:b", "focusin:b"]
        assert await page.js("seen") == moved
        assert (await page.call("page.settle", **page.place, list_for=None))["waited_ms"] < 600
    finally:
        await page.session.channel.call("tab.close", {"tab": other}, timeout=10)


# Stopping


@pytest.mark.long
async def test_a_call_after_its_deadline_never_runs(page: PageProbe) -> None:
    """The page is busy beyond the deadline; when it is free again, nothing is done."""
    await page.open("<button id=b onclick='window.hit = this.title = 1'>b</button>")
    order = page.order("b", "click")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(page.js, "(() => { const end = Date.now() + 1500; while (Date.now() < end); })()")
        await trio.sleep(0.2)
        call = page.start(order, timeout=0.4)
        with pytest.raises(CallTimeout):
            await call.result()
        assert not call.started
    await page.until("true")
    await trio.sleep(0.2)  # the page had every chance to run it
    assert await page.js("window.hit ?? null") is None
    outcome = await page.call("page.outcome", **page.place, call=order["call"])
    assert outcome["known"] is True
    assert (outcome["result"]["started"], outcome["result"]["reason"]) == (False, "timeout")


async def test_a_call_that_is_cancelled_before_it_begins_does_nothing(page: PageProbe) -> None:
    """It waits for the scroll into view; the answer says cancelled, and so does the outcome that the page keeps."""
    await page.open("<div style='height:3000px'></div><button id=b onclick='window.hit = this.title = 1'>b</button>")
    order = page.order("b", "click")
    call = page.start(order)
    await soon(lambda: is_true(call, "sent"))
    with pytest.raises(RemoteCallError) as caught:
        await call.cancel(5)
    assert caught.value.code == "cancelled"
    assert not call.started
    await trio.sleep(0.2)  # longer than the pause after a scroll
    assert await page.js("window.hit ?? null") is None
    outcome = await page.call("page.outcome", **page.place, call=order["call"])
    assert (outcome["result"]["started"], outcome["result"]["reason"]) == (False, "cancelled")


async def test_a_call_that_is_cancelled_after_it_began_tells_what_it_did(page: PageProbe) -> None:
    """The press was made; the wait for the state ends at once."""
    await page.open("<div role=switch aria-checked=false onclick='window.hit = this.title = 1'>slow</div>")
    call = page.start(page.order("slow", "check"))
    await soon(lambda: is_true(call, "started"))
    result = await call.cancel(5)
    assert result is not None
    assert (result["ok"], result["started"], result["checked"]) == (False, True, False)
    assert await page.js("hit") == 1


async def test_an_outcome_is_kept_until_it_is_acknowledged_and_nothing_runs_twice(page: PageProbe) -> None:
    """Ruling 24: the same call again is answered with the first one's result."""
    await page.open("<button id=b onclick='window.hits = (window.hits ?? 0) + 1'>b</button>")
    order = page.order("b", "click")
    first = await page.call("page.act", **order)
    assert await page.call("page.act", **order) == first
    assert await page.js("hits") == 1
    assert await page.call("page.outcome", **page.place, call=order["call"]) == {"known": True, "result": first}
    page.session.channel.notify("page.acknowledge", {"tab": page.tab.id, **page.place, "calls": [order["call"]]})
    assert await page.call("page.outcome", **page.place, call=order["call"]) == {"known": False, "result": None}
    for _ in range(33):
        await page.act("b", "click", host="example.org", call=secrets.token_hex(16))
    kept = page.order("b", "click", host="example.org")
    await page.call("page.act", **kept)
    assert (await page.call("page.outcome", **page.place, call=kept["call"]))["known"] is True


@pytest.mark.long
async def test_the_outcome_of_an_act_that_still_runs_is_not_known_yet(page: PageProbe) -> None:
    """`known` with no result: it began and has not ended."""
    await page.open("<div role=switch aria-checked=false>slow</div>")
    order = page.order("slow", "check")
    call = page.start(order)
    await soon(lambda: is_true(call, "started"))
    assert await page.call("page.outcome", **page.place, call=order["call"]) == {"known": True, "result": None}
    result = await call.result()
    assert await page.call("page.outcome", **page.place, call=order["call"]) == {"known": True, "result": result}


async def test_a_document_that_came_back_is_acted_on_with_the_old_pin(page: PageProbe) -> None:
    """From the back-forward cache: the same document, so what was read of it holds; pages between are not touched (B76)."""
    await page.open("<button id=b onclick='this.title = window.hit = (window.hit ?? 0) + 1'>b</button>")
    await page.until("document.readyState === 'complete'")
    old = page.order("b", "click")
    document = page.frame["document"]
    await page.open("<button id=b onclick='window.wrong = 1'>b</button>")
    with pytest.raises(RemoteCallError) as caught:
        await page.call("page.act", **old)
    assert caught.value.code == "document-gone"
    assert await page.js("window.wrong ?? null") is None
    await page.until("document.readyState === 'complete'")  # going back while it loads would stop the load instead
    await page.js("void setTimeout(() => history.back())")
    await soon(lambda: page.showing(document))
    assert (await page.call("page.act", **old))["ok"]
    await page.until("window.hit === 1")


# Settling


@pytest.mark.parametrize(
    ("script", "least", "most"),
    [
        ("", 120, 400),
        ("[50, 100, 150, 200, 250, 300, 350, 400].forEach(ms => setTimeout(() => document.body.append('x'), ms))", 300, 1200),
        pytest.param("setInterval(() => document.body.append('x'), 40)", 1490, 2000, marks=pytest.mark.long),
    ],
)
async def test_settling_waits_for_quiet_and_not_for_ever(page: PageProbe, script: str, least: int, most: int) -> None:
    """Page reference 5, with its measured numbers and room for a busy machine."""
    await page.open("<p>x</p>")
    await page.js(f"void ({script or '0'})")
    settled = await page.call("page.settle", **page.place, list_for=None)
    assert settled["gone"] is False
    assert least <= settled["waited_ms"] <= most


@pytest.mark.parametrize(("script", "least", "most"), [("", 600, 900), ("setTimeout(() => list.hidden = false, 300)", 390, 590)])
@pytest.mark.long
async def test_settling_waits_for_a_list_of_suggestions(page: PageProbe, script: str, least: int, most: int) -> None:
    """Page reference 5: until an option can be seen, for 600 ms; a field that is not known has its list."""
    await page.open("<input aria-label=f aria-controls=list><div id=list hidden><div role=option>one</div></div>")
    await page.js(f"void ({script or '0'})")
    settled = await page.call("page.settle", **page.place, list_for=page.control("f")["node"])
    assert least <= settled["waited_ms"] <= most
    assert (await page.call("page.settle", **page.place, list_for=4711))["waited_ms"] < 400


# Tabs


@pytest.mark.long
async def test_a_tab_goes_to_an_address_or_says_why_not(page: PageProbe) -> None:
    """A new document, the same one at another place, a closed port, no content, an address that is not for us."""
    await page.open("<p id=there>x</p>")
    document = page.frame["document"]
    moved = await page.call("tab.goto", url=page.frame["url"] + "#there")
    assert moved["tab"]["document"] == document
    again = await page.call("tab.goto", url=page.frame["url"])
    assert again["tab"]["document"] not in (None, document)
    for url, code in [
        ("http://127.0.0.1:9/", "navigation-failed"),
        (page.site.url + "/nothing", "navigation-failed"),
        ("file:///etc/hosts", "illegal-url"),
        ("javascript:alert(1)", "illegal-url"),
        ("about:config", "illegal-url"),
    ]:
        with pytest.raises(RemoteCallError) as caught:
            await page.call("tab.goto", url=url)
        assert caught.value.code == code, url


@pytest.mark.long
async def test_a_page_that_reloads_itself_meanwhile_is_not_taken_for_the_one_asked_for(page: PageProbe) -> None:
    """Browser tools 6: the commit of this navigation is waited for, and its own reload stopped it."""
    await page.open("<p>stubborn</p>")
    async with trio.open_nursery() as nursery:

        async def go() -> None:
            with pytest.raises(RemoteCallError) as caught:
                await page.call("tab.goto", url=page.site.url + "/held")
            assert caught.value.code == "navigation-failed"

        nursery.start_soon(go)
        with trio.fail_after(10):
            while "/held" not in page.site.asked:  # noqa: ASYNC110 - another thread writes it
                await trio.sleep(0.01)
        await page.js("void setTimeout(() => location.reload())")
    page.site.release.set()
    assert (await page.read())["text"] == "stubborn"


@pytest.mark.long
async def test_a_tab_that_could_not_be_opened_is_not_left_behind(page: PageProbe) -> None:
    """Nobody was told its id."""
    call = page.session.channel.call
    before = {tab["tab"] for tab in (await call("tab.list", {}, timeout=5))["tabs"]}
    with pytest.raises(RemoteCallError) as caught:
        await call("tab.open", {"url": "http://127.0.0.1:9/", "active": False}, timeout=10)
    assert caught.value.code == "navigation-failed"
    assert {tab["tab"] for tab in (await call("tab.list", {}, timeout=5))["tabs"]} == before
    opened = (await call("tab.open", {"url": "about:blank", "active": True}, timeout=10))["tab"]
    assert (opened["url"], opened["document"], opened["active"]) == ("about:blank", None, True)
    await call("tab.activate", {"tab": page.tab.id}, timeout=5)
    assert (await page.call("tab.get"))["tab"]["active"] is True
    await call("tab.close", {"tab": opened["tab"]}, timeout=5)
    with pytest.raises(RemoteCallError) as caught:
        await call("tab.get", {"tab": opened["tab"]}, timeout=5)
    assert caught.value.code == "no-tab"
