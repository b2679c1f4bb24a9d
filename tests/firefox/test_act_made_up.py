"""Acting on what scripts make up: icons whose picture is exchanged, and fields that do not name their list of suggestions."""

import pytest

from foxloop_trio.testing._act_probe import PageProbe

pytestmark = pytest.mark.firefox

DOT = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAUwAOw=="


async def test_an_icon_whose_picture_goes_under_the_pointer_is_pressed(page: PageProbe) -> None:
    """Until its next picture has come it has no size, and what stands beside it moves up: nothing covers it."""
    await page.open(
        f"<img src='{DOT}' alt=i id=i role=button style='width:20px;height:20px' onmouseover='this.style.width = 0' "
        f"onclick=\"this.title = 'pressed'\"><img src='{DOT}' id=n style='width:20px;height:20px' onclick=\"this.title = 'wrong'\">"
    )
    assert (await page.act("i", "click"))["ok"]
    assert await page.js("[i.title, n.title]") == ["pressed", ""]


async def test_a_button_that_shrinks_under_the_pointer_is_not_pressed(page: PageProbe) -> None:
    """The twin without a picture: a person could not press it either."""
    await page.open(
        "<div role=button tabindex=0 aria-label=i id=i style='width:20px;height:20px' onmouseover='this.style.width = 0' "
        "onclick=\"this.title = 'pressed'\"></div>"
    )
    result = await page.act("i", "click")
    assert (result["ok"], result["reason"]) == (False, "covered")
    assert await page.js("i.title") == ""


async def test_the_list_of_a_field_that_does_not_name_it_is_waited_for(page: PageProbe) -> None:
    """By a field's class it is known that suggestions come; what appears since is its list. At most 600 ms."""
    html = "<input aria-label=f class=ui-autocomplete-input><ul><li>old</ul><ul id=list hidden><li>one</ul>"
    for script, least, most in (("setTimeout(() => list.hidden = false, 300)", 290, 599), ("0", 600, 1200)):
        await page.open(html)
        assert page.control("f")["autocomplete"] is True
        await page.js(f"void ({script})")
        settled = await page.call("page.settle", **page.place, list_for=page.control("f")["node"])
        assert least <= settled["waited_ms"] <= most
