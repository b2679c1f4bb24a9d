"""Tasks in a mailbox: mark, delete, answer and forward."""

import re

from ._reading import Control, Page
from ._script import Script, click, look, said, solves, write

FORWARDS = r"forward|send|sent|give|wants|waiting|want"


@solves(
    "email-inbox",
    "email-inbox-delete",
    "email-inbox-forward",
    "email-inbox-important",
    "email-inbox-noscroll",
    "email-inbox-reply",
    "email-inbox-star-reply",
)
def email_inbox(goal: str) -> Script:
    (sender, wish) = said(r"Find the email by (\S+) and (.+)\.", goal)
    page = yield look()
    if wish.startswith("click the star"):
        yield click(icon(page, sender, "star"))
    elif wish.startswith("click the trash"):
        yield click(icon(page, sender, "delete"))
    elif wish.startswith("reply"):
        yield from reply(page, sender, wish.partition('"')[2].rstrip('"'))
    else:
        yield from forward(page, sender, wish.rpartition(" ")[2])


@solves("email-inbox-forward-nl", "email-inbox-forward-nl-turk", "email-inbox-nl-turk")
def email_in_plain_words(goal: str) -> Script:
    """The sentence may be any; it names one or two of those who have written."""
    page = yield look()
    names = [one.label.split()[0] for one in page.controls if one.look not in ("img:search.png", "img:delete.png", "img:star.png")]
    named = sorted({name for name in names if re.search(rf"\b{name}\b", goal)}, key=goal.index)
    if re.search(r"\b(?:delete|trash|remove|discard|erase|rid)\b", goal, re.IGNORECASE):
        yield click(icon(page, named[0], "delete"))
    elif re.search(r"\b(?:star|important|mark|flag|prioritize)\b", goal, re.IGNORECASE):
        yield click(icon(page, named[0], "star"))
    elif len(named) > 1:
        yield from forward(page, *sender_first(goal, *named))
    else:
        yield from reply(page, named[0], goal.partition('"')[2].partition('"')[0])


def sender_first(goal: str, one: str, other: str) -> tuple[str, str]:
    """Who has written, and who is to have it: the first is named after ``by`` or ``from``, or the second after ``to``."""
    for name, rest in ((one, other), (other, one)):
        if re.search(rf"(?:by|from|from:) {name}\b|\b{name}'s\b|\b{name} (?:sent|wants (?:his|her))", goal):
            return name, rest
    return (one, other) if re.search(rf"\bto {other}\b", goal) else (other, one)


def icon(page: Page, sender: str, name: str) -> Control:
    """The small picture in the line of this sender."""
    return next(one for one in page.all(label=name) if one.row.startswith(f"{sender} "))


def opened(page: Page, sender: str) -> Control:
    """The mail by this sender; the oldest of several, since the sentence does not say which."""
    return [one for one in page.controls if one.label.startswith(f"{sender} ")][-1]


def reply(page: Page, sender: str, text: str) -> Script:
    page = yield [click(opened(page, sender)), look(find="Reply")]
    page = yield [click(page.the("text", label="Reply")), look()]
    page = yield [write(page.the("textbox"), text), look()]
    yield click(page.first(label="send"))


def forward(page: Page, sender: str, to: str) -> Script:
    page = yield [click(opened(page, sender)), look(find="Forward")]
    page = yield [click(page.the("text", label="Forward")), look()]
    page = yield [write(page.first("textbox"), to), look()]
    yield click(page.first(label="send"))
