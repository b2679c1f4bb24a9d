"""What is listed as a control, and as what: page reference 2.2, 2.3, 2.7, 2.8, 13.3, 21.2, 21.3, 21.7, 21.18."""

import json
from typing import Any

import pytest

from foxloop_trio.testing._page_reader import PageReader

pytestmark = pytest.mark.firefox

INPUT_TYPES = (
    *("text", "email", "tel", "url", "password", "search", "number", "date", "time", "datetime-local", "month", "week"),
    *("checkbox", "radio", "submit", "button", "reset", "range", "file", "color"),
)

ROLES: list[tuple[str, list[str]]] = [
    ("<a href=/x>a</a><a>no link</a><a href=''>empty</a>", ["link", "link"]),
    ("<button>b</button><details><summary>s</summary></details>", ["button", "button"]),
    ("<textarea></textarea><select><option>o</select>", ["textbox", "combobox"]),
    ("<div role=tab>t</div><div role='tab list'>two words are no role of ours</div>", ["tab"]),
    ("<div role=slider tabindex=0 aria-valuenow=3>s</div><div role=treeitem>t</div>", ["slider", "treeitem"]),
    ("<div role=menuitemcheckbox>m</div><div role=menuitemradio>r</div><div role=menuitem>i</div>",
     ["menuitemcheckbox", "menuitemradio", "menuitem"]),
    ("<div role=switch>s</div><div role=option>o</div><div role=gridcell>g</div>", ["switch", "option", "gridcell"]),
    ("<a href=/x role=button>a link that is a button</a>", ["button"]),
    ("<div role=Button>roles are exact</div>", []),
    # A combobox around a field leaves the field to stand for it.
    ("<div role=combobox>City <input aria-label=City></div><input role=combobox aria-label=Own>", ["textbox", "combobox"]),
    ("<div role=combobox tabindex=0>Choose</div>", ["combobox"]),
    # Editing hosts: every form of the attribute.
    ("<p contenteditable=true>e</p><p contenteditable>e</p><p contenteditable=plaintext-only>e</p><p contenteditable=false>no</p>",
     ["textbox"] * 3),
    # Canvases over 30 px, image maps, players.
    ("<canvas width=31 height=31></canvas><canvas width=30 height=31></canvas>", ["canvas"]),
    ("<map name=m><area href=/a alt=A shape=rect coords=0,0,9,9></map><img usemap=#m width=20 height=20 src=data:,>", ["link"]),
    ("<video controls width=100 height=50></video><video width=100 height=50></video><audio controls></audio>",
     ["button", "button"]),
    # Clickable without a role: by a handler in the markup, the hand as cursor, a tab stop; not what holds a control, is inside
    # one, or fills half the window.
    ("<div onclick='1'>handler</div><span style='cursor:pointer'>hand</span><div tabindex=0>stop</div>", ["clickable"] * 3),
    ("<div tabindex=-1>no stop</div><div onclick='1'>around <button>b</button></div>", ["button"]),
    ("<button><span style='cursor:pointer'>in</span></button>", ["button"]),
    ("<div onclick='1' style='height:100vh;width:100vw'>half the window</div>", []),
    ("<label onclick='1'>Label <input></label>", ["textbox"]),
    ("<table><tr><th role=columnheader onclick='1'>Sort</th></tr></table>", ["columnheader"]),
]  # fmt: skip


async def test_each_kind_of_control_has_its_role(reader: PageReader) -> None:
    """One row per rule; what is no control is not there."""
    found = await reader.fragments([html for html, _ in ROLES])
    assert [[one["role"] for one in controls] for controls in found] == [roles for _, roles in ROLES]


