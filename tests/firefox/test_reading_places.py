"""Where a control stands, and what is around it: page reference 2.1, 2.6, 2.8 (popups), 2.9, corpora 2C."""

import pytest

from foxloop_trio.testing._page_reader import PageReader

pytestmark = pytest.mark.firefox

SECTIONS = [
    ("<form aria-label='Sign up'><button>b</button></form>", "Sign up"),
    ("<fieldset><legend> Ship  to </legend><button>b</button></fieldset>", "Ship to"),
    ("<nav><h2>Places</h2><div><button>b</button></div></nav>", "Places"),
    ("<aside><h3>Aside</h3><button>b</button></aside>", "Aside"),
    ("<main><h1>Main</h1><div aria-label=Unnamed><h4>no</h4><button>b</button></div></main>", "Main"),
    ("<div role=dialog aria-label=Sure><button>b</button></div>", "Sure"),
    ("<section><div><h2>not direct</h2></div><form aria-label=inner><button>b</button></form></section>", "inner"),
    ("<section aria-label='" + "long " * 30 + "'><button>b</button></section>", ("long " * 30)[:70]),
]


async def test_the_section_is_the_nearest_named_region(reader: PageReader) -> None:
    """Page reference 2.6: cut at 70; a div, and a heading that is no direct child, name nothing."""
    found = []
    for html, _ in SECTIONS:
        found.append((await reader.one(html))["section"])
    assert found == [section for _, section in SECTIONS]


async def test_form_and_row_say_where_a_control_stands(reader: PageReader) -> None:
    """Page reference 2.6; the digest is FNV-1a of the row's text in base 36."""
    controls = await reader.controls(
        "<section><h2>Delivery</h2><div><form id=f><input aria-label=f></form></div></section><input form=f aria-label=outer>"
        "<button>outside</button><ul><li>Milk <button>drop</button></li><li>Bread <button>drop</button></li></ul>"
    )
    field, outer, outside, milk, bread = controls
    assert field["form"] == field["node"] + 1 == outer["form"]
    assert "form" not in outside
    assert "row" not in outside
    assert milk["row"] == "1lp6bcr"
    assert bread["row"] != milk["row"]
    assert [one.get("row_text") for one in (outside, milk, bread)] == [None, "Milk drop", "Bread drop"]


ROWS = [
    ("<table><tr><td>Ada</td><td>36</td><td><button>Edit</button></td></tr></table>", "Ada | 36 | Edit"),
    ("<div role=row><span role=cell>Bob</span><span role=cell><button>Edit</button></span></div>", "Bob | Edit"),
    ("<div><div class=card><b>Cake</b> <button>Add</button></div><div class=card><b>Pie</b></div></div>", "Cake Add"),
    ("<div class=lone><b>Cake</b> <button>Add</button></div>", None),
    ("<ul><li>Buy <span hidden>everything</span><button>Go</button></li></ul>", "Buy Go"),
    ("<article>Read <button>me</button></article>", "Read me"),
]


async def test_the_text_of_the_row_comes_with_a_control_that_does_not_speak_for_itself(reader: PageReader) -> None:
    """Corpora 2C.4: li, tr, and blocks that are made alike; visible text only."""
    found = await reader.fragments([html for html, _ in ROWS])
    assert [controls[0].get("row_text") for controls in found] == [text for _, text in ROWS]


async def test_links_of_one_name_are_told_apart_by_their_rows(reader: PageReader) -> None:
    """A link or field whose name is its own needs no row."""
    html = "<ul><li>A <a href=/1>More</a></li><li>B <a href=/2>More</a></li><li>C <a href=/3>Other</a></li></ul>"
    assert [one.get("row_text") for one in await reader.controls(html)] == ["- A More"[2:], "B More", None]


async def test_suggestions_know_their_field(reader: PageReader) -> None:
    """Page reference 2.8: aria-controls and aria-owns of the field, and of a combobox around it; the first owner wins; fields that
    own a visible list have the first numbers."""
    controls = await reader.controls(
        "<button>first</button><input aria-label=a aria-controls=l1><ul id=l1 role=listbox><li role=option>x</li></ul>"
        "<div role=combobox aria-owns=l2><input aria-label=b></div><ul id=l2 role=listbox><li role=option>y</li></ul>"
        "<input aria-label=c aria-controls='l1 l3'><ul id=l3 role=listbox hidden><li role=option>z</li></ul>"
    )
    numbers = {one["label"]: one["node"] for one in controls}
    owners = {one["label"]: one.get("popup_for") for one in controls}
    assert (numbers["a"], numbers["b"], numbers["first"] > numbers["b"]) == (1, 2, True)
    assert owners == {"first": None, "a": None, "x": numbers["a"], "b": None, "y": numbers["b"], "c": None}


