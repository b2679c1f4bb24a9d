"""Operation `files` in real Firefox: files that the host gave, without a chooser."""

import base64
import secrets
from typing import Any

import pytest

from foxloop_trio.browser._uploads import describe_file, pieces
from foxloop_trio.channel import RemoteCallError
from foxloop_trio.errors import LocalProtocolError
from foxloop_trio.testing._act_probe import PageProbe

pytestmark = pytest.mark.firefox


TEXT = ("a.txt", b"abc", "text/plain")
PICTURE = ('ein "Bild" 🦊.png', bytes(range(256)), "image/png")


async def give(page: PageProbe, label: str, *files: tuple[str, bytes, str], **changes: Any) -> dict[str, Any]:
    """Stage the bytes, then act, as `Tab.act` does."""
    call = secrets.token_hex(16)
    for index, data in pieces([data for _, data, _ in files]):
        await page.call("page.stage", **page.place, call=call, index=index, data=data)
    value = {"files": [describe_file(name, data, type=kind) for name, data, kind in files]}
    return await page.act(label, "files", value, call=call, **changes)


SHOW = (
    "<script>window.got = []; const show = async (list) => { for (const file of list) got.push([file.name, file.type, file.size,"
    "[...new Uint8Array(await file.arrayBuffer())].slice(0, 3)]) }</script>"
)
BOTH = [["a.txt", "text/plain", 3, [97, 98, 99]], [PICTURE[0], "image/png", 256, [0, 1, 2]]]

PLACES = [
    "<input type=file multiple aria-label=f onchange='show(this.files)'>",
    "<input type=file multiple id=i hidden onchange='show(this.files)'><label for=i>f</label>",
    "<input type=file multiple id=i style='display:none' onchange='show(this.files)'><button onclick='i.click()'>f</button>",
    (
        "<button onclick=\"const i = document.createElement('input'); i.type = 'file'; i.multiple = true; i.onchange = () => "
        "show(i.files);"
        ' i.click()">f</button>'
    ),
    (
        "<button onclick=\"const i = document.createElement('input'); i.type = 'file'; i.multiple = true; i.onchange = () => "
        "show(i.files);"
        ' i.showPicker()">f</button>'
    ),
    (
        "<div tabindex=0 style='width:200px;height:100px' ondragover='event.preventDefault()' "
        "ondrop='event.preventDefault(); show(event.dataTransfer.files)'>f</div>"
    ),
]


@pytest.mark.parametrize("html", PLACES, ids=["field", "label", "hidden", "detached", "picker", "drop"])
async def test_files_arrive_with_name_type_and_bytes(page: PageProbe, html: str) -> None:
    """B89 and page reference 21.7: a field, shown or not, in the page or not, and a place to drop them; no chooser opens."""
    await page.open(SHOW + html)
    label = next(one["label"] for one in page.frame["controls"])
    result = await give(page, label, TEXT, PICTURE)
    assert result["ok"], result
    await page.until("got.length === 2")
    assert await page.js("got") == BOTH


async def test_a_page_may_take_the_files_and_empty_the_field(page: PageProbe) -> None:
    """Many do, to be ready for the next ones."""
    await page.open(f"{SHOW}<input type=file aria-label=f onchange=\"show(this.files); this.value = ''\">")
    assert (await give(page, "f", TEXT))["ok"]
    await page.until("got.length === 1")


REFUSED = [
    ("<input type=file aria-label=f>", (TEXT, PICTURE), "it takes one file only"),
    ("<input type=file aria-label=f accept='image/*,.pdf'>", (TEXT,), "it takes image/*,.pdf only"),
    ("<input type=file multiple aria-label=f>", (TEXT,) * 11, ""),
]


async def test_what_a_field_does_not_take_is_refused_untouched(page: PageProbe) -> None:
    """B89: accept and multiple; at most ten."""
    for html, files, detail in REFUSED:
        await page.open(html)
        value = {"files": [describe_file(name, data, type=kind) for name, data, kind in files]}
        if len(files) > 10:
            with pytest.raises(LocalProtocolError, match="largest number"):
                await page.act("f", "files", value)
        else:
            assert await page.refused("f", "files", value) == ("unsupported", detail)
    await page.open("<input type=file disabled aria-label=f>")
    assert (await page.refused("f", "files", {"files": [describe_file("a", b"")]}))[0] == "disabled"
    await page.open(f"{SHOW}<button onclick=\"const i = document.createElement('input'); i.type = 'file'; i.click()\">f</button>")
    result = await give(page, "f", TEXT, PICTURE)
    assert (result["ok"], result["started"], result["detail"]) == (False, True, "it takes one file only")


async def test_bytes_that_did_not_come_or_are_too_many_are_refused(page: PageProbe) -> None:
    """What was judged is what arrives, or nothing; 25 MiB in all, whatever is said of it."""
    await page.open("<input type=file aria-label=f id=f>")
    value = {"files": [describe_file("a.txt", b"abc", type="text/plain")]}
    result = await page.act("f", "files", value)
    assert (result["ok"], result["reason"]) == (False, "unsupported")
    call = secrets.token_hex(16)
    await page.call("page.stage", **page.place, call=call, index=0, data=base64.b64encode(b"abcd").decode())
    result = await page.again("f", "files", value, call=call)
    assert (result["ok"], result["reason"]) == (False, "unsupported")
    assert await page.js("f.files.length") == 0
    call, piece = secrets.token_hex(16), base64.b64encode(bytes(3 * 2**20)).decode()
    for _ in range(8):
        await page.call("page.stage", **page.place, call=call, index=0, data=piece)
    with pytest.raises(RemoteCallError):
        await page.call("page.stage", **page.place, call=call, index=0, data=piece)


async def test_a_large_file_goes_in_pieces(page: PageProbe) -> None:
    """Firefox facts 4: megabytes in tenths of seconds."""
    await page.open(f"{SHOW}<input type=file aria-label=f onchange='show(this.files)'>")
    data = bytes(range(256)) * (4 * 2**12)
    assert (await give(page, "f", ("big.bin", data, "application/octet-stream")))["ok"]
    await page.until("got.length === 1")
    assert await page.js("got[0][2]") == len(data)
