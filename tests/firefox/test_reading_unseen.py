"""Words that nobody can see, and secrets, come in by no field of the answer: page reference 2.4, 2.5, 2.6, 13.3; B74.

What is for screen readers alone is part of a control's name by the standard, and stays one (docs/reference/names-of-controls.md).
"""

import json

import pytest

from foxloop_trio.testing._page_reader import PageReader

pytestmark = pytest.mark.firefox

UNSEEN = [
    # Beside a field, which would become its name.
    "<p><span style='opacity:0'>{}</span><input></p>",
    "<p style='color:white'>{} <input></p>",
    "<p><span style='position:absolute;left:-9999px'>{}</span><input></p>",
    "<p><span style='position:absolute;left:-9999px' aria-label='{}'>x</span><input></p>",
    "<p><img style='position:absolute;left:-9999px' alt='{}' width=9 height=9><input></p>",
    # Names that are no names by the standard.
    "<div onclick='1'>shown <span style='opacity:0'>{}</span></div>",
    "<div onclick='1' style='color:transparent'>{}</div>",
    "<canvas width=50 height=50>{0}</canvas><video width=50 height=50 controls>{0}</video>",
    # Around a control.
    "<section><h2 style='opacity:0'>{}</h2><button>ok</button></section>",
    "<section><h2>Shop <b style='position:absolute;left:-9999px'>{}</b></h2><button>ok</button></section>",
    "<fieldset><legend style='opacity:0'>{}</legend><button>b</button></fieldset>",
    "<nav style='position:absolute;left:-9999px'><h2>{}</h2><button style='position:fixed;left:10px;top:10px'>b</button></nav>",
    # Hidden parts of a value that stands in a name.
    "<label>Go <span role=combobox tabindex=0>shown<i style='display:none'>{}</i></span><input type=checkbox></label>",
    (
        "<label>Go <span role=listbox><span role=option aria-selected=true>shown<i hidden>{}</i></span></span>"
        "<input type=checkbox></label>"
    ),
    # What an editor and a list hold.
    "<div contenteditable aria-label=ed>shown <span style='opacity:0'>{}</span></div>",
    "<div contenteditable aria-label=ed>shown <span style='position:absolute;left:-9999px'>{}</span></div>",
    "<select><option>a<option hidden>{}</select>",
    "<select><option>a<option style='display:none'>{}</select>",
    "<style>.gone {{ display: none }}</style><select><option>a<option class=gone>{}</select>",
    "<select><option>a<optgroup label=g hidden><option>{}</optgroup></select>",
    # Words of a style sheet.
    "<style>.q1::before{{content:'{}';visibility:hidden}}</style><button class=q1>in</button>",
    "<style>.q2::before{{content:'{}';opacity:0}}</style><button class=q2>in</button>",
    # Without ink.
    "<svg width=300 height=50><text y=20 fill=transparent>{}</text></svg>",
    "<svg width=300 height=50><text y=20 fill=white>{}</text></svg>",
    "<svg width=300 height=50><rect width=300 height=50 fill=white /><text y=20 fill=white>{}</text></svg>",
    "<svg width=300 height=50><text y=20 fill-opacity=0>{}</text></svg>",
    "<p style='color:color(srgb 1 1 1)'>{}</p>",
    "<p style='color:color(srgb 0 0 0 / 0)'>{}</p>",
    "<p style='color:oklch(1 0 0)'>{}</p>",
    "<p style='color:lab(100 0 0)'>{}</p>",
    "<p style='color:rgba(0,0,0,.01)'>{}</p>",
    "<p style='display:contents;color:transparent'>{}</p>",
    "<p style='display:contents;visibility:hidden'>{}</p>",
    "<p style='-webkit-text-security:disc'>{}</p>",
    # Too small.
    "<p style='font-size:0;padding:10px'>{}</p>",
    "<p style='font:0/20px serif'>{}</p>",
    "<p style='font-size:1px;line-height:30px'>{}</p>",
    "<p style='font-size:.01em;padding:9px'>{}</p>",
    # Cut away, or where nothing can scroll to.
    *(
        f"<p style='clip-path:{shape}'>{{}}</p>"
        for shape in (
            *("polygon(0 0,0 0,0 0)", "inset(0 100% 0 0)", "inset(60% 0 40%)", "ellipse(0 0)", "circle(0 at 9px 9px)"),
            *("rect(0 0 0 0)", "xywh(0 0 0 0)"),
        )
    ),
    "<p style='text-indent:200%;white-space:nowrap;overflow:hidden'>{}</p>",
    "<p style='text-indent:-200%;overflow:hidden'>{}</p>",
    "<div style='overflow:hidden;height:20px'><div style='height:20px'></div><p>{}</p></div>",
    "<div style='overflow:hidden;width:100px;white-space:nowrap'><span style='margin-left:300px'>{}</span></div>",
    # Filtered, masked, or filled with nothing.
    "<p style='filter:opacity(0)'>{}</p>",
    "<p style='filter:blur(0) opacity(0%)'>{0} <button>{0}</button></p>",
    "<div style='filter:opacity(0)'><div style='overflow:auto;height:40px'><p>{0}</p><button>{0}</button></div></div>",
    "<div style='clip-path:inset(50%)'><div style='overflow:scroll;height:40px'>{}</div></div>",
    "<p style='mask-image:linear-gradient(transparent,transparent)'>{0} <button>{0}</button></p>",
    "<p style='mask:linear-gradient(to right,rgba(9,9,9,0),transparent 50%,#fff0)'>{}</p>",
    "<p style='-webkit-mask-image:radial-gradient(transparent,transparent),linear-gradient(#0000,#0000)'>{}</p>",
    "<p style='mask-image:linear-gradient(black,black);mask-size:0 100%'>{}</p>",
    "<style>.m1{{mask-image:conic-gradient(transparent,transparent)}}</style><div class=m1><p>{0}<p><a href=/>{0}</a></div>",
    "<p style='background-clip:text;color:transparent'>{}</p>",
    "<p style='background:linear-gradient(#0000,#0000);background-clip:text;-webkit-text-fill-color:transparent'>{}</p>",
    "<p style='position:fixed;left:9999px'>{}</p>",
    "<p style='position:fixed;top:9999px'>{}</p>",
    "<div style='position:fixed;right:-300px;width:300px'><p>{0}</p><button>{0}</button></div>",
]
SEEN = [
    "<div style='font-size:0'><span style='font-size:12px'>{}</span></div>",
    "<p style='color:color(srgb 0 0 0)'>{}</p>",
    "<p style='color:oklch(0.3 0.1 20)'>{}</p>",
    "<p style='color:rgba(0,0,0,.4)'>{}</p>",
    "<svg width=300 height=50><text y=20>{}</text></svg>",
    "<svg width=300 height=50><text y=20 fill=white stroke=black>{}</text></svg>",
    "<svg width=300 height=50><rect width=300 height=50 fill=red /><text y=20 fill=white>{}</text></svg>",
    "<p style='clip-path:polygon(0 0,100% 0,100% 100%,0 100%)'>{}</p>",
    "<p style='clip-path:circle(90% at 0 0)'>{}</p>",
    "<div style='color:transparent'><p style='color:black;display:contents'>{}</p></div>",
    "<div style='overflow:hidden;height:20px'><p style='margin:0'>{}</p></div>",
    "<div style='overflow:auto;height:20px'><div style='height:90px'></div><p>{}</p></div>",
    "<div style='overflow:hidden;height:5px;position:static'><p style='position:absolute'>{}</p></div>",
    "<p style='position:fixed;bottom:0'>{}</p>",
    "<div style='position:fixed;width:0;height:0;top:0;left:0'><p style='width:200px'>{}</p></div>",
    "<p style='text-indent:20px;overflow:hidden'>{}</p>",
    "<p style='filter:opacity(0.5) drop-shadow(0 0 1px)'>{}</p>",
    "<p style='mask-image:linear-gradient(black,transparent)'>{}</p>",
    "<p style='mask-image:linear-gradient(transparent,transparent),linear-gradient(red,red)'>{}</p>",
    "<p style='mask-image:linear-gradient(oklch(0.5 0.1 20),transparent)'>{}</p>",
    "<p style='mask-image:none'>{}</p>",
    "<p style='background:linear-gradient(red,blue);background-clip:text;color:transparent'>{}</p>",
    "<p style='background:red;background-clip:text;color:transparent'>{}</p>",
    "<p style='background-clip:text;color:black'>{}</p>",
    "<p style='font-size:calc(1em + 2px)'>{}</p>",
    "<p><b>{}</b><input></p>",
    "<select><option>a<option hidden selected>{}</select>",
    "<div contenteditable aria-label=ed>line<div>{}</div></div>",
    "<button>Buy<span style='position:absolute;left:-9999px'>{}</span></button>",
]


