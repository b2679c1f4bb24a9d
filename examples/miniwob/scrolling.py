"""Tasks of scrolling to the end of a text."""

from ._script import Script, act, click, look, said, solves, write

FAR = "20000"
"""Pixels; further down than any of the texts goes."""


@solves("scroll-text-2")
def scroll_text_2(goal: str) -> Script:
    (way,) = said(r"Scroll the textarea to the (top|bottom) of the text hit submit\.", goal)
    page = yield look()
    yield [
        act(page.the("textbox"), "scroll", value=FAR if way == "bottom" else f"-{FAR}"),
        click(page.the("button", label="Submit")),
    ]


@solves("sign-agreement")
def sign_agreement(goal: str) -> Script:
    """The name can be written only once the agreement was scrolled through."""
    name, button = said(
        r'Click the cancel button\.|Scroll to the bottom of the textarea, enter the name "(.+)" then press "(.+)"', goal
    )
    page = yield look()
    if not name:
        yield click(page.the("button", label="Cancel"))
        return
    page = yield [act(page.the("textbox", label="User agreement"), "scroll", value=FAR), look()]
    yield [write(page.the("textbox", label="Name"), name), click(page.the("button", label=button))]