async def test_a_send_button_says_where_its_form_goes(reader: PageReader) -> None:
    """Page reference 1.1 and 21: resolved, from the button before the form, whatever the form's fields are called."""
    controls = await reader.controls(
        "<form action=/a method=POST target=_blank><input name=action aria-label=x><input name=getAttribute aria-label=y>"
        "<button>one</button><button formaction=https://other.example/b formmethod=get formtarget=_top>two</button></form>"
    )
    one, two = controls[2:]
    assert one["destination"] == {"url": f"{reader.site.url}/a", "method": "post", "target": "_blank"}
    assert two["destination"] == {"url": "https://other.example/b", "method": "get", "target": "_top"}
    assert "destination" not in controls[0]


async def test_boxes_are_told_in_half_pixels_of_the_frame(reader: PageReader) -> None:
    """Left, top, width, height in the viewport; of a toggle that is used through its label, the label's."""
    controls = await reader.controls(
        "<button style='position:absolute;left:10.4px;top:20px;width:30px;height:40px'>b</button>"
        "<label style='position:absolute;left:5px;top:100px;width:50px;height:20px'><input type=checkbox "
        "style='opacity:0'>l</label>"
    )
    assert [one["box"] for one in controls] == [[10.5, 20, 30, 40], [5, 100, 50, 20]]


LOOKS = [
    ("<span style='display:inline-block;width:20px;height:20px;background:red'></span>", ("image", "red box", "red box")),
    ("<span style='display:inline-block;width:20px;height:20px;background:#3b88c3'></span>",
     ("image", "#3b88c3 blue box", "#3b88c3 blue box")),
    ("<span style='display:inline-block;width:20px;height:20px;border:1px solid'></span>", ("image", "", None)),
    ("<i style='display:inline-block;width:20px;height:20px;background-image:url(/i/star.png)'></i>",
     ("image", "star", "img:star.png")),
    ("<svg width=60 height=60><circle r=20 cx=30 cy=30 fill=red /></svg>", ("shape", "red circle", "red circle")),
    ("<svg width=60 height=60><rect width=9 height=9 fill=blue /></svg>", ("shape", "blue square", "blue square")),
    ("<svg width=60 height=60><polygon points='1,1 20,1 9,20' fill=green /></svg>", ("shape", "green triangle", "green triangle")),
    ("<svg width=60 height=60><text y=20 fill=orange>Q</text></svg>", ("shape", "Q", "orange text")),
]  # fmt: skip


async def test_small_boxes_and_shapes_are_told_by_their_look(reader: PageReader) -> None:
    """Corpora 2C.2 and 2C.3: leaf boxes with a colour, a border or a picture, and the shapes of a drawing."""
    found = await reader.fragments([html for html, _ in LOOKS])
    assert [(one["role"], one["label"], one.get("look")) for (*_, one) in found] == [told for _, told in LOOKS]
    assert [[one["role"] for one in rest] for (*rest, _) in found] == [["drawing"] if "<svg" in html else [] for html, _ in LOOKS]


async def test_icons_and_boxes_inside_controls_are_not_told(reader: PageReader) -> None:
    """Small drawings are icons; what is in a button is the button; empty boxes of the ground's own colour are nothing."""
    html = (
        "<button><span style='display:inline-block;width:20px;height:20px;background:red'></span></button>"
        "<svg width=16 height=16><path d='M0 0h9v9z'/></svg><div style='height:20px'></div>"
        "<a href=/x><svg width=60 height=60><circle r=20 cx=30 cy=30 /></svg></a>"
    )
    assert [one["role"] for one in await reader.controls(html)] == ["button", "link"]


async def test_texts_that_cannot_be_selected_can_be_pressed(reader: PageReader) -> None:
    """Corpora 2C.6: a plain text may be a button; it has a number of its own. So has any text that is looked for."""
    html = "<style>.n { user-select: none }</style><p>Cake <span class=n>+</span> <span class=n>-</span> <span>0</span></p>"
    assert [(one["role"], one["label"]) for one in await reader.controls(html)] == [("text", "+"), ("text", "-")]
    found = (await reader.frame(find="cake"))["controls"]
    assert [(one["role"], one["label"]) for one in found] == [("text", "Cake + - 0")]


