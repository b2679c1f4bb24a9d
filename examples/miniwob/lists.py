"""Tasks in lists, pages of results, a tree, a menu, posts, and with something to wait for."""

import math
import re

from ._reading import Control, Page
from ._script import Script, click, look, said, solves, write

KINDS = {
    "dairy": {"Spinach and goat cheese dip", "Cheese wheel", "Chocolate cake", "Ice cream sundae"},
    "gluten-free": {"Caesar Salad", "Spinach and goat cheese dip", "Tofu and Vegetable stone pot", "Cheese wheel"},
    "meat": {"Chicken wings", "Spicy Thai Peanut Chicken", "Grilled Pork Tenderloin", "Spaghetti and Meatballs"},
    "peanuts": {"Spicy Thai Peanut Chicken", "Ice cream sundae"},
    "vegan": {"Caesar Salad", "Garlic bread", "Tofu and Vegetable stone pot", "Coconut mango tart"},
}
"""Dishes, and what everybody knows of them."""

IN_MENU = ("Share via DM", "Copy link to Tweet", "Embed Tweet", "Mute", "Block", "Report")


@solves("order-food")
def order_food(goal: str) -> Script:
    """So many of a kind, one after the other and then again from the first; or those that are named."""
    number, kind, names = said(r"Order (?:(\d) items that are (.+)|one of each item: (.+))", goal)
    page = yield look()
    dishes = sorted(KINDS[kind]) if kind else names.split(", ")
    wanted = [dishes[at % len(dishes)].strip() for at in range(int(number))] if kind else [dish.strip() for dish in dishes]
    yield [*(click(page.first(label="+", row=dish)) for dish in wanted), click(page.the("button", label="Order!"))]


@solves("phone-book")
def phone_book(goal: str) -> Script:
    """Leaf until the name comes."""
    name, wish = said(r"Find (.+) in the contact book and click on their (phone|email|address)(?: number)?\.", goal)
    page = yield look()
    while name not in page.text:
        page = yield [click(page.the("link", label=">")), look()]
    value = page.find(rf"^{wish.capitalize()}: (.+)")[1]
    yield click(page.the("clickable", label=value))


@solves("search-engine")
def search_engine(goal: str) -> Script:
    """Three results on each page, whose titles are its first links."""
    words, place = said(
        r'Use the textbox to enter "(.+)" and press "Search", then find and click the (\d)\w+ search result\.', goal
    )
    at = int(place) - 1
    page = yield look()
    page = yield [write(page.the("textbox"), words), click(page.the("button", label="Search")), look()]
    if at >= 3:
        page = yield [click(page.the("link", label=str(at // 3 + 1))), look()]
    yield click(page.all("link")[at % 3])


@solves("navigate-tree")
def navigate_tree(goal: str) -> Script:
    """Open one folder after the other until the name comes."""
    (name,) = said(r'Navigate through the file tree\. Find and click on the folder or file named "(.+)"\.', goal)
    page = yield look()
    opened: set[str] = set()
    while not (found := page.all(label=name)):
        folder = next(one for one in page.controls if "treeview" in one.label and one.row not in opened)
        opened.add(folder.row)
        page = yield [click(folder), look()]
    yield click(found[0])


@solves("social-media")
def social_media(goal: str) -> Script:
    """What is no icon is in the menu behind ``more``."""
    user, wish = said(r'For the user (@\S+), click on the "(.+)" button\.', goal)
    page = yield look(find=user)
    if wish in IN_MENU:
        page = yield [click(by(page, user, "more")[0]), look()]
        yield click(next(one for one in page.controls if one.label in (wish, f"{wish} {user}")))
    else:
        yield click(by(page, user, wish.lower())[0])


def by(page: Page, user: str, button: str) -> list[Control]:
    """The buttons of this name below the posts of this user, on a page that shows little else: a row is told where it has to be."""
    return [one for one in page.all("clickable", label=button) if not one.row or f"{user} " in one.row]


@solves("social-media-all", "social-media-some")
def social_media_some(goal: str) -> Script:
    wish, number, user = said(r'Click the "(.+)" button on (all posts|\d+ posts?) by (@\S+) and then click Submit\.', goal)
    page = yield look(find=user)
    buttons = by(page, user, wish.lower())
    if number != "all posts":
        buttons = buttons[: int(number.split()[0])]
    page = yield [*(click(button) for button in buttons), look(find="Submit")]
    yield click(page.the("button", label="Submit"))


@solves("stock-market")
def stock_market(goal: str) -> Script:
    """Look until the price is low enough, in two ways by turns, since the same look again and again counts as going in circles."""
    _, limit = said(r"Buy (\S+) stock when the price is less than \$([\d.]+)\.", goal)
    page = yield look()
    while price(page) >= float(limit):
        page = yield [look(find="$"), look()]
    yield click(page.the("button", label="Buy"))


def price(page: Page) -> float:
    prices = [re.fullmatch(r"(?:Stock price: )?\$([\d.]+)", line) for line in page.text]
    return next((float(match[1]) for match in prices if match), math.inf)
