"""What tasks conclude from a real page without touching it: page reference 13, 17, 18."""

import datetime

import pytest
import trio

from foxloop_trio.browser import Snapshot
from foxloop_trio.browser._risk import allowed_by, risk_of
from foxloop_trio.browser.tasks import parse_goal, preview
from foxloop_trio.browser.tasks._page import form_key
from foxloop_trio.browser.tasks._progress import start
from foxloop_trio.browser.tasks._sending import pick_send
from foxloop_trio.browser.tasks._verify import page_problem, verify
from foxloop_trio.testing._page_reader import PageReader

pytestmark = pytest.mark.firefox

TODAY = datetime.date(2026, 9, 1)


async def look(reader: PageReader, html: str) -> Snapshot:
    await reader.open(html)
    with trio.fail_after(30):
        return await reader.tab.snapshot()


RISKS = [
    ("<button>Buy now</button>", "spend money"),
    ("<button>Place your order</button>", "spend money"),
    ("<button aria-label='Remove item'>x</button>", "delete data"),
    ("<a href=/x>Cancel my subscription</a>", "end an account"),
    ("<a href=/x>Log<b>-</b>out</a>", "end the session"),
    ("<button>B\u00aduy</button>", "spend money"),
    ("<a href=/x>Orders</a>", None),
    ("<button>Subscribe</button>", None),
    ("<button>Cancel</button>", None),
]


async def test_labels_that_do_harm_are_known_as_the_page_writes_them(reader: PageReader) -> None:
    """13.1: by whole words of the name, wherever it comes from and whatever is hidden in it."""
    page = await look(reader, "".join(f"<p>{html}</p>" for html, _ in RISKS))
    assert [risk_of(control.label) for control in page.controls] == [risk for _, risk in RISKS]


async def test_a_goal_allows_what_it_names_and_does_not_forbid(reader: PageReader) -> None:
    """13.2: judged against the label on the page."""
    page = await look(reader, "<form><button>Delete all</button></form>")
    risk = risk_of(page.controls[0].label)
    assert risk == "delete data"
    allowed = {goal: allowed_by(goal, risk) for goal in ("delete it", "don't delete it", 'type "delete"', "without deleting")}
    assert allowed == {"delete it": True, "don't delete it": False, 'type "delete"': False, "without deleting": False}


SENDS = [
    ("<button>Save draft</button><button>Send</button><button type=reset>Reset</button>", "Send"),
    ("<input type=image alt=Go width=20 height=20 src=data:,>", "Go"),
    ("<button type=button>Help</button><button type=button>Continue</button>", "Continue"),
    ("<button>Preview</button><button>Publish</button>", "Publish"),
]


async def test_the_button_that_sends_is_the_one_a_person_would_press(reader: PageReader) -> None:
    """13.4, 21.12: a submit control, not one that cancels, saves a draft or previews; else one that is called like sending."""
    for buttons, label in SENDS:
        page = await look(reader, f"<form><input aria-label=Name>{buttons}</form>")
        field = next(control for control in page.controls if control.label == "Name")
        choice = pick_send(page, form_key(page, field), "name: Ada")
        assert choice.button is not None
        assert choice.button.label == label


async def test_two_buttons_that_send_alike_are_not_chosen_between(reader: PageReader) -> None:
    """21.12: outside of a form there is no default button; both are named."""
    page = await look(reader, "<section><h2>S</h2><input aria-label=Name><button>Send a</button><button>Send b</button></section>")
    choice = pick_send(page, form_key(page, page.controls[0]), "name: Ada")
    assert choice.button is None
    assert [control.label for control in choice.equal] == ["Send a", "Send b"]


