"""Risky labels, sensitive fields, send buttons and sites (page reference, sections 13 and 14)."""

import pytest

from foxloop_trio.browser._risk import allowed_by, risk_of
from foxloop_trio.browser.tasks._goals import parse_goal
from foxloop_trio.browser.tasks._sending import pick_send
from foxloop_trio.browser.tasks._sensitive import asks_secret, is_secret, is_sensitive, shown_goal
from foxloop_trio.browser.tasks._sites import host_in, is_downgrade, same_site, site_of


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("Buy now", "spend money"),
        ("Buy\u200b now", "spend money"),
        ("Check out", "spend money"),
        ("Checkout", "spend money"),
        ("CHECK-OUT", "spend money"),
        ("Complete order", "spend money"),
        ("Complete your purchase", "spend money"),
        ("Confirm booking", "spend money"),
        ("Confirm my payment", "spend money"),
        ("Order now", "spend money"),
        ("Pay 5 €", "spend money"),
        ("Payment", "spend money"),
        ("Place your order", "spend money"),
        ("Purchase", "spend money"),
        ("Subscribe and pay", "spend money"),
        ("\uff22\uff55\uff59 now", "spend money"),
        ("Delete", "delete data"),
        ("Deleting…", "delete data"),
        ("Destroy", "delete data"),
        ("Discard changes", "delete data"),
        ("Erase all", "delete data"),
        ("Remove", "delete data"),
        ("Wipe", "delete data"),
        ("Cancel subscription", "end an account"),
        ("Cancel my membership", "end an account"),
        ("Close your account", "end an account"),
        ("Unsubscribe", "end an account"),
        ("Deactivate", "end an account"),
        ("Sign out", "end the session"),
        ("Log off", "end the session"),
        ("logout", "end the session"),
        ("Sign-out", "end the session"),
        ("Orders", None),
        ("Order history", None),
        ("Subscribe", None),
        ("Book", None),
        ("Cancel", None),
        ("Close", None),
        ("Complete the whole new order form", None),
        ("Repay", None),
        ("Sign in", None),
        ("Undelete", None),
    ],
)
def test_a_label_that_does_harm_has_its_class(label, expected):
    """Page reference 13.1."""
    assert risk_of(label) == expected


@pytest.mark.parametrize(
    ("goal", "risk", "expected"),
    [
        ("buy the book", "spend money", True),
        ("check out and pay", "spend money", True),
        ("order it", "spend money", True),
        ("find the book", "spend money", False),
        ("the buyer is Ada", "spend money", False),
        ("don't buy the book", "spend money", False),
        ("dont buy the book", "spend money", False),
        ("don\u2019t buy the book", "spend money", False),
        ("never pay", "spend money", False),
        ("without paying", "spend money", False),
        ("no purchase", "spend money", False),
        ("do not look, buy it", "spend money", True),
        ("do not look but buy it", "spend money", True),
        ("do not look then buy it", "spend money", True),
        ("avoid the shop and buy it", "spend money", False),
        ('title: "pay me"', "spend money", False),
        ("title: 'pay me'", "spend money", False),
        ("title: “pay me”", "spend money", False),
        ("mail pay@shop.example", "spend money", False),
        ("open https://shop.example/buy", "spend money", False),
        ("open www.shop.example/pay", "spend money", False),
        ("it's Ada's wish to buy", "spend money", True),
        ("delete the note", "delete data", True),
        ("remove it", "delete data", True),
        ("delete the note", "spend money", False),
        ("without deleting", "delete data", False),
        ("cancel my subscription", "end an account", True),
        ("unsubscribe", "end an account", True),
        ("sign out", "end the session", True),
        ("log off", "end the session", True),
        ("sign in", "end the session", False),
    ],
)
def test_a_goal_allows_a_risk_by_a_verb_of_its_class(goal, risk, expected):
    """Page reference 13.2: not in quotes or addresses, and not with a negation before it in the clause."""
    assert allowed_by(goal, risk) is expected


@pytest.mark.parametrize(
    ("label", "more", "secret", "sensitive"),
    [
        ("Password", {"type": "password"}, True, True),
        ("Password", {}, True, True),
        ("Passphrase", {}, True, True),
        ("Your PIN", {}, True, True),
        ("CVV", {}, True, True),
        ("Card security code", {}, True, True),
        ("One-time code", {}, True, True),
        ("Verification code", {}, True, True),
        ("Secret", {"secret": True}, True, True),
        ("Spinning", {}, False, False),
        ("Name on card", {}, False, True),
        ("Expiry date", {}, False, True),
        ("IBAN", {}, False, True),
        ("Account number", {}, False, True),
        ("Sort code", {}, False, True),
        ("Passport number", {}, False, True),
        ("Tax ID", {}, False, True),
        ("API key", {}, False, True),
        ("Name", {}, False, False),
        ("Account name", {}, False, False),
    ],
)
def test_secret_and_sensitive_fields_are_told_by_page_and_label(pages, label, more, secret, sensitive):
    """Page reference 13.3."""
    (control,) = pages.look(pages.control("textbox", label, **more)).controls
    assert (is_secret(control), is_sensitive(control)) == (secret, sensitive)


