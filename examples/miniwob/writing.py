"""Tasks of typing, and of reading what has to be typed."""

import operator
import re

from ._reading import Page
from ._script import Call, Script, click, fill, look, said, solves, write

PLACES = {"1st": 0, "2nd": 1, "3rd": 2}
COLOURS = {
    "black": "000000", "white": "FFFFFF", "aqua": "00FFFF", "blue": "0000FF", "gray": "808080", "green": "008000", "lime": "00FF00",
    "maroon": "800000", "navy": "000080", "olive": "808000", "purple": "800080", "red": "FF0000", "silver": "C0C0C0",
    "teal": "008080", "yellow": "FFFF00", "pink": "FFC0CB", "magenta": "FF00FF", "gold": "FFD700", "orange": "FFA500",
}  # fmt: skip
"""The names of CSS."""


def answer(page: Page, text: str) -> list[Call]:
    """Write into the only field of one line, and send."""
    field = next(one for one in page.all("textbox") if "multiline" not in one.flags)
    return [write(field, text), click(page.the("button", label="Submit"))]


@solves("enter-text", "enter-text-dynamic")
def enter_text(goal: str) -> Script:
    (text,) = said(r'Enter "(.*)" into the text field and press Submit\.', goal)
    page = yield look()
    yield answer(page, text)


@solves("enter-text-2")
def enter_text_2(goal: str) -> Script:
    text, case = said(r'Type "(.*)" in all (upper|lower) case letters in the text input and press Submit\.', goal)
    page = yield look()
    yield answer(page, text.upper() if case == "upper" else text.lower())


@solves("enter-password")
def enter_password(goal: str) -> Script:
    (password,) = said(r'Enter the password "(.+)" into both text fields and press submit\.', goal)
    page = yield look()
    first, second = page.all("textbox")
    yield [fill((first, password), (second, password)), click(page.the("button", label="Submit"))]


@solves("login-user", "login-user-popup")
def login_user(goal: str) -> Script:
    """Something may pop up when a field gets the focus, once; it is closed before anything is written."""
    name, password = said(r'Enter the username "(.+)" and the password "(.+)" into the text fields and press login\.', goal)
    page = yield look()
    user, secret = page.all("textbox")
    login = page.the("button")
    for field in (user, secret):
        page = yield [click(field), look()]
        if popped := page.all("button", label="Cancel"):
            yield click(popped[0])
    yield [fill((user, name), (secret, password)), click(login)]


@solves("find-word")
def find_word(goal: str) -> Script:
    (number,) = said(r'Find the (\d+)\w+ word in the paragraph, type that into the textbox and press "Submit"\.', goal)
    """A short paragraph stands as the label of the field below it."""
    page = yield look()
    words = " ".join([line for line in page.text if line != goal] or [page.the("textbox").label]).split()
    yield answer(page, re.sub(r"[^a-zA-Z]", "", words[int(number) - 1]))


@solves("read-table")
def read_table(goal: str) -> Script:
    (name,) = said(r"Enter the value of (.+) into the text field and press Submit\.", goal)
    page = yield look()
    yield answer(page, table(page)[name])


@solves("read-table-2")
def read_table_2(goal: str) -> Script:
    page = yield look()
    values = table(page)
    fields = [write(field, values[field.label.rstrip(":")]) for field in page.all("textbox")]
    yield [*fields, click(page.the("button", label="Submit"))]


def table(page: Page) -> dict[str, str]:
    """The rows of the page's table: what stands in the first column, and in the second."""
    rows = [line.split(" | ") for line in page.text]
    return {row[0]: row[1] for row in rows if len(row) == 2}


@solves("scroll-text")
def scroll_text(goal: str) -> Script:
    """A text that is too long for the line of its field stands in whole in the text of the page."""
    page = yield look()
    value = next(one for one in page.all("textbox") if "multiline" in one.flags).value
    whole = next((line for line in page.text if line.startswith(value[:30])), value)
    yield answer(page, re.findall(r"[a-zA-Z]+", whole.removesuffix(" Submit"))[-1])


