"""Tasks of boxes to check, of lists to choose from, and of suggestions."""

from ._reading import Control
from ._script import Script, act, check, click, look, said, solves, write

DIGITS = {
    "0": ".##. #..# #..# #..# #..# #..# .##.",
    "1": "..#. .##. ..#. ..#. ..#. ..#. ..#.",
    "2": ".##. #..# #..# ..#. .#.. #... ####",
    "3": ".##. #..# ...# .##. ...# #..# .##.",
    "4": "#... #.#. #.#. #### ..#. ..#. ..#.",
    "5": "#### #... #... ###. ...# #..# .##.",
    "6": ".##. #..# #... ###. #..# #..# .##.",
    "7": "#### #..# ...# ..#. ..#. .#.. .#..",
    "8": ".##. #..# #..# .##. #..# #..# .##.",
    "9": ".##. #..# #..# .### ...# #..# .##.",
}
"""How the digits are drawn, four boxes in each of seven rows."""

SAME = [
    set(words.split())
    for words in (
        "big large huge enormous gigantic", "small tiny little mini petite", "red scarlet crimson vermillion",
        "happy cheerful joyful gleeful delighted", "sad unhappy sorrowful miserable tragic", "angry mad furious irritated",
        "evil wicked immoral sinful corrupt depraved", "wrong incorrect mistaken erroneous", "real genuine actual",
        "strange odd peculiar unusual weird", "stop cease halt end finish", "scared terrified panicked fearful frightened afraid",
        "quiet calm peaceful serene mild", "old aged archaic", "love like adore favor", "kill murder assassinate",
        "keep retain preserve sustain maintain", "hide conceal camouflage", "hate despise loathe detest dislike",
        "funny humorous amusing comical laughable", "fat fleshy plump chubby", "stupid dumb dull unwise",
        "delicious savory delectable appetizing", "cut slice carve chop", "brave courageous fearless",
        "begin start initiate launch", "answer reply response",
        "television televisions TV TVs", "house home houses homes", "fire flame fires flames",
        "pig pork swine", "rabbit rabbits bunny bunnies", "car cars automobile automobiles vehicle vehicles", "water",
    )
]  # fmt: skip
"""Words that mean the same."""


def alike(word: str, other: str) -> bool:
    return any({word, other} <= words for words in SAME)


@solves("click-checkboxes", "click-checkboxes-large", "click-checkboxes-transfer")
def click_checkboxes(goal: str) -> Script:
    (list_of_names,) = said(r"Select (.+) and click Submit\.", goal)
    names = [] if list_of_names == "nothing" else list_of_names.split(", ")
    page = yield look()
    yield [*(check(page.the("checkbox", label=name)) for name in names), click(page.the("button", label="Submit"))]


@solves("click-checkboxes-soft")
def click_checkboxes_soft(goal: str) -> Script:
    (words,) = said(r"Select words similar to (.+) and click Submit\.", goal)
    page = yield look()
    boxes = [box for box in page.all("checkbox") if any(alike(word, box.label) for word in words.split(", "))]
    yield [*(check(box) for box in boxes), click(page.the("button", label="Submit"))]


@solves("number-checkboxes")
def number_checkboxes(goal: str) -> Script:
    (digit,) = said(
        r'Draw the number "(\d)" in the checkboxes using the example on the right and press Submit when finished\.', goal
    )
    page = yield look()
    drawn = DIGITS[digit].replace(" ", "")
    boxes = [box for box, mark in zip(page.all("checkbox"), drawn, strict=True) if mark == "#"]
    yield [*(check(box) for box in boxes), click(page.the("button", label="Submit"))]


@solves("click-option")
def click_option(goal: str) -> Script:
    (name,) = said(r"Select (.+) and click Submit\.", goal)
    page = yield look()
    yield [check(page.the("radio", label=name)), click(page.the("button", label="Submit"))]


@solves("choose-list")
def choose_list(goal: str) -> Script:
    (name,) = said(r"Select (.+) from the list and click Submit\.", goal)
    page = yield look()
    choice = page.the("combobox")
    yield [act(choice, "select", value=option(choice, name)), click(page.the("button", label="Submit"))]


@solves("click-scroll-list")
def click_scroll_list(goal: str) -> Script:
    (names,) = said(r"Select (.+) from the scroll list and click Submit\.", goal)
    page = yield look()
    choice = page.the("combobox", "listbox")
    chosen = [option(choice, name) for name in names.split(", ")]
    yield [act(choice, "select", values=chosen), click(page.the("button", label="Submit"))]


def option(choice: Control, name: str) -> str:
    """The value of the option that is called so."""
    return next(value for value, label in choice.options if label == name)


@solves("form-sequence-2")
def form_sequence_2(goal: str) -> Script:
    radio, number, field = said(r'Check the (\d)\w+ radio button and enter the number "(-?\d+)" into the (\d)\w+ textbox\.', goal)
    page = yield look()
    yield [
        check(page.all("radio")[int(radio) - 1]),
        write(page.all("textbox")[int(field) - 1], number),
        click(page.the("button", label="Submit")),
    ]


@solves("form-sequence-3")
def form_sequence_3(goal: str) -> Script:
    """The drop-down is made of plain elements."""
    height, button = said(r'Choose (.+) from the dropdown, then click the button labeled "(.+)"\.', goal)
    page = yield look()
    page = yield [click(page.controls[0]), look()]
    page = yield [click(next(one for one in page.controls if one.label == height)), look()]
    yield click(page.the("button", label=button))


@solves("use-autocomplete", "use-autocomplete-nodelay")
def use_autocomplete(goal: str) -> Script:
    start, end = said(r'Enter an item that starts with "(.+?)"(?: and ends with "(.+)")?\.', goal)
    page = yield look()
    page = yield [write(page.the("textbox", "combobox"), start), look()]
    suggestions = [
        one for one in page.controls if one.label.startswith(start) and one.label.endswith(end) and one.role != "textbox"
    ]
    page = yield [click(suggestions[0]), look()]
    yield click(page.the("button", label="Submit"))