def test_a_button_with_such_a_label_is_no_secret_field(pages):
    """ "Forgot your password?" is a link."""
    (control,) = pages.look(pages.control("link", "Forgot your password?")).controls
    assert not is_secret(control)


def test_the_goal_is_shown_without_the_values_of_sensitive_things(pages):
    """What it asks for stays readable."""
    goal = parse_goal("name: Ada, password: hunter2, IBAN: DE89 3704, PIN: 1234", pages.today)
    assert [asks_secret(part) for part in goal.requirements] == [False, True, False, True]
    assert shown_goal(goal) == "name: Ada, password: •••, IBAN: •••, PIN: •••"


# Send buttons


@pytest.mark.parametrize(
    ("labels", "goal", "expected"),
    [
        (["Send"], "", "Send"),
        (["Save draft", "Publish"], "", "Publish"),
        (["Cancel", "Reset", "Back", "Preview", "Send"], "", "Send"),
        (["Send", "Send a copy"], "", "Send"),
        (["Save", "Publish"], "publish it", "Publish"),
        (["Save draft", "Publish"], "save it as a draft", "Save draft"),
        (["Save draft", "Publish", "Schedule"], "", ("Publish", "Schedule")),
        (["Save draft", "Publish", "Schedule"], "schedule it", "Schedule"),
        (["Save draft"], "", ("Save draft",)),
    ],
)
def test_the_button_that_sends_is_told_from_those_beside_it(pages, labels, goal, expected):
    """Page reference 21.12: a word of the goal first, then the default button; two equal ones are not chosen between."""
    page = pages.look(pages.control("textbox", "Name", form=90), *(pages.control("button", label, submit=True) for label in labels))
    choice = pick_send(page, (page.top.document, 90), goal)
    assert (choice.button.label if choice.button else tuple(button.label for button in choice.equal)) == expected


@pytest.mark.parametrize(
    "label",
    [
        "Apply", "Book now", "Continue", "Create account", "Done", "Go", "Next step", "Register", "Save", "Search", "Send",
        "Sign up", "Submit", "Subscribe", "→ Next",
    ],
)  # fmt: skip
def test_a_button_of_the_form_sends_by_how_its_label_starts(pages, label):
    """Page reference 13.4, when there is no submit control; other buttons do not."""
    page = pages.look(
        pages.control("textbox", "Name", form=90), pages.control("button", "Help", form=90), pages.control("button", label, form=90)
    )
    assert pick_send(page, (page.top.document, 90), "").button.label == label


def test_a_form_without_any_such_button_has_none(pages):
    """Nor does another form's button count, nor a link."""
    page = pages.look(
        pages.control("textbox", "Name", form=90), pages.control("button", "Help", form=90),
        pages.control("button", "Send", form=91), pages.control("link", "Send", form=90),
    )  # fmt: skip
    choice = pick_send(page, (page.top.document, 90), "")
    assert (choice.button, choice.equal) == (None, ())


# Sites


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://www.Example.com./x", "example.com"),
        ("https://a.b.example.co.uk", "example.co.uk"),
        ("https://shop.co.id", "shop.co.id"),
        ("https://a.shop.co.id", "shop.co.id"),
        ("https://me.github.io", "me.github.io"),
        ("https://a.me.github.io:8443", "me.github.io"),
        ("https://x.pages.dev", "x.pages.dev"),
        ("http://127.0.0.1:8000/", "127.0.0.1"),
        ("http://[::1]:8000/", "[::1]"),
        ("http://localhost/", "localhost"),
        ("http://user:pw@shop.example.com/", "example.com"),
        ("about:blank", None),
        ("data:text/html,x", None),
        ("http://[bad", None),
        ("", None),
    ],
)
def test_a_site_is_what_somebody_registered(url, expected):
    """Page reference 14, with the whole public suffix list."""
    assert site_of(url) == expected


@pytest.mark.parametrize(
    ("start", "url", "allowed", "expected"),
    [
        ("https://example.com/a", "https://www.example.com/b", (), True),
        ("https://example.com", "https://example.com:8443", (), True),
        ("https://example.com", "https://example.org", (), False),
        ("https://a.co.id", "https://b.co.id", (), False),
        ("https://a.github.io", "https://b.github.io", (), False),
        ("https://example.com", "https://pay.example.org", ("*.example.org",), True),
        ("https://example.com", "https://pay.example.org", (".example.org",), True),
        ("https://example.com", "https://example.org", ("EXAMPLE.org.",), True),
        ("https://example.com", "https://notexample.org", ("example.org",), False),
        ("https://example.com", "about:blank", (), False),
        ("about:blank", "about:home", (), True),
        ("about:blank", "data:x", (), False),
        ("about:blank", "https://example.com", (), False),
        ("https://example.com", "https://example.org", ("",), False),
    ],
)
def test_a_run_stays_on_its_site_and_on_the_hosts_it_was_given(start, url, allowed, expected):
    """Page reference 14."""
    assert same_site(start, url, allowed) is expected


def test_only_from_https_to_http_is_a_downgrade():
    """Page reference 14, [+]."""
    assert is_downgrade("https://x.test/", "http://x.test/")
    assert not is_downgrade("http://x.test/", "https://x.test/")
    assert not is_downgrade("http://x.test/", "http://x.test/")
    assert host_in("https://X.test:1/") == "x.test"
