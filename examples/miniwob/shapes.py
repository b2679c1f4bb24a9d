"""Tasks of colours and of shapes in a drawing."""

import re
from functools import cache

from ._reading import Control
from ._script import Script, click, look, said, solves

HEX = {
    "red": "ff0000", "blue": "0000ff", "olive": "808000", "lime": "00ff00", "black": "000000", "white": "ffffff", "grey": "808080",
    "purple": "800080", "orange": "ffa500", "yellow": "ffff00", "cyan": "00ffff", "pink": "ffc0cb", "magenta": "ff00ff",
}  # fmt: skip
LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
LARGE = 14
"""Pixels of width of a large shape; a small one has 10. A large letter is higher than that, twice a small one."""


@solves("click-color")
def click_color(goal: str) -> Script:
    """The sentence on the page may show the colour as a box of its own, before those that can be chosen."""
    (name,) = said(r"Click on the (\w+) colored box\.", goal)
    page = yield look()
    yield click([box for box in page.all("image") if {name, f"#{HEX[name]}"} & set(box.look.split())][-1])


@solves("click-shades")
def click_shades(goal: str) -> Script:
    """The strongest of the three lights."""
    (name,) = said(r"Select all the shades of (red|green|blue) and press Submit\.", goal)
    page = yield look()
    boxes = [box for box in page.all("image") if strongest(box) == name]
    yield [*(click(box) for box in boxes), click(page.the("button", label="Submit"))]


def strongest(box: Control) -> str:
    number = re.search(r"#(\w\w)(\w\w)(\w\w)", box.look)
    if number is None:
        return box.look.split()[0]
    lights = [int(part, 16) for part in number.groups()]
    return ("red", "green", "blue")[lights.index(max(lights))]


def fits(shape: Control, wanted: str) -> bool:
    """Whether a shape is what the words say, such as ``large red circle``, ``small letter`` or ``blue item``."""
    *properties, what = wanted.split()
    colour, kind = shape.look.split()[-2:]
    text = shape.label if kind == "text" else ""
    large = shape.box.height > 20 if text else shape.box.width > LARGE
    for one in properties:
        if one != ("large" if large else "small") if one in ("large", "small") else one.replace("aqua", "cyan") != colour:
            return False
    if what in ("item", ""):
        return True
    if what in ("letter", "digit"):
        return bool(text) and text.isdigit() == (what == "digit")
    if what == "shape":
        return not text
    return text == what if len(what) == 1 else not text and kind.replace("square", "rectangle") == what


@solves("click-shape")
def click_shape(goal: str) -> Script:
    (wanted,) = said(r"Click on an? (.+)", goal)
    page = yield look()
    yield click(next(shape for shape in page.all("shape") if fits(shape, wanted)))


@solves("count-shape")
def count_shape(goal: str) -> Script:
    (wanted,) = said(r"How many (.+)s are there\?", goal)
    page = yield look()
    count = sum(fits(shape, wanted) for shape in page.all("shape"))
    yield click(page.the("button", label=str(count)))


@solves("identify-shape")
def identify_shape(goal: str) -> Script:
    page = yield look()
    shape = page.the("shape")
    kinds = ("Rectangle", "Circle", "Triangle", "Letter", "Number")
    yield click(page.the("button", label=next(kind for kind in kinds if fits(shape, kind.lower().replace("number", "digit")))))


@solves("grid-coordinate")
def grid_coordinate(goal: str) -> Script:
    """The point in the middle is (0,0)."""
    right, up = (int(number) for number in said(r"Click on the grid coordinate \((-?\d),(-?\d)\)\.", goal))
    page = yield look()
    points = page.all("shape")
    lefts, tops = sorted({point.box.left for point in points}), sorted({point.box.top for point in points})
    yield click(next(point for point in points if (point.box.left, point.box.top) == (lefts[2 + right], tops[2 - up])))


@solves("click-pie", "click-pie-nodelay")
def click_pie(goal: str) -> Script:
    """The plus sign opens the menu."""
    (name,) = said(r'Expand the pie menu below and click on the item labeled "(.)"\.', goal)
    page = yield look()
    page = yield [click(page.the("shape", label="+")), look()]
    yield click(page.the("shape", label=name))


@solves("tic-tac-toe")
def tic_tac_toe(goal: str) -> Script:
    """Take the place with the best prospect against somebody who sees a line that can be completed, and that half of the time.

    Free places have names with their numbers; what is neither free nor mine is the other's.
    """
    page = yield look()
    mine: frozenset[int] = frozenset()
    while not won(mine):
        free = {int(place.label[4:]): place for place in page.all("image") if place.label.startswith("ttt ")}
        other = frozenset(range(9)) - frozenset(free) - mine
        move = max(reversed(free), key=lambda at: prospect(mine | {at}, other, mine_next=False))
        mine |= {move}
        page = yield [click(free[move]), look()]


def won(marks: frozenset[int]) -> bool:
    return any(marks.issuperset(line) for line in LINES)


@cache
def prospect(mine: frozenset[int], other: frozenset[int], *, mine_next: bool) -> float:
    """How likely it is that I win from here."""
    free = frozenset(range(9)) - mine - other
    if won(mine) or won(other) or not free:
        return float(won(mine))
    if mine_next:
        return max(prospect(mine | {at}, other, mine_next=False) for at in free)
    best = [at for marks in (other, mine) for at in free if won(marks | {at})][:1] or list(free)
    careless, careful = (sum(prospect(mine, other | {at}, mine_next=True) for at in some) / len(some) for some in (free, best))
    return (careless + careful) / 2