async def test_numbers_name_elements_for_as_long_as_the_document_lives(reader: PageReader) -> None:
    """Page reference 2.1: the same element object has the same number; equal markup made anew has another."""
    first = await reader.controls("<div id=box><form><input aria-label=a><button>b</button></form></div>")
    assert [control["node"] for control in first] == [1, 3]
    assert [control["form"] for control in first] == [2, 2]
    await reader.js("void (window.kept = document.forms[0].elements[0], kept.remove(), document.forms[0].prepend(kept))")
    again = (await reader.frame())["controls"]
    assert [control["node"] for control in again] == [1, 3]
    await reader.js("void (box.innerHTML = box.innerHTML)")
    remade = (await reader.frame())["controls"]
    assert [control["node"] for control in remade] == [4, 6]


async def test_fields_that_own_a_visible_list_have_the_first_numbers(reader: PageReader) -> None:
    """Page reference 2.1: before any other control; a list that is hidden gives no such right."""
    controls = await reader.controls(
        "<button>b</button><input aria-label=f aria-controls=l><ul id=l role=listbox><li role=option>o</li></ul>"
        "<input aria-label=g aria-controls=h><ul id=h hidden><li role=option>no</li></ul>"
    )
    assert {control["label"]: control["node"] for control in controls} == {"f": 1, "b": 2, "o": 3, "g": 4}


async def test_the_digest_of_a_row_ends_after_two_thousand_units(reader: PageReader) -> None:
    """Page reference 2.6: what differs beyond them is the same row, what differs before is another."""
    rows = ["x" * 2000, "x" * 2000 + "y", "x" * 1999 + "y"]
    controls = await reader.controls("".join(f"<ul><li>{row}<button></button></li></ul>" for row in rows))
    same, longer, other = (control["row"] for control in controls)
    assert same == longer != other


async def test_guards_differ_when_a_judged_fact_does_and_only_then(reader: PageReader) -> None:
    """Page reference 2.9: a row's text and an expanded state count; another button's text, a class and a paragraph do not."""
    frame = await reader.read(
        "<p id=p>text</p><ul><li><span id=row>Milk</span> <button id=b aria-expanded=false>drop</button></li></ul>"
        "<button id=o>other</button>"
    )
    before = {control["label"]: control["guard"] for control in frame["controls"]}

    async def changed(statement: str) -> set[str]:
        await reader.js(f"void ({statement})")
        now = await reader.frame()
        assert now["key"] == frame["key"]
        return {control["label"] for control in now["controls"] if control["guard"] != before.get(control["label"])}

    assert await changed("p.textContent = 'other text', b.className = 'x', b.style.marginTop = '50px'") == set()
    assert await changed("o.textContent = 'another'") == {"another"}
    assert await changed("row.textContent = 'Bread'") == {"drop", "another"}
    assert await changed("row.textContent = 'Milk', b.setAttribute('aria-expanded', 'true')") == {"drop", "another"}


async def test_the_key_changes_with_any_field_and_with_the_address(reader: PageReader) -> None:
    """Page reference 2.9: also for a field in a shadow root; not for another non-empty password."""
    await reader.open(
        "<input id=t><input type=range id=r><input type=password id=p value=one><input type=hidden id=h><div id=s></div>"
    )
    await reader.js("void (s.attachShadow({mode: 'closed'}).innerHTML = '<input>', 0)")
    keys = [(await reader.frame())["key"]]

    async def changes(statement: str) -> bool:
        await reader.js(f"void ({statement})")
        keys.append((await reader.frame())["key"])
        return bool(keys[-1] != keys[-2])

    assert not await changes("p.value = 'two', h.value = 'x'")
    assert await changes("t.value = 'x'")
    assert await changes("r.value = 7")
    assert await changes("t.disabled = true")
    assert await changes("p.value = ''")
    assert await changes("location.hash = 'there'")
    assert await changes("t.remove()")
    assert await changes("s.remove()")


async def test_guards_and_keys_of_equal_pages_differ(reader: PageReader) -> None:
    """Ruling 22: keyed by a secret of the document, so nothing can be learned by comparing."""
    html = "<input type=password aria-label=p value=hunter2>"
    first, second = await reader.read(html), await reader.read(html)
    assert first["document"] != second["document"]
    assert first["key"] != second["key"]
    assert first["controls"][0]["guard"] != second["controls"][0]["guard"]
    assert len(first["key"]) == len(first["controls"][0]["guard"]) == 16