async def test_each_input_type_has_its_role(reader: PageReader) -> None:
    """Unknown types are text; hidden ones are no control."""
    html = "".join(f"<input type={kind} aria-label={kind} style='width:60px;height:20px'>" for kind in INPUT_TYPES)
    controls = await reader.controls(f"{html}<input type=hidden><input type=nonsense aria-label=nonsense>")
    roles = {control["label"]: (control["role"], control["type"]) for control in controls}
    texts = ("text", "email", "tel", "url", "password", "date", "time", "datetime-local")
    assert roles == {
        **{kind: ("textbox", kind) for kind in texts},
        "search": ("searchbox", "search"),
        "number": ("spinbutton", "number"),
        "range": ("slider", "range"),
        "checkbox": ("checkbox", "checkbox"),
        "radio": ("radio", "radio"),
        "file": ("file", "file"),
        "color": ("color", "color"),
        **{kind: ("button", kind) for kind in ("submit", "button", "reset")},
        **dict.fromkeys(("nonsense", "month", "week"), ("textbox", "text")),  # Firefox has no such fields
    }


async def test_a_style_sheet_s_hand_makes_a_control_also_when_it_comes_with_the_mouse(reader: PageReader) -> None:
    """Corpora 2C.1: the sheet is read, so that no element has to be asked; `:hover` rules count; list items instead of lists."""
    controls = await reader.controls(
        "<style>.go { cursor: pointer } .item:hover { cursor: pointer } ul.menu:hover { cursor: pointer }"
        "@media (min-width: 1px) { main > .media { cursor: pointer } }</style>"
        "<b class=go>Go</b><p class=item>Item</p><ul class=menu><li>One</li><li>Two</li></ul><main><p class=media>M</p></main>"
    )
    assert [(one["role"], one["label"]) for one in controls] == [("clickable", text) for text in ("Go", "Item", "One", "Two", "M")]


async def test_a_sheet_that_nobody_may_read_hides_no_control(reader: PageReader) -> None:
    """A sheet of another origin: then elements are asked for their cursor."""
    sheet = reader.site.put(".go { cursor: pointer }", whole=True, kind="text/css").replace("127.0.0.1", "localhost")
    controls = await reader.controls(f"<link rel=stylesheet href={sheet}><div class=go><b>Go</b> on</div><div>no</div>")
    assert [(one["role"], one["label"]) for one in controls] == [("clickable", "Go on")]


async def test_a_box_in_a_box_is_one_control(reader: PageReader) -> None:
    """Both have the hand and the same text."""
    html = "<div style='cursor:pointer'><div style='cursor:pointer'>Same</div></div>"
    assert [one["label"] for one in await reader.controls(html)] == ["Same"]


VIA = [
    ("<input type=checkbox id=a style='opacity:0'><label for=a>Fast</label>", [("Fast", False, "label")]),
    ("<label>Safe <input type=radio checked style='display:none'></label>", [("Safe", True, "label")]),
    ("<input type=checkbox id=c style='display:none'><label for=c style='display:none'>Gone</label>", []),
    ("<label>File <input type=file style='position:absolute;clip:rect(0 0 0 0)'></label>", [("File", None, "label")]),
    ("<div aria-hidden=true><label>No <input type=checkbox style='opacity:0'></label></div>", []),
    ("<label>Text <input style='opacity:0'></label>", []),
]


async def test_a_styled_toggle_is_listed_through_its_label(reader: PageReader) -> None:
    """Page reference 21.2: the input is transparent, clipped or not rendered; its label is what people see."""
    found = await reader.fragments([html for html, _ in VIA])
    told = [[(one["label"], one.get("checked"), one.get("via")) for one in controls] for controls in found]
    assert told == [expected for _, expected in VIA]


