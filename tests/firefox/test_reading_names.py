"""What controls are called: page reference 2.5, and "Accessible Name and Description Computation 1.2" of the W3C, step by step."""

import json
from pathlib import Path

import pytest

from foxloop_trio.testing._page_reader import PageReader

pytestmark = pytest.mark.firefox

CASES = json.loads((Path(__file__).parent / "pages" / "names.json").read_text())
"""One case for each thing that a step of the standard says: ``{"step", "html", "name"}``. 2A: what is hidden has no name, unless a
reference points at it. 2B: references. 2C: a control in a name stands for its value. 2D: aria-label. 2E: what HTML and SVG have for
it. 2F: content, for roles that are named by it. 2I: the tooltip, then the placeholder; symbols wait for something better."""


async def test_a_control_is_called_what_the_standard_says(reader: PageReader) -> None:
    """Each step of the algorithm; the first control of each fragment that is not one of its parts."""
    found = await reader.fragments([case["html"] for case in CASES])
    told = [[one["label"].strip() for one in controls] for controls in found]
    assert [(case, labels) for case, labels in zip(CASES, told, strict=True) if case["name"] not in labels] == []


def test_every_step_has_cases() -> None:
    """None was forgotten."""
    assert {"2A", "2B", "2C", "2D", "2E", "2F", "2I"} <= {case["step"] for case in CASES}


DESCRIBED = [
    ("<i id=d1>Not</i><i id=d2>empty</i><input aria-label=n aria-describedby='d1 d2'>", "Not empty"),
    ("<i id=d3 hidden>Hidden help</i><input aria-label=n aria-describedby=d3>", "Hidden help"),
    ("<input aria-label=n aria-description='In words'>", "In words"),
    ("<button title='More of it'>n</button>", "More of it"),
    ("<button title=Same>Same</button>", None),
    ("<button title=Named>&times;</button>", None),
    ("<input aria-label=n placeholder=Hint>", None),  # it is told as the placeholder
]


async def test_a_description_is_what_the_standard_says(reader: PageReader) -> None:
    """aria-describedby, aria-description, a title that is not the name."""
    found = await reader.fragments([html for html, _ in DESCRIBED])
    assert [controls[0].get("description") for controls in found] == [description for _, description in DESCRIBED]


NEIGHBOURS = [
    ("<p><span>Genre:</span><input></p><p><span>Year:</span><input></p>", ["Genre:", "Year:"]),
    ("<div><div>Director Name</div><input></div>", ["Director Name"]),
    ("<div><div>Movie Genre</div><div><input></div></div>", ["Movie Genre"]),
    ("<table><tr><th>Genre</th><td><input></td></tr><tr><td>Year</td><td><input></td></tr></table>", ["Genre", "Year"]),
    ("<table><tr><th>Name</th><th>Age</th></tr><tr><td><input></td><td><input></td></tr></table>", ["Name", "Age"]),
    ("<div>Enter password<input type=password></div>", ["Enter password"]),
    ("<p><input type=checkbox> I agree</p><p><input type=radio name=r> Yes <input type=radio name=r> No</p>",
     ["I agree", "Yes", "No"]),
    ("<input name=user_name[first]>", ["user name first"]),
    ("<input id=zipCode>", ["zip Code"]),
    ("<p>" + "This is a paragraph and no label of anything at all. " * 3 + "<input name=q></p>", ["q"]),
    ("<div><label>Both</label> <input> <input name=second></div>", ["Both", "second"]),
    ("<div role=combobox tabindex=0>Choose one</div>", ["Choose one"]),
    ("<a href=/x><img src=/i/star-on.png width=9 height=9></a>", ["star on"]),
    ("<button><i class='fa fa-trash'></i></button>", ["trash"]),
    ("<span hidden>Hidden</span><input name=shown>", ["shown"]),
]  # fmt: skip


async def test_a_control_without_a_name_is_called_by_what_stands_beside_it(reader: PageReader) -> None:
    """Corpora 2C.5: no label is tied to it, and a person reads one all the same."""
    found = await reader.fragments([html for html, _ in NEIGHBOURS])
    wrong = [
        (html, expected, labels)
        for (html, expected), controls in zip(NEIGHBOURS, found, strict=True)
        if (labels := [one["label"] for one in controls]) != expected
    ]
    assert wrong == []


async def test_labels_that_go_round_in_a_ring_end(reader: PageReader) -> None:
    """Two labels, each of them about a field in the other one."""
    html = (
        "<label for=r2>One <input id=r1 value=x aria-labelledby=l2></label><label id=l2 for=r1>Two <input id=r2 value=y></label>"
        "<button id=self aria-labelledby=self aria-owns=self>Self</button>"
    )
    assert [one["label"] for one in await reader.controls(html)] == ["Two y", "One", "Self"]
