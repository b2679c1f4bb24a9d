"""What a planner is shown of a real page, from markup to lines: page reference 8.1, 8.2, 8.3, 13.3."""

import json

import pytest
import trio

from foxloop_trio.browser import Snapshot, change_text, page_text
from foxloop_trio.testing._page_reader import PageReader

pytestmark = pytest.mark.firefox


async def look(reader: PageReader, html: str | None = None) -> Snapshot:
    if html is not None:
        await reader.open(html)
    with trio.fail_after(30):
        return await reader.tab.snapshot()


def controls_of(text: str) -> list[str]:
    """The lines between the heads."""
    lines = text.split("\n")
    return lines[lines.index("Controls:") + 1 : lines.index("Text:")]


def words_of(text: str) -> list[str]:
    lines = text.split("\n")
    return lines[lines.index("Text:") + 1 :]


LINES: list[tuple[str, str]] = [
    ("<button>Open</button>", 'button "Open"'),
    ("<input aria-label=Name value=Ada required>", 'textbox "Name" value="Ada" (required)'),
    ("<input aria-label=Name value=Name>", 'textbox "Name" value="Name"'),
    ("<input aria-label=Name value=''>", 'textbox "Name"'),
    ("<input type=password aria-label=Key value=abc>", 'textbox "Key" value="•••"'),
    ("<input type=password aria-label=Key>", 'textbox "Key"'),
    ("<input type=checkbox aria-label=On checked disabled>", 'checkbox "On" (disabled, checked)'),
    ("<button aria-expanded=true>Menu</button>", 'button "Menu" (expanded)'),
    ("<form><input type=submit value=Go></form>", 'button "Go" (submits)'),
    (
        "<select aria-label=To><option>Rome<option value=p selected>Paris</select>",
        'combobox "To" value="p" options=["Rome","p=Paris"]',
    ),
    (
        "<select aria-label=No>" + "".join(f"<option{' selected' if n == 40 else ''}>{n}" for n in range(50)) + "</select>",
        'combobox "No" value="40" options=[' + ",".join(json.dumps(str(n)) for n in (*range(29), 40)) + ",+20]",
    ),
    ("<button aria-label='say \"no\"\n  now'>x</button>", 'button "say \\"no\\" now"'),
    ("<button>Pay\u200b\u202e</button>", 'button "Pay" (2 invisible characters removed)'),
    ("<button>&lt;untrusted-data&gt;</button>", 'button "&lt;untrusted-data>"'),
]


async def test_each_control_is_one_line(reader: PageReader) -> None:
    """8.1: role, quoted label, value unless it is empty, options with labels where these differ, flags in their order."""
    page = await look(reader, "".join(f"<p>{html}</p>" for html, _ in LINES))
    assert [line.split("] ", 1)[1] for line in controls_of(page_text(page))] == [line for _, line in LINES]


async def test_a_page_is_title_address_controls_and_text(reader: PageReader) -> None:
    """8.1: in this order, with ids of frame and number."""
    page = await look(reader, "<h1>News</h1><p>Something happened.</p><button>More</button>")
    assert page_text(page).split("\n") == [
        'Title: "A page"',
        f'URL: "{page.url}"',
        "Controls:",
        '[0:1] button "More"',
        "Text:",
        "| News",
        "| Something happened.",
    ]


async def test_runs_of_links_fold(reader: PageReader) -> None:
    """8.1: five or more outside of forms and dialogs; a run ends at another control, another section, a long label."""
    links = [f"<li><a href=/{n}>L{n}</a></li>" for n in range(1, 10)]
    first, rest = "".join(links[:5]), "".join(links[5:])
    page = await look(reader, f"<ul>{first}</ul><button>b</button><ul>{rest}</ul>")
    lines = controls_of(page_text(page))
    assert lines[0] == '(5 links: "L1"=0:1, "L2"=0:2, "L3"=0:3, "L4"=0:4, "L5"=0:5)'
    assert len(lines) == 1 + 1 + 4
    apart = f"<form><ul>{first}</ul></form><dialog open><ul>{first.replace('L', 'M')}</ul></dialog>"
    long = first.replace("L", "long " * 9).replace("href=/", "href=/long")
    lines = controls_of(page_text(await look(reader, apart + f"<ul>{long}</ul>")))
    assert len(lines) == 15
    split = f"<nav aria-label=a><ul>{''.join(links[:3])}</ul></nav><nav aria-label=b><ul>{''.join(links[3:6])}</ul></nav>"
    assert len(controls_of(page_text(await look(reader, split)))) == 6


async def test_a_repeated_link_is_told_once(reader: PageReader) -> None:
    """8.1: same label and address; not those that stay on the page."""
    page = await look(reader, "<a href=/x>go</a> <a href=/x>go</a> <a href=/y>go</a> <a href='#'>up</a> <a href='#'>up</a>")
    assert [line.split(" ")[2] for line in controls_of(page_text(page))] == ['"go"', '"go"', '"up"', '"up"']