async def test_values_and_states_are_told(reader: PageReader) -> None:
    """Page reference 2.7."""
    controls = await reader.controls(
        "<input aria-label=t value='abc '><textarea aria-label=a>two\nlines</textarea>"
        "<select aria-label=s><option value=1>One<option value=2 selected> Two <option disabled>Three"
        "<optgroup disabled><option>Four</optgroup></select>"
        "<select aria-label=m multiple><option selected>x<option selected>y</select>"
        "<input type=checkbox aria-label=c checked>"
        "<div role=checkbox aria-checked=mixed>d</div><div role=tab aria-selected=true>e</div>"
        "<button aria-expanded=false>f</button><ul><li role=option value=3>g</li></ul><button aria-pressed=true>p</button>"
        "<div contenteditable aria-label=h>some <b>text</b></div><div role=slider aria-label=i aria-valuenow=4 tabindex=0>x</div>"
        "<input type=range aria-label=r min=0 max=10 value=7>"
    )
    by_label = {control["label"]: control for control in controls}
    assert by_label["t"]["value"] == "abc "
    assert by_label["a"]["value"] == "two\nlines"
    assert by_label["s"]["value"] == "2"
    assert by_label["s"]["options"] == [
        {"value": "1", "label": "One", "selected": False},
        {"value": "2", "label": "Two", "selected": True},
    ]
    assert by_label["s"]["multiple"] is False
    assert by_label["m"]["multiple"] is True
    assert [by_label[name].get("checked") for name in "tcdep"] == [None, True, "mixed", True, True]
    assert by_label["f"]["expanded"] is False
    assert "expanded" not in by_label["t"]
    assert [by_label[name]["value"] for name in "ghir"] == ["", "some text", "4", "7"]


async def test_what_is_cut_says_how_much(reader: PageReader) -> None:
    """Page reference 21.22: values, labels and options."""
    options = "".join(f"<option value={at}{' selected' if at == 399 else ''}>Option {at}</option>" for at in range(400))
    long, select, name = await reader.controls(
        f"<input aria-label=v value='{'x' * 620}'><select aria-label=s>{options}</select><button>{'long ' * 50}</button>"
    )
    assert (len(long["value"]), long["value_more"]) == (500, 120)
    assert (len(select["options"]), select["options_more"]) == (300, 100)
    assert [one["value"] for one in select["options"] if one["selected"]] == ["399"]
    assert (len(name["label"].strip()), name["label_more"]) == (199, 49)


FLAGS = (
    "<form><fieldset disabled><input aria-label=in></fieldset><input aria-label=ro readonly required><button>send</button>"
    "<button type=button>plain</button></form><button>no form</button><div aria-disabled=true><button>aria</button></div>"
    "<dialog open><button>inside</button></dialog><input aria-label=aro aria-readonly=true aria-required=true>"
    "<input aria-label=list aria-autocomplete=both><input aria-label=pick aria-haspopup=dialog>"
    "<input aria-label=data list=dl><datalist id=dl><option>x</datalist>"
    "<input aria-label='Due (TT.MM.JJJJ)'><input type=date aria-label=native><input aria-label=us placeholder=MM/DD/YYYY>"
    "<input aria-label=fr data-format=jj-mm-aaaa><input aria-label='DD/MM/DD no'>"
)


async def test_flags_are_told(reader: PageReader) -> None:
    """Page reference 2.8."""
    controls = await reader.controls(FLAGS)
    by_label = {control["label"]: control for control in controls}

    def flagged(flag: str) -> list[str]:
        return [name for name, control in by_label.items() if control[flag]]

    assert flagged("disabled") == ["in", "aria"]
    assert flagged("read_only") == ["ro", "aro"]
    assert flagged("required") == ["ro", "aro"]
    assert flagged("submit") == ["send"]
    assert flagged("dialog") == ["inside"]
    assert flagged("autocomplete") == ["list", "data"]
    assert flagged("picker") == ["pick"]
    assert {name: control["date_format"] for name, control in by_label.items() if "date_format" in control} == {
        "Due (TT.MM.JJJJ)": "DD.MM.YYYY",
        "native": "YYYY-MM-DD",
        "us": "MM/DD/YYYY",
        "fr": "DD-MM-YYYY",
    }