async def where_told(reader: PageReader, fragments: list[str]) -> list[str]:
    """Those fragments whose word stands anywhere in the answer."""
    words = [f"Zq{at}x" for at in range(len(fragments))]
    await reader.open("".join(f"<div>{html.format(word)}</div>" for html, word in zip(fragments, words, strict=True)))
    answer = json.dumps(await reader.answer(max_text=60_000, max_controls=1000))
    return [html for html, word in zip(fragments, words, strict=True) if word in answer]


async def test_no_field_of_the_answer_tells_what_nobody_can_see(reader: PageReader) -> None:
    """Labels that are no names by the standard, sections, options, values of editors, text."""
    assert await where_told(reader, UNSEEN) == []


async def test_what_is_seen_is_not_lost_for_it(reader: PageReader) -> None:
    """The same means, used so that the words can be read; and what belongs to a name by the standard."""
    assert await where_told(reader, SEEN) == SEEN


async def test_what_stands_still_outside_of_the_view_does_not_come_in_by_scrolling(reader: PageReader) -> None:
    """A fixed box above the window moves with the window."""
    await reader.open(
        "<div style='height:5000px'></div><div style='position:fixed;top:-90px;height:40px'><button>menu</button>words</div>"
    )
    await reader.js("void scrollTo(0, 2000)")
    frame = await reader.frame()
    assert (frame["controls"], frame["text"]) == ([], "")


