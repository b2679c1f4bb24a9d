"""What holds for any page and any goal: a run does what its preview said, and there are things that it never does."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foxloop_trio.browser import Snapshot
from foxloop_trio.browser._risk import risk_of
from foxloop_trio.browser.tasks import preview
from foxloop_trio.browser.tasks._reasons import TASK_BLOCKS

LABELS = ("Name", "E-mail", "Password", "City", "Departure", "Newsletter", "Accept the terms", "Delete account", "Buy now", "Plan")
KINDS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("textbox", {}),
    ("textbox", {"type": "email"}),
    ("textbox", {"type": "password"}),
    ("textbox", {"type": "date"}),
    ("textbox", {"date_format": "DD/MM/YYYY"}),
    ("textbox", {"picker": True, "read_only": True}),
    ("textbox", {"autocomplete": True}),
    ("textbox", {"value": "Ada"}),
    ("spinbutton", {"type": "number"}),
    ("combobox", {"options": ["*Free", "Pro", "Ada"]}),
    ("checkbox", {}),
    ("checkbox", {"checked": True}),
    ("radio", {}),
    ("link", {"href": "/x"}),
    ("button", {}),
    ("button", {"submit": True}),
    ("option", {"dialog": True}),
)
PARTS = (
    "name: Ada", "e-mail ada@x.org", "password: hunter2", "city: London", "departing 2026-10-09", "tomorrow", "no newsletter",
    "tick the newsletter", "accept the terms", "plan: Pro", "plan: Ada", "choose the account", "choose now", "newsletter: yes",
    "then submit it", "don't delete the account",
)  # fmt: skip

controls = st.lists(
    st.tuples(
        st.sampled_from(KINDS), st.sampled_from(LABELS), st.sampled_from([None, 90, 91]), st.booleans(), st.sampled_from(["", "A"])
    ),
    max_size=8,
)
goals = st.lists(st.sampled_from(PARTS), max_size=5).map(", ".join)


def page_of(pages: Any, drawn: list[Any]) -> Snapshot:
    made = []
    for (role, more), label, form, disabled, section in drawn:
        given_form = (form or 90) if more.get("submit") else form
        made.append(pages.control(role, label, **more, section=section, disabled=disabled) | {"form": given_form})
    page: Snapshot = pages.look(*made)
    return page


@given(drawn=controls, goal=goals, unsent=st.booleans())
@settings(max_examples=100, deadline=None)
def test_a_run_keeps_within_its_bounds(page_maker: Any, drawn: list[Any], goal: str, unsent: bool) -> None:
    """No risky label, no secret, nothing disabled, no control for two parts, no form twice, and an end with a known reason."""
    pages = page_maker
    page = page_of(pages, drawn)
    progress = pages.start(f"{goal}, do not submit" if unsent else goal)
    served: dict[str, int] = {}
    sends: list[Any] = []
    for _ in range(60):
        act = pages.decide(progress, page)
        if not hasattr(act, "op"):
            break
        control = act.control
        assert risk_of(control.label) is None
        assert act.send or not control.secret
        assert not control.disabled
        if act.send:
            assert not unsent
            sends += act.forms
        elif not act.turn and act.part is not None:
            assert not control.submit
            assert served.setdefault(control.id, act.part) == act.part
        pages.did(progress, page, act, submitted=act.send)
    else:
        raise AssertionError("the run does not end")
    assert len(sends) == len(set(sends))
    assert getattr(act, "reason", None) in (None, *TASK_BLOCKS)
    assert all(part.status != "pending" for part in progress.parts) or getattr(act, "reason", None) is not None


@given(drawn=controls, goal=goals)
@settings(max_examples=100, deadline=None)
def test_a_run_on_the_page_as_it_was_does_what_the_preview_said(page_maker: Any, drawn: list[Any], goal: str) -> None:
    """Field by field, with the same button; pickers and lists go on from there."""
    pages = page_maker
    page = page_of(pages, drawn)
    asking = preview(page, goal, today=pages.today)
    with pytest.raises(StopIteration) as answered:
        asking.send(None)
    planned = answered.value.value
    progress = pages.start(goal, pinned=planned)
    done: dict[int, str] = {}
    send = None
    for _ in range(60):
        act = pages.decide(progress, page)
        if not hasattr(act, "op"):
            break
        if act.send:
            send = send or act.control.id
        elif act.part is not None:
            done.setdefault(act.part, act.control.id)
        pages.did(progress, page, act, submitted=act.send)
        progress.awaiting = None
        if act.part is not None:
            progress.parts[act.part].status = "done"
    assert [done[part] for part in sorted(done)] == [field.id for field in planned.fields if field.op != "keep"]
    if send is not None:
        assert planned.send is not None
        assert (send, planned.blocked) == (planned.send.id, None)
