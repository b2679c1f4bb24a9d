"""Tasks of dragging, drawing, clicking at a point, hovering, pressing keys and marking text."""

import math
import re

from ._reading import Control, Page
from ._script import Call, Script, call, check, click, click_at, drag, hover, look, press, said, select_text, solves

WAYS = {"up": (0, -25), "down": (0, 25), "left": (-25, 0), "right": (25, 0)}
PLACES = {
    "the top left": 0, "the top center": 1, "the top right": 2, "the center left": 3, "the center": 4, "the center right": 5,
    "the bottom left": 6, "the bottom center": 7, "the bottom right": 8,
}  # fmt: skip
KINDS = {"rectangles": ("rectangle", "square"), "circles": ("circle",), "triangles": ("triangle",)}
CIRCLE = 24
"""Corners of the circle that is drawn."""
RADIUS = 22
BEYOND = 6
"""Pixels."""
MOST_KEYS = 30
"""What one call presses."""


def to(control: Control, left: float, top: float) -> Call:
    """Drag so that the left top corner comes to that point."""
    return drag(control, by_x=left - control.box.left, by_y=top - control.box.top)


def to_place_of(item: Control, other: Control) -> Call:
    """Drag an item of a list over another, a little beyond its middle: first up or down, then to the side."""
    right, down = other.box.left - item.box.left, other.box.top - item.box.top
    right, down = (part + math.copysign(BEYOND, part) if part else 0.0 for part in (right, down))
    x, y = 50 + right * 100 / item.box.width, 50 + down * 100 / item.box.height
    return drag(item, path=[[x, y]] if not right or not down else [[50, y], [x, y]])


def in_percent(page: Page, x: float, y: float) -> tuple[float, float]:
    """A point of the viewport as one of the drawing's box."""
    box = page.the("drawing").box
    return (x - box.left) * 100 / box.width, (y - box.top) * 100 / box.height


def submit(page: Page) -> Call:
    return click(page.the("button", label="Submit"))


# Dragging


@solves("drag-box")
def drag_box(goal: str) -> Script:
    page = yield look()
    small, large = page.the("draggable", label="s"), page.the("draggable", label="L")
    yield [to(small, large.box.left + 15, large.box.top + 15), submit(page)]


@solves("drag-circle", "drag-single-shape")
def drag_circle(goal: str) -> Script:
    (way,) = said(r"Drag the (?:circle|item) (up|down|left|right) then press Submit\.", goal)
    page = yield look()
    right, down = WAYS[way]
    yield [drag(page.the("shape"), by_x=right, by_y=down), submit(page)]


@solves("drag-shapes", "drag-shapes-2")
def drag_shapes(goal: str) -> Script:
    """The large rectangles are the boxes, from the left to the right; every other shape goes into one of them or stays."""
    wanted, _ = said(r"Drag all (\w+)(?: shapes)? into the (?:black|left) box(, and everything else into the right box)?\.", goal)
    page = yield look()
    shapes = page.all("shape")
    boxes = sorted((shape for shape in shapes if shape.box.width > 40), key=lambda shape: shape.box.left)
    moves: list[Call] = []
    for shape in shapes:
        colour, kind = shape.look.split()[-2:]
        chosen = kind in KINDS[wanted] if wanted in KINDS else colour == wanted.replace("aqua", "cyan")
        if shape not in boxes and (chosen or len(boxes) > 1):
            moves.append(drag(shape, onto=boxes[0 if chosen else 1].id, x=25 + 25 * (len(moves) % 3), y=50))
    yield [*moves, submit(page)]


@solves("drag-items")
def drag_items(goal: str) -> Script:
    name, where = said(r"Drag (\S+) (.+)\.", goal)
    page = yield look()
    items = page.all("draggable")
    item = page.the("draggable", label=name)
    at = items.index(item)
    places = {"to the top": 0, "to the bottom": len(items) - 1, "up by one position": at - 1, "down by one position": at + 1}
    number = re.match(r"to the (\d)", where)
    yield to_place_of(item, items[int(number[1]) - 1 if number else places[where]])


@solves("drag-items-grid")
def drag_items_grid(goal: str) -> Script:
    name, where = said(r"Drag (\S+) (?:to )?(.+)\.", goal)
    page = yield look()
    items = page.all("draggable")
    item = page.the("draggable", label=name)
    steps = {"up by one": -3, "down by one": 3, "left by one": -1, "right by one": 1}
    target = items[items.index(item) + steps[where] if where in steps else PLACES[where]]
    yield to_place_of(item, target)


