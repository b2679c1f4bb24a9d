"""read_table in real Firefox: tables and grids as they are drawn, and nothing that is not."""

import pytest

from foxloop_trio.browser import BrowserSession, Tab
from foxloop_trio.testing._act_probe import PageProbe
from foxloop_trio.testing._tool_bench import ToolBench

pytestmark = pytest.mark.firefox


async def test_a_table_is_read_as_a_person_sees_it(firefox: BrowserSession, tab: Tab, page: PageProbe) -> None:
    """Spans are filled in; hidden rows, cells' hidden words, empty rows and layout tables are left out."""
    bench = await ToolBench.over(firefox, tab, domains=("127.0.0.1",))
    await page.open(
        "<table role=presentation><tr><td>Layout</td></tr></table>"
        "<table><caption>Orders</caption><thead><tr><th>Name<th>Sum<th>Sum</thead>"
        "<tr><td rowspan=2>Ada<td>7<td>8</tr><tr><td colspan=2>nine <span style='display:none'>SECRET</span></tr>"
        "<tr style='display:none'><td>GHOST<td>1<td>2</tr><tr><td><td><td></tr>"
        "<tr><td>Eve<td><table><tr><td>inner</td></tr></table><td style='color:white;background:white'>WHITE</tr></table>"
        "<table style='display:none'><tr><td>Unseen</td></tr></table>"
    )
    output = await bench.call("read_table")
    assert output.summary == "Table 1 of 2 has 3 rows and 3 columns."
    assert (output.data or {})["rows"] == [
        {"Name": "Ada", "Sum": "7", "Sum (2)": "8"},
        {"Name": "Ada", "Sum": "nine", "Sum (2)": "nine"},
        {"Name": "Eve", "Sum": "inner", "Sum (2)": ""},
    ]
    assert (output.untrusted or "").startswith('Table: "Orders"')
    output = await bench.call("read_table", find="EVE")
    assert (output.data or {})["total"] == 1


async def test_a_grid_of_any_elements_is_a_table(page: PageProbe) -> None:
    """By its roles, in a shadow tree too; what it says of rows that it does not draw is passed on."""
    await page.open(
        "<div role=grid aria-label=People aria-rowcount=500><div role=row><span role=columnheader>Who</span>"
        "<span role=columnheader></span></div><div role=rowgroup><div role=row><span role=rowheader>Ada</span>"
        "<span role=gridcell>1815</span></div></div></div><div id=host></div><script>"
        "host.attachShadow({mode: 'closed'}).innerHTML = '<table><tr><td>deep</td></tr></table>'</script>"
    )
    table = await page.tab.table()
    assert (table.caption, table.header, table.rows, table.declared) == ("People", ("Who", "column 2"), (("Ada", "1815"),), 500)
    second = await page.tab.table(2)
    assert (second.header, second.rows, second.records) == ((), (("deep",),), [{"column 1": "deep"}])
    assert (await page.tab.table(3)).tables == 2


async def test_a_large_table_is_read_some_rows_at_a_time(page: PageProbe) -> None:
    """What was passed over, what is told and what is left add up."""
    rows = "".join(f"<tr><td>{number}<td>row {number}</tr>" for number in range(3000))
    await page.open(f"<table>{rows}</table>")
    table = await page.tab.table(offset=1000, rows=200)
    assert (table.total, table.left, len(table.rows), table.rows[0]) == (3000, 1800, 200, ("1000", "row 1000"))
