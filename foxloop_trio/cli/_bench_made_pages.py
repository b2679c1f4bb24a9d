"""Pages made for measuring a look: of any number of elements, a tenth of them controls; and ordinary forms.

They are the same each time.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

__all__ = ["BLOCK", "FORMS", "page_of"]

BLOCK: Final = 10
"""Elements of one block, one of them a control."""

_CONTROLS: Final = (
    '<label>Field {n} <input name="f{n}" value="v{n}"></label>',
    '<span><button type="button">Open item {n}</button></span>',
    '<span><a href="/item/{n}">Item number {n}</a></span>',
    '<label><input type="checkbox" name="c{n}"> Choose item {n}</label>',
    '<label>Notes {n} <textarea name="t{n}"></textarea></label>',
)
_BLOCK: Final = (
    "<div><h3>Item {n}</h3><p>Some words on <b>item {n}</b> that a person <i>may</i> read.</p>"
    "<p><span>Price {n} EUR</span></p><span>In stock since week {week}</span>{control}</div>\n"
)


def page_of(elements: int) -> str:
    """A page whose body has this many elements, rounded to whole blocks: a tenth of them links, buttons, fields and boxes."""
    blocks = (
        _BLOCK.format(n=n, week=n % 52 + 1, control=_CONTROLS[n % len(_CONTROLS)].format(n=n)) for n in range(elements // BLOCK)
    )
    return _whole(f"{elements} elements", "".join(blocks))


def _whole(title: str, body: str) -> str:
    return f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title></head><body>{body}</body></html>'


def _options(*names: str) -> str:
    return "".join(f'<option value="{name[:2].lower()}">{name}</option>' for name in names)


def _links(*names: str) -> str:
    return "".join(f'<li><a href="/{name.lower()}">{name}</a></li>' for name in names)


_COUNTRIES: Final = _options(
    "Austria", "Belgium", "Czechia", "Denmark", "Estonia", "France", "Germany", "Hungary", "Italy", "Norway"
)
_MENU: Final = (
    '<header><a href="/">Home</a><nav aria-label="Main"><ul>'
    + _links("Products", "Prices", "Support", "Company", "News", "Careers")
    + '</ul></nav><form role="search"><input type="search" name="q" aria-label="Search the site">'
    "<button>Search</button></form></header>"
)
_FOOT: Final = (
    "<footer><ul>"
    + _links("Imprint", "Privacy", "Terms", "Contact", "Accessibility")
    + "</ul><p>© 2026 An ordinary company</p></footer>"
)


def _form_page(title: str, main: str) -> str:
    return _whole(title, f"{_MENU}<main><h1>{title}</h1>{main}</main>{_FOOT}")


def _field(label: str, name: str, kind: str = "text", more: str = "") -> str:
    return f'<div class="field"><label for="{name}">{label}</label><input id="{name}" name="{name}" type="{kind}" {more}></div>'


def _select(label: str, name: str, options: str) -> str:
    return f'<label for="{name}">{label}</label><select id="{name}" name="{name}">{options}</select>'


def _switch(group: str, number: int, name: str) -> str:
    there = f"{group}{number}"
    checked = "true" if number % 2 else "false"
    button = f'<button type="button" role="switch" aria-checked="{checked}" aria-labelledby="{there}"></button>'
    return f'<div class="row"><span id="{there}">{name}</span>{button}</div>'


def _address(prefix: str, legend: str) -> str:
    fields = (("Full name", "name"), ("Street and number", "street"), ("Postcode", "zip"), ("City", "city"))
    country = f'<div class="field">{_select("Country", f"{prefix}country", _COUNTRIES)}</div>'
    return (
        f"<fieldset><legend>{legend}</legend>{''.join(_field(label, prefix + name) for label, name in fields)}{country}</fieldset>"
    )


FORMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "sign in": _form_page(
            "Sign in",
            '<form method="post" action="/login"><p>Welcome back. Sign in to go on.</p>'
            + _field("E-mail address", "email", "email", "required")
            + _field("Password", "password", "password", "required")
            + '<label><input type="checkbox" name="stay"> Keep me signed in</label>'
            '<button type="submit">Sign in</button> <a href="/forgot">Forgot your password?</a></form>'
            '<p>New here? <a href="/register">Create an account</a></p>',
        ),
        "register": _form_page(
            "Create an account",
            '<form method="post" action="/register">'
            + _field("First name", "first", more="required")
            + _field("Last name", "last", more="required")
            + _field("E-mail address", "email", "email", "required")
            + _field("Telephone", "phone", "tel")
            + _field("Date of birth", "born", "date")
            + _field("Password", "pw1", "password", 'required aria-describedby="rule"')
            + '<p id="rule">At least twelve characters, one of them a digit.</p>'
            + _field("Repeat the password", "pw2", "password", "required")
            + "<fieldset><legend>How shall we write to you?</legend>"
            '<label><input type="radio" name="how" value="mail" checked> By e-mail</label>'
            '<label><input type="radio" name="how" value="post"> By post</label>'
            '<label><input type="radio" name="how" value="not"> Not at all</label></fieldset>'
            '<label><input type="checkbox" name="terms" required> I accept the <a href="/terms">terms</a></label>'
            '<label><input type="checkbox" name="news"> Send me the newsletter</label>'
            '<button type="submit">Create account</button></form>',
        ),
        "checkout": _form_page(
            "Check out",
            '<form method="post" action="/order">'
            + _address("bill_", "Billing address")
            + _address("ship_", "Delivery address")
            + "<fieldset><legend>Delivery</legend>"
            '<label><input type="radio" name="speed" value="s" checked> Standard, 3 to 5 days, 4.90 EUR</label>'
            '<label><input type="radio" name="speed" value="x"> Express, next day, 12.50 EUR</label></fieldset>'
            "<fieldset><legend>Payment</legend>"
            + _field("Card number", "card", more='autocomplete="cc-number" inputmode="numeric"')
            + _field("Expiry date", "exp", more='placeholder="MM/YY" autocomplete="cc-exp"')
            + _field("Security code", "cvc", more='autocomplete="cc-csc"')
            + "</fieldset><table><thead><tr><th>Article</th><th>Number</th><th>Price</th></tr></thead><tbody>"
            + "".join(
                f'<tr><td>Article {n}</td><td><input type="number" name="n{n}" value="{n}" aria-label="Number of article {n}"></td>'
                f'<td>{n * 7}.00 EUR</td><td><button type="button">Remove</button></td></tr>'
                for n in range(1, 5)
            )
            + '</tbody></table><p>Total: 74.90 EUR</p><button type="submit">Place the order</button></form>',
        ),
        "contact": _form_page(
            "Contact us",
            "<p>We answer within two working days. For urgent questions call 0800 123 456.</p>"
            '<form method="post" action="/contact">'
            + _field("Your name", "name", more="required")
            + _field("Your e-mail", "email", "email", "required")
            + _select("Topic", "topic", _options("An order", "A product", "Returns", "Other"))
            + '<label for="text">Your message</label><textarea id="text" name="text" required></textarea>'
            '<label>Attachment <input type="file" name="file" accept=".pdf,image/*"></label>'
            '<button type="submit">Send the message</button><button type="reset">Start again</button></form>',
        ),
        "settings": _form_page(
            "Settings",
            '<form method="post" action="/settings">'
            + "".join(
                f"<section><h2>{group}</h2>" + "".join(_switch(group, n, name) for n, name in enumerate(names)) + "</section>"
                for group, names in {
                    "Notifications": ("New messages", "Mentions", "Weekly summary", "Product news"),
                    "Privacy": ("Show my profile", "Show my e-mail address", "Let others find me"),
                    "Display": ("Dark mode", "Large text", "Reduce motion"),
                }.items()
            )
            + _select("Language", "lang", _options("English", "Deutsch", "Français", "Español"))
            + '<button type="submit">Save changes</button></form>',
        ),
    }
)
"""Ordinary forms with the menu and the foot that such pages have."""