@solves("drag-sort-numbers")
def drag_sort_numbers(goal: str) -> Script:
    """Bring the number that belongs to a place there, from the top downwards."""
    page = yield look()
    for place in range(len(page.all("draggable"))):
        items = page.all("draggable")
        lowest = min(items[place:], key=lambda item: int(item.label))
        if lowest != items[place]:
            page = yield [to_place_of(lowest, items[place]), look()]
    yield submit(page)


@solves("resize-textarea")
def resize_textarea(goal: str) -> Script:
    """By the handle in the corner."""
    side, way = said(
        r"Resize the textarea so that the (height|width) is (larger|smaller) than its initial size then press Submit\.", goal
    )
    page = yield look()
    handle = next(one for one in page.all("draggable") if one.look.startswith("img:"))
    far = 20 if way == "larger" else -20
    yield [drag(handle, by_x=far if side == "width" else 0, by_y=far if side == "height" else 0), submit(page)]


@solves("draw-line")
def draw_line(goal: str) -> Script:
    (way,) = said(r"Draw a (vertical|horizontal) line that runs through the dot, then press submit\.", goal)
    page = yield look()
    x, y = in_percent(page, *page.the("shape").box.middle)
    start, end = ((x, 10), (x, 90)) if way == "vertical" else ((10, y), (90, y))
    yield [drag(page.the("drawing"), from_x=start[0], from_y=start[1], path=[end]), submit(page)]


@solves("draw-circle")
def draw_circle(goal: str) -> Script:
    page = yield look()
    middle = page.the("shape").box.middle
    turns = [2 * math.pi * step / CIRCLE for step in range(CIRCLE + 1)]
    start, *path = [in_percent(page, middle[0] + RADIUS * math.cos(turn), middle[1] + RADIUS * math.sin(turn)) for turn in turns]
    yield [drag(page.the("drawing"), from_x=start[0], from_y=start[1], path=path), submit(page)]


# Clicking at a point


def mark(page: Page, x: float, y: float) -> list[Call]:
    """Click at this point of the viewport, in the drawing, and send."""
    return [click_at(page.the("drawing"), *in_percent(page, x, y)), submit(page)]


@solves("circle-center")
def circle_center(goal: str) -> Script:
    page = yield look()
    yield mark(page, *page.the("shape").box.middle)


@solves("find-midpoint")
def find_midpoint(goal: str) -> Script:
    page = yield look()
    (x1, y1), (x2, y2) = (point.box.middle for point in page.all("shape"))
    yield mark(page, (x1 + x2) / 2, (y1 + y2) / 2)


@solves("right-angle")
def right_angle(goal: str) -> Script:
    """A right angle at the blue point, to the side where the drawing has room."""
    page = yield look()
    x, y = page.the("shape", label="blue circle").box.middle
    x1, y1 = page.the("shape", label="black circle").box.middle
    length = math.hypot(x1 - x, y1 - y)
    right, down = -(y1 - y) * 30 / length, (x1 - x) * 30 / length
    points = [(x + right, y + down), (x - right, y - down)]
    yield mark(page, *next(point for point in points if all(5 < part < 95 for part in in_percent(page, *point))))


@solves("bisect-angle")
def bisect_angle(goal: str) -> Script:
    """From the blue point on in the middle between the ways to the black ones, far out: a pixel matters less there."""
    page = yield look()
    x, y = page.the("shape", label="blue circle").box.middle
    ways = [(px - x, py - y) for px, py in (point.box.middle for point in page.all("shape", label="black circle"))]
    right, down = (sum(way[side] / math.hypot(*way) for way in ways) for side in (0, 1))
    points = [(x + right * far / math.hypot(right, down), y + down * far / math.hypot(right, down)) for far in range(10, 150, 2)]
    yield mark(page, *[point for point in points if all(4 < part < 80 for part in in_percent(page, *point))][-1])