async def test_a_preview_says_what_would_be_filled_sent_and_risked(reader: PageReader) -> None:
    """18: on one look, nothing touched; destination resolved, sensitive values masked, pieces that fit nothing named."""
    page = await look(
        reader,
        "<form action=/pay method=post><label>Name <input></label><label>IBAN <input></label><label>Day <input type=date></label>"
        "<label><input type=checkbox> I accept the terms</label><button>Buy now</button></form>",
    )
    plan = await preview(
        page,
        "name: Ada, IBAN: DE02120300000000202051, day: 3 October 2026, accept the terms, shoe size: 44, then buy it",
        today=TODAY,
    )
    assert [(field.label, field.op, field.value) for field in plan.fields] == [
        ("Name", "type", "Ada"),
        ("IBAN", "type", "•••"),
        ("Day", "date", "2026-10-03"),
        ("I accept the terms", "check", None),
    ]
    assert plan.destination is not None
    assert (plan.destination.url, plan.destination.method, plan.destination.host) == (
        page.url.rsplit("/", 1)[0] + "/pay",
        "post",
        "127.0.0.1",
    )
    assert plan.send is not None
    assert (plan.send.how, plan.send.label) == ("button", "Buy now")
    assert [(risk.risk, risk.label) for risk in plan.risks] == [("spend money", "Buy now")]
    assert any("44" in piece for piece in plan.unmatched)
    assert (await reader.js("[...document.querySelectorAll('input')].map(i => i.value).join()")) == ",,,on"


async def test_a_preview_sends_nothing_where_the_goal_forbids_it(reader: PageReader) -> None:
    """18: neither by a button nor by Enter; without a button it is Enter."""
    html = "<form action=/x><label>Name <input></label></form>"
    page = await look(reader, html)
    assert (await preview(page, "name: Ada, do not submit", today=TODAY)).send is None
    plan = await preview(page, "name: Ada", today=TODAY)
    assert plan.send is not None
    assert plan.send.how == "enter"


async def test_a_pinned_send_holds_until_destination_or_button_are_others(reader: PageReader) -> None:
    """18: what the page shows now is compared with what was previewed."""
    page = await look(reader, "<form action=/x><label>Name <input></label><button>Send</button></form>")
    plan = await preview(page, "name: Ada", today=TODAY)
    assert plan.holds(page, page.controls[1], enter=False)
    for change in ("form.action = '/other'", "form.lastChild.textContent = 'Send it all'"):
        await reader.js(f"void (() => {{ const form = document.forms[0]; {change} }})()")
        now = await reader.tab.snapshot()
        assert not plan.holds(now, now.controls[1], enter=False)


HELD = (
    "<label>Name <input value='Ada Lovelace'></label><label>Day <input value=03/10/2026 placeholder=DD/MM/YYYY></label>"
    "<label><input type=checkbox checked> Newsletter</label><label>Class <select><option>Economy<option selected>Business</select>"
    "</label>"
)
CHECKS = [
    ("name: Ada Lovelace", True),
    ("name: Grace Hopper", False),
    ("day: 3 October 2026", True),
    ("day: 4 October 2026", False),
    ("class: Business", True),
    ("class: Economy", False),
]


async def test_what_the_page_holds_is_the_evidence(reader: PageReader) -> None:
    """17: one check for each part of the goal, by values, dates in the field's format, selected options and what is on."""
    page = await look(reader, HELD)
    for goal, holds in CHECKS:
        progress = start(parse_goal(f"{goal}, do not submit", TODAY), TODAY)
        progress.parts[0].status = "done"
        result = verify(progress, page)
        assert [check.ok for check in result.checks] == [holds], goal


PROBLEMS = [
    ("<div class=g-recaptcha style='width:300px;height:78px'>challenge</div>", "captcha"),
    ("", "empty page"),
    ("<h1>404 Not Found</h1><a href=/>Home</a>", "error page"),
    ("<p>Service unavailable</p>", "error page"),
    ("<p>Error: use your work e-mail</p><input aria-label=E-mail>", None),
    ("<h1>Room 4040</h1><button>b</button>", None),
]


@pytest.mark.parametrize(("html", "problem"), PROBLEMS)
async def test_a_page_as_a_whole_may_be_the_problem(reader: PageReader, html: str, problem: str | None) -> None:
    """17: the first that fits; a hint on a normal page is none."""
    assert page_problem(await look(reader, html)) == problem