SECRETS = [
    "<label>Allow <input type=number aria-label=PIN value={}> tries <input type=checkbox></label>",
    (
        "<label>Exp <select aria-label='Expiry month'><option value=1>1<option value=2 selected>x</select> in <input value={} "
        "type=password> <input type=checkbox></label>"
    ),
    "<div contenteditable aria-label=Password>{}</div>",
    "<div contenteditable role=textbox aria-label='One-time code'><p>{}</p></div>",
    "<div role=textbox tabindex=0 aria-label=PIN>{}</div>",
    "<div contenteditable aria-label=IBAN>{}</div>",
    "<div><span>Passphrase</span> <textarea>{}</textarea></div>",
    "<input aria-label=shown style='-webkit-text-security:disc' value='{}'>",
]


async def test_secrets_in_editors_and_numbers_are_masked_too(reader: PageReader) -> None:
    """Page reference 13.3: whatever holds it; in the value, in another control's name, in the text."""
    values = [f"48150{at}" for at in range(len(SECRETS))]
    await reader.open("".join(f"<div>{html.format(value)}</div>" for html, value in zip(SECRETS, values, strict=True)))
    for params in ({}, {"find": "48150"}, {"focus": "48150"}):
        answer = json.dumps(await reader.answer(**params))
        assert [html for html, value in zip(SECRETS, values, strict=True) if value in answer] == []


CALENDARS = [
    (("<div role=dialog><div class=ui-datepicker-title><span class=ui-datepicker-month>March</span>&nbsp;"
     "<span class=ui-datepicker-year>2026</span></div><table><tr><td><a href=#>3</a></td></tr></table></div>"), ["March 2026"]),
    ("<div><h4>Mai 2026</h4><button>3</button></div>", ["Mai 2026"]),
    (("<div><select><option>May<option selected>June</select><select><option>2025<option selected>2026</select>"
     "<div role=grid><div role=gridcell>3</div></div></div>"), ["", "", "June 2026"]),
    ("<div><div><h3>May 2026</h3><button>3</button></div><div><h3>June 2026</h3><button>3</button></div></div>",
     ["May 2026", "June 2026"]),
    ("<div><h3>May 2026</h3><h3>June 2026</h3><button>3</button></div>", [""]),
    ("<div><h3 hidden>May 2026</h3><button>3</button></div>", [""]),
    ("<div><h3>May 2026</h3><button>3 items</button></div>", [""]),
]  # fmt: skip


async def test_the_bare_number_of_a_day_comes_with_its_month(reader: PageReader) -> None:
    """Page reference 21.24: month and year of the same calendar, as the section; and found by its whole date."""
    for html, sections in CALENDARS:
        assert [one["section"] for one in await reader.controls(html)] == sections, html
    await reader.open(CALENDARS[3][0])
    found = (await reader.frame(find="3 June 2026"))["controls"]
    assert [one["section"] for one in found] == ["June 2026"]


async def test_a_base_of_another_site_turns_the_links_that_are_told(reader: PageReader) -> None:
    """A relative address leads where the <base> says; a reader who knows only the page's address could not tell."""
    html = "<base href=https://elsewhere.example/a/><a href=b>b</a><a href='#c'>c</a><a href=https://third.example/>d</a>"
    assert [one["href"] for one in await reader.controls(html)] == [
        "https://elsewhere.example/a/b",
        "https://elsewhere.example/a/#c",
        "https://third.example/",
    ]
    assert [one["href"] for one in await reader.controls("<base href=/a/><a href=b>b</a>")] == ["b"]


async def test_drawings_and_xml_have_no_body_and_are_read(reader: PageReader) -> None:
    """There is nothing to wait for. Of XML Firefox draws a tree of its own, which nobody may read."""
    drawing = "<svg xmlns='http://www.w3.org/2000/svg' width='300' height='100'><text y='20'>Drawn</text></svg>"
    for kind, text, words in [("image/svg+xml", drawing, "Drawn"), ("text/xml", "<a><b>words</b></a>", "")]:
        await reader.tab.goto(reader.site.put(text, whole=True, kind=kind))
        assert (await reader.tab.snapshot()).text == words