@solves("ascending-numbers")
def ascending_numbers(goal: str) -> Script:
    """After the first click the numbers are covered by black squares, each where its number was."""
    page = yield look()
    numbers = sorted((shape for shape in page.all("shape") if shape.label.isdigit()), key=lambda shape: int(shape.label))
    page = yield [click(numbers[0]), look()]
    for number in numbers[1:]:
        page = yield [click(nearest(number, page.all("shape", label="black square"))), look()]


def nearest(shape: Control, others: list[Control]) -> Control:
    return min(others, key=lambda other: math.dist(shape.box.middle, other.box.middle))


@solves("find-greatest")
def find_greatest(goal: str) -> Script:
    """A card shows its number when it is clicked."""
    page = yield look()
    cards = page.all("clickable")
    numbers = []
    for card in cards:
        page = yield [click(card), look()]
        numbers.append(int(page.find(r"^\d+$")[0]))
    greatest = numbers.index(max(numbers))
    yield [*([] if greatest == len(cards) - 1 else [click(cards[greatest])]), submit(page)]


# Hovering


@solves("click-menu")
def click_menu(goal: str) -> Script:
    (path,) = said(r"Select (.+)", goal)
    page = yield look()
    *folders, item = path.split(">")
    for name, inner in zip(folders, [*folders[1:], item], strict=True):
        page = yield [hover(page.all("menuitem", label=name)[-1]), call("wait_for", control=inner, seconds=2)]
    yield click(page.all("menuitem", label=item)[-1])


# Keys


def slide(handle: Control, now: int, wanted: int) -> list[Call]:
    """Step by step, with the arrow keys; in calls of different lengths, since the same call thrice counts as going in circles."""
    key = "ArrowRight" if wanted > now else "ArrowLeft"
    left = abs(wanted - now)
    calls: list[Call] = []
    while left:
        step = min(left, MOST_KEYS - len(calls) % 2)
        calls.append(press(handle, " ".join([key] * step)))
        left -= step
    return calls


def shown_numbers(page: Page) -> list[int]:
    return [int(line) for line in page.text if re.fullmatch(r"-?\d+", line)]


@solves("use-slider")
def use_slider(goal: str) -> Script:
    (wanted,) = said(r"Select (-?\d+) with the slider and hit Submit\.", goal)
    page = yield look()
    yield [*slide(page.first("clickable", "slider"), shown_numbers(page)[0], int(wanted)), submit(page)]


@solves("use-slider-2")
def use_slider_2(goal: str) -> Script:
    wanted = said(r"Set the sliders to the combination \[(\d+),(\d+),(\d+)\] and submit\.", goal)
    page = yield look()
    handles = zip(page.all("clickable", "slider"), shown_numbers(page), wanted, strict=True)
    yield [*(one for handle, now, value in handles for one in slide(handle, now, int(value))), submit(page)]


@solves("form-sequence")
def form_sequence(goal: str) -> Script:
    wanted, box = said(r"Select (-?\d+) with the slider, click the (\d)\w+ checkbox, then hit Submit\.", goal)
    page = yield look()
    moves = slide(page.first("clickable", "slider"), shown_numbers(page)[0], int(wanted))
    yield [*moves, check(page.all("checkbox")[int(box) - 1]), submit(page)]


# Marking


@solves("highlight-text", "highlight-text-2")
def highlight_text(goal: str) -> Script:
    """A paragraph is no control; it gets an id when it is looked for."""
    (number,) = said(r"Highlight the text in the (?:(\d)\w+ paragraph|paragraph below) and click submit\.", goal)
    page = yield look()
    paragraph = [line for line in page.text if line != goal][int(number or 1) - 1]
    page = yield look(find=paragraph)
    page = yield [select_text(page.first("text")), look()]
    yield submit(page)


@solves("text-editor")
def text_editor(goal: str) -> Script:
    """Mark, then choose: a style has a button, a colour is the first of its name in the picker's list."""
    what, style, colour = said(
        r"Using the text editor, (?:give the text|give|make) (.+?) the (?:style (\w+)|color (\w+))(?: and press Submit)?\.", goal
    )
    page = yield look()
    send = submit(page)
    marked = select_text(page.the("textbox"), None if what == "everything" else what)
    if style:
        yield [marked, click(page.the("button", label=style.replace("underlined", "underline")))]
    else:
        page = yield [marked, click(page.the("clickable", label="picker label")), look()]
        yield click(next(one for one in page.all("clickable") if one.look.endswith(f"{colour} box")))
    yield send