async def test_aria_says_what_opens_which_is_current_and_how_deep(reader: PageReader) -> None:
    """aria-haspopup, aria-current, aria-level, and a description."""
    menu, now, leaf, plain = await reader.controls(
        "<button aria-haspopup=true>m</button><a href=/ aria-current=page>n</a><div role=treeitem aria-level=2>l</div>"
        "<p id=d>More <i>words</i></p><button aria-describedby=d aria-haspopup=false>p</button>"
    )
    assert [one.get("opens") for one in (menu, now, leaf, plain)] == ["menu", None, None, None]
    assert [one.get("current") for one in (menu, now, leaf, plain)] == [None, "page", None, None]
    assert [one.get("level") for one in (menu, now, leaf, plain)] == [None, None, 2, None]
    assert [one.get("description") for one in (menu, now, leaf, plain)] == [None, None, None, "More words"]


async def test_files_are_told_by_name(reader: PageReader) -> None:
    """Page reference 21.7."""
    await reader.open("<input type=file id=f aria-label=Photo accept='image/*' multiple>")
    await reader.js("void (d => (d.items.add(new File(['x'], 'me.png')), f.files = d.files))(new DataTransfer())")
    (control,) = (await reader.frame())["controls"]
    assert (control["role"], control["accept"], control["multiple"], control["files"]) == ("file", "image/*", True, ["me.png"])


SECRET = [
    ("<input type=password aria-label=p value=hunter2>", "secret"),
    ("<input aria-label='One-time code' value=hunter2>", "secret"),
    ("<input aria-label=c autocomplete='section-a cc-csc' value=hunter2>", "secret"),
    ("<input aria-label=x autocomplete=one-time-code value=hunter2>", "secret"),
    ("<label>Mot de passe <input value=hunter2></label>", "secret"),
    ("<input placeholder='Security code' value=hunter2>", "secret"),
    ("<span>Your PIN</span> <input value=hunter2>", "secret"),
    ("<input aria-label='Name on card' value=hunter2>", "sensitive"),
    ("<input aria-label=y autocomplete=cc-exp value=hunter2>", "sensitive"),
    ("<input aria-label=IBAN value=hunter2>", "sensitive"),
    ("<input aria-label='API key' value=hunter2>", "sensitive"),
    ("<label>Passport number <input value=hunter2></label>", "sensitive"),
    ("<select aria-label='Expiry month'><option>01<option selected>hunter2</select>", "sensitive"),
    ("<input aria-label='Pinned posts' value=plain>", ""),
    ("<input aria-label='Key account' value=plain>", ""),
]


async def test_secrets_never_leave_the_page(reader: PageReader) -> None:
    """Page reference 13.3: masked at the source, by kind, by autocomplete, by label of any form, by the words beside it."""
    found = await reader.fragments([html for html, _ in SECRET])
    kinds = ["secret" if one["secret"] else "sensitive" if one.get("sensitive") else "" for (one,) in found]
    assert kinds == [kind for _, kind in SECRET]
    assert [one["value"] for (one,) in found] == ["•••" if kind else "plain" for _, kind in SECRET]
    assert not any(option["selected"] for (one,) in found for option in one.get("options", []))


async def test_a_secret_leaves_by_no_other_way(reader: PageReader) -> None:
    """Not by a name that it is part of, not when it is made visible, not with the text of the page, not when it is looked for."""
    await reader.open(
        "<label>Allow <input id=inner aria-label=PIN value=hunter2> tries <input type=checkbox></label>"
        "<button aria-labelledby=inner>x</button><textarea aria-label=Passphrase>hunter2</textarea>"
        "<input type=password aria-label=shown id=shown value=hunter2><ul><li>Row <input type=password value=hunter2></li></ul>"
    )
    await reader.frame()
    await reader.js("void (document.getElementById('shown').type = 'text')")
    whole: list[Any] = [await reader.frame(), await reader.frame(find="hunter2"), await reader.frame(focus="hunter2")]
    assert "hunter2" not in json.dumps(whole)
    assert whole[1]["controls"] == []
    assert [one["secret"] for one in whole[0]["controls"] if one["label"] == "shown"] == [True]
