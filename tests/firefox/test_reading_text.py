"""What a person can read beside the controls: page reference 2.10, 21.10, 21.22."""

import pytest

from foxloop_trio.testing._page_reader import PageReader

pytestmark = pytest.mark.firefox

TEXTS: list[tuple[str, list[str]]] = [
    ("<p>One <b>two</b> three</p><p>four</p>", ["One two three", "four"]),
    ("<div>a<br>b<div>c</div>d</div>", ["a", "b", "c", "d"]),
    ("<h1> Big   news </h1><h3>Small news</h3>", ["Big news", "Small news"]),
    ("<ul><li>Milk</li><li>Bread <b>rolls</b><ul><li>inner</li></ul></li></ul>", ["- Milk", "- Bread rolls", "- inner"]),
    ("<table><tr><th>Name</th><th>Age</th></tr><tr><td>Ada</td><td>36</td></tr></table>", ["Name | Age", "Ada | 36"]),
    ("<table><tr><td>a</td><td><table><tr><td>b</td><td>c</td></tr></table></td></tr></table>", ["a | b | c"]),
    ("<table><caption>Title</caption><tr><td></td><td>one</td></tr></table>", ["Title", "one"]),
    ("<div role=grid><div role=row><span role=gridcell>x</span><span role=gridcell>y</span></div></div>", ["x | y"]),
    ("<pre>line one\n  line two</pre>", ["line one", "line two"]),
    ("<p>folded\nwhite   space</p>", ["folded white space"]),
    ("<span style='display:inline-block'>A</span><span style='display:inline-block'>B</span>", ["A B"]),
    ("<span>A</span><span>B</span>", ["AB"]),
    ("<span style='display:block'>A</span><span style='display:block'>B</span>", ["A", "B"]),
    ("<select><option>not told</select><script>var no</script><button>told</button>", ["told"]),
    ("Before<select><option>no</select>after<canvas width=9 height=9></canvas>it", ["Before after it"]),
    ("<textarea>initial</textarea>", ["initial"]),
    ("<details><summary>more</summary>hidden</details>", ["more"]),
    ("<dl><dt>Term</dt><dd>Meaning</dd></dl>", ["Term", "Meaning"]),
    ("<svg width=90 height=20><title>no</title><text y=15>Drawn</text></svg>", ["Drawn"]),
    ("<div style='display:contents'>boxless</div>", ["boxless"]),
]


async def test_text_comes_in_reading_order_and_keeps_its_form(reader: PageReader) -> None:
    """One line per block, cells of a row in one line, items marked; hidden and silent elements are not there."""
    assert await reader.texts([html for html, _ in TEXTS]) == [lines for _, lines in TEXTS]


async def test_title_headings_and_more_are_told(reader: PageReader) -> None:
    """Page reference 2.10: h1 and h2 in the order of the page, white space collapsed; there is more below."""
    frame = await reader.read(
        "<h1> Big   news </h1><h2 hidden>no</h2><h2><i>Second</i> news</h2><h3>no</h3><div role=heading aria-level=2>Third</div>"
        "<h1></h1><div style='height:3000px'></div>"
    )
    assert (frame["title"], frame["headings"]) == ("A page", ["Big news", "Second news", "Third"])
    assert frame["more"] is True
    assert frame["url"] == (await reader.call("tab.get"))["tab"]["url"]
    await reader.js("void scrollTo(0, 1e6)")
    assert (await reader.frame())["more"] is False


async def test_half_characters_of_a_page_do_not_break_the_wire(reader: PageReader) -> None:
    """A lone surrogate has no UTF-8; a cut never leaves one."""
    await reader.open("<button id=b>x</button><p id=p></p>")
    await reader.js(
        r"void (b.textContent = 'bad \ud83d end', document.title = '\ud83e\udd8a'.repeat(600), p.textContent = 'x' + "
        r"'\ud83e\udd8a'.repeat(40) + '\udd8a')"
    )
    frame = await reader.frame(max_text=20)
    assert frame["controls"][0]["label"] == "bad \ufffd end"
    assert frame["title"] == "🦊" * 500
    assert frame["text"].encode()


WIDGET = "<div class=g-recaptcha style='width:300px;height:78px'>challenge</div>"
CAPTCHAS = [
    (WIDGET, True, False),
    (WIDGET + "<textarea name=g-recaptcha-response hidden>token</textarea>", False, True),
    ("<div class=h-captcha style='width:30px;height:78px'></div>", False, True),
    ("<div class=cf-turnstile style='width:300px;height:78px;opacity:0'></div>", False, True),
    ("<div class=g-recaptcha data-size=invisible style='width:300px;height:78px'></div>", False, True),
    ("<div class=grecaptcha-badge style='width:256px;height:60px'>badge</div>", False, True),
    ("<p>Please verify you are human</p>", True, False),
    ("<p>I\u2019m not a robot</p>", True, False),
    ("<p>All about captchas and recaptcha</p>", False, False),
    ("<p>An article: captcha</p>" + "<button>b</button>" * 10, False, False),
    ("<p>nothing of the kind</p>", False, False),
]


@pytest.mark.parametrize(("html", "captcha", "passive"), CAPTCHAS)
async def test_a_challenge_that_can_be_seen_is_a_captcha(reader: PageReader, html: str, captcha: bool, passive: bool) -> None:
    """Page reference 21.10: visible, unsolved, 40 px at least; a badge stands in nobody's way; talk of one is none."""
    frame = await reader.read(html)
    assert (frame["captcha"], frame["captcha_passive"]) == (captcha, passive)