@solves("simple-arithmetic")
def simple_arithmetic(goal: str) -> Script:
    page = yield look()
    sums = " ".join([*page.text, *(one.label for one in page.all("textbox"))])
    first, sign, second = re.findall(r"(\d+) ([-+x*/]) (\d+) =", sums)[0]
    how = {"+": operator.add, "-": operator.sub, "x": operator.mul, "*": operator.mul, "/": operator.floordiv}
    yield answer(page, str(how[sign](int(first), int(second))))


@solves("simple-algebra")
def simple_algebra(goal: str) -> Script:
    page = yield look()
    first, sign, second, result = page.find(r"^(x|\d+) ([-+]) (x|\d+) = (-?\d+)$").groups()
    how = {"+": operator.add, "-": operator.sub}[sign]
    fits = (x for x in range(-200, 201) if how(*(x if one == "x" else int(one) for one in (first, second))) == int(result))
    yield answer(page, str(next(fits)))


@solves("visual-addition")
def visual_addition(goal: str) -> Script:
    page = yield look()
    yield answer(page, str(len(page.all("image"))))


@solves("text-transform")
def text_transform(goal: str) -> Script:
    """The letters stand askew, each on its own."""
    page = yield look()
    yield answer(page, "".join(letter.label for letter in page.all("text")))


@solves("copy-paste")
def copy_paste(goal: str) -> Script:
    page = yield look()
    (source,) = [field for field in page.all("textbox") if "multiline" in field.flags]
    yield answer(page, source.value)


@solves("copy-paste-2")
def copy_paste_2(goal: str) -> Script:
    (place,) = said(r"Copy the text from the (\w+) text area below and paste it into the text input, then press Submit\.", goal)
    page = yield look()
    sources = [field for field in page.all("textbox") if "multiline" in field.flags]
    yield answer(page, sources[PLACES[place]].value)


@solves("guess-number")
def guess_number(goal: str) -> Script:
    """Halve what is left."""
    low, high = (int(number) for number in said(r"Guess the number between (\d)-(\d) and .*", goal))
    page = yield look()
    while True:
        guess = (low + high) // 2
        page = yield [write(page.the("spinbutton"), str(guess)), click(page.the("button", label="Submit")), look()]
        told = [line for line in page.text if re.search(r"number is (?:lower|higher) than", line)]
        if not told:
            break
        low, high = (low, guess - 1) if "lower" in told[0] else (guess + 1, high)


@solves("multi-layouts", "multi-orderings")
def multi_layouts(goal: str) -> Script:
    genre, director, year = said(r"Search for (.+) movies directed by (.+) from year (\d+)\.", goal)
    page = yield look()
    calls = []
    for field in page.all("textbox"):
        words = f"{field.label} {field.row}".lower()
        calls.append(write(field, genre if "genre" in words else director if "director" in words else year))
    yield [*calls, click(next(one for one in page.controls if one.role != "textbox"))]


@solves("use-colorwheel")
def use_colorwheel(goal: str) -> Script:
    (name,) = said(r"Select (\w+) with the color picker and hit Submit\.", goal)
    page = yield look()
    yield from colour(page, COLOURS[name], goal)


@solves("use-colorwheel-2")
def use_colorwheel_2(goal: str) -> Script:
    page = yield look()
    looks = page.first("image").look
    number = re.search(r"#(\w{6})", looks)
    yield from colour(page, number[1] if number else COLOURS[looks.split()[0]], goal)


def colour(page: Page, number: str, goal: str) -> Script:
    """The picker lies over the button until something else is clicked, such as the sentence."""
    page = yield [write(page.the("textbox"), number), look(find=goal[:20])]
    page = yield [click(page.first("text")), look()]
    yield click(page.the("button", label="Submit"))