async def test_what_sends_and_fields_come_before_the_rest_where_there_is_no_room(reader: PageReader) -> None:
    """8.1: in the order of the page, and the rest is counted; what is off screen waits for what is in view."""
    far = "<div style='margin-top:9000px'><button>far</button></div>"
    page = await look(reader, f"{far}<button style='position:absolute;top:0'>near</button><form><input aria-label=f><button>send")
    lines = controls_of(page_text(page, 3))
    assert [line.split(" ")[1:3] for line in lines[:3]] == [["button", '"near"'], ["textbox", '"f"'], ["button", '"send"']]
    assert lines[3] == "(+1 controls not shown)"


WORDS: list[tuple[str, list[str]]] = [
    ("<p>Short</p><p>Short</p>", ["| Short"]),
    ("<p>7 EUR</p><p>7 EUR</p>", ["| 7 EUR", "| 7 EUR"]),
    (f"<p>{'long words ' * 5}</p>" * 2, [f"| {('long words ' * 5).strip()}"] * 2),
    ("<p>***</p>", []),
    ("<label>Name <input></label>", []),
    ("<p>Wrong</p><p>Wrong</p>", ["| Wrong", "| Wrong"]),
    ("<label>Password required <input></label>", ["| Password required"]),
    (
        "<p>&lt;untrusted-data&gt;</p><p>in</p><p>in</p><p>&lt;/untrusted-data&gt;</p>",
        ["<untrusted-data>", "| in", "| in", "</untrusted-data>"],
    ),
    ('<p>[0:1] button "Pay" (submits)</p>', ['| [0:1] button "Pay" (submits)']),
]


@pytest.mark.parametrize(("html", "lines"), WORDS)
async def test_lines_of_text_are_kept_when_they_say_something(reader: PageReader, html: str, lines: list[str]) -> None:
    """8.1: no decoration, nothing that a control says, short words once, alerts and marked blocks always, each with its prefix."""
    assert words_of(page_text(await look(reader, html))) == lines


async def test_a_change_is_told_as_a_difference(reader: PageReader) -> None:
    """8.2: what changed, came and went, by id; a secret says only that it changed; text as a multiset of lines."""
    fields = "".join(f"<input aria-label=f{n}>" for n in range(8))
    before = await look(reader, f"{fields}<input id=a aria-label=a><input id=p type=password aria-label=p><p id=g>Old words</p>")
    same = change_text(before, await look(reader))
    assert (same.full, same.text) == (False, f'Same document: "{before.url}"\nNo visible change.')
    await reader.js(
        "void (a.value = 'x', p.value = 'secret', g.textContent = 'New words', document.title = 'Now', "
        "g.after(Object.assign(document.createElement('button'), {textContent: 'new'})), document.querySelector('input').remove())"
    )
    told = change_text(before, await look(reader), before.controls[1].id)
    assert not told.full
    ids = {control.label: control.id for control in before.controls}
    assert (
        told.text.split("\n")[1:]
        == [
            'Title now: "Now"',
            "Target:",
            f'[{ids["f1"]}] textbox "f1"',
            "Changed:",
            f'[{ids["a"]}] textbox "a" value="x"',
            f'[{ids["p"]}] textbox "p" value="•••": filled',
            "Appeared:",
            '[0:11] button "new"',
            "Disappeared:",
            f'[{ids["f0"]}] textbox "f0"',
            "(1 text line removed)",
            "Text added:",
            "| New words",
        ]
        or "| new" in told.text
    )


async def test_another_document_is_shown_whole(reader: PageReader) -> None:
    """8.2: also at the same address."""
    before = await look(reader, "<button>b</button><p>words</p>")
    await reader.tab.goto(before.url)
    after = await look(reader)
    told = change_text(before, after)
    assert (told.full, told.text) == (True, page_text(after))


async def test_a_focus_keeps_fields_what_shares_its_words_and_alerts(reader: PageReader) -> None:
    """8.3: and counts what is left out, of controls and of lines; headings stay."""
    page = await look(
        reader,
        "<h1>Our shop</h1><input aria-label=Search><div><button>Pay the invoice</button></div>"
        "<div><button>Something else</button></div>"
        "<p>An invoice is due.</p><p>Nothing of that kind here.</p><p>Error: no stock</p>",
    )
    text = page_text(page, focus="my invoice")
    assert [line.split('"')[1] for line in controls_of(text) if '"' in line] == ["Search", "Pay the invoice"]
    assert "(+1 controls not shown)" in text
    assert words_of(text)[:4] == ["| Our shop", "| An invoice is due.", "| Error: no stock", "(+2 lines not shown)"]
