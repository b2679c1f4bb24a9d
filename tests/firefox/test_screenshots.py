"""Pictures of real pages: what is on them, at which size, with which ids; and that no secret is."""

import struct
import zlib
from collections.abc import AsyncIterator
from pathlib import Path

import attrs
import pytest

from foxloop_trio.browser import BrowserSession, Screenshot, Tab
from foxloop_trio.corpora import serve_pages

pytestmark = pytest.mark.firefox

Pixel = tuple[int, int, int]
MAX_BYTES = 2 * 2**20


@attrs.frozen
class Pixels:
    """A decoded PNG, as far as Firefox writes them: eight bits, not interlaced."""

    width: int
    height: int
    rows: list[bytes]
    step: int

    def at(self, x: int, y: int) -> Pixel:
        red, green, blue = self.rows[y][x * self.step : x * self.step + 3]
        return red, green, blue

    def colours(self, left: int, top: int, width: int, height: int) -> set[Pixel]:
        return {self.at(x, y) for y in range(top, top + height) for x in range(left, left + width)}


def decoded(png: bytes) -> Pixels:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    at, data, width, height, kind = 8, b"", 0, 0, 0
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        name, body = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        if name == b"IHDR":
            width, height, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", body)
            assert (depth, interlaced) == (8, 0)
        elif name == b"IDAT":
            data += body
        at += length + 12
    step = {2: 3, 6: 4}[kind]
    raw, rows, above = zlib.decompress(data), [], bytes(width * step)
    for y in range(height):
        start = y * (width * step + 1)
        rows.append(above := unfiltered(raw[start], raw[start + 1 : start + 1 + width * step], above, step))
    return Pixels(width, height, rows, step)


def unfiltered(kind: int, line: bytes, above: bytes, step: int) -> bytes:
    row = bytearray(line)
    for i in range(len(row)):
        left = row[i - step] if i >= step else 0
        up, corner = above[i], above[i - step] if i >= step else 0
        match kind:
            case 1:
                row[i] = (row[i] + left) & 255
            case 2:
                row[i] = (row[i] + up) & 255
            case 3:
                row[i] = (row[i] + (left + up) // 2) & 255
            case 4:
                guess = left + up - corner
                near = min((left, up, corner), key=lambda one: abs(guess - one))
                row[i] = (row[i] + near) & 255
    return bytes(row)


@attrs.define
class Camera:
    """One tab, whose page each test writes."""

    session: BrowserSession
    tab: Tab
    folder: Path
    address: str
    context: str
    shown: int = 0

    async def show(self, html: str, *, inner: str = "") -> None:
        """A page at an address of its own, since Firefox would not ask for one again that is a second old."""
        self.shown += 1
        style = "<style>html,body{margin:0;background:#fff}</style>"
        for name, body in (("inner", inner), ("page", html)):
            text = f"<!doctype html><meta charset=utf-8><title>Page</title>{style}{body}"
            (self.folder / f"{name}{self.shown}.html").write_text(
                text.replace("INNER", f"inner{self.shown}.html"), encoding="utf-8"
            )
        await self.tab.goto(f"{self.address}/page{self.shown}.html")
        await self.tab.snapshot()

    async def js(self, expression: str) -> object:
        answer = await self.session.bidi(
            "script.evaluate", expression=expression, target={"context": self.context}, awaitPromise=True
        )
        return answer["result"].get("value")


@pytest.fixture
async def camera(firefox: BrowserSession, tab: Tab, tmp_path: Path) -> AsyncIterator[Camera]:
    with serve_pages(tmp_path) as site:
        yield Camera(firefox, tab, tmp_path, site.address, await tab.bidi_context())


def box(colour: str, left: int, top: int, width: int, height: int) -> str:
    return f'<div style="position:absolute;left:{left}px;top:{top}px;width:{width}px;height:{height}px;background:{colour}"></div>'


RED, BLUE, WHITE = (255, 0, 0), (0, 0, 255), (255, 255, 255)


async def test_a_picture_shows_what_is_in_view(camera: Camera) -> None:
    """21.16: the viewport, pixel by pixel, in its own size."""
    await camera.show(box("#f00", 10, 20, 30, 40) + box("#00f", 0, 5000, 50, 50))
    picture = await camera.tab.screenshot()
    pixels = decoded(picture)
    assert (pixels.width, pixels.height) == (picture.width, picture.height)
    assert (picture.width, picture.height) == (await camera.js("innerWidth"), await camera.js("innerHeight"))
    assert (pixels.at(10, 20), pixels.at(39, 59), pixels.at(9, 20), pixels.at(40, 60)) == (RED, RED, WHITE, WHITE)
    assert (picture.media_type, picture.scale, picture.painted_over, picture.marked) == ("image/png", 1, 0, ())


async def test_a_picture_of_the_full_page_goes_to_its_end(camera: Camera) -> None:
    """What lies below the view is on it, without scrolling the page."""
    await camera.show(box("#00f", 0, 2950, 50, 50) + box("#f00", 0, 0, 50, 50))
    picture = await camera.tab.screenshot(full_page=True)
    pixels = decoded(picture)
    assert picture.height == 3000
    assert not picture.cut
    assert (pixels.at(1, 1), pixels.at(1, 2998), pixels.at(1, 1500)) == (RED, BLUE, WHITE)
    assert await camera.js("scrollY") == 0


async def test_a_picture_of_one_control_is_its_box(camera: Camera) -> None:
    """Also one that is out of view."""
    style = "position:absolute;left:40px;top:2400px;width:120px;height:60px;background:#00f;border:0;padding:0"
    await camera.show(f'<button style="{style}"></button>')
    (button,) = (await camera.tab.snapshot()).controls
    picture = await camera.tab.screenshot(element=button)
    pixels = decoded(picture)
    assert (picture.width, picture.height) == (120, 60)
    assert pixels.colours(0, 0, 120, 60) == {BLUE}


async def test_a_picture_of_a_control_in_a_frame_is_its_box(camera: Camera) -> None:
    """Its place is that of the frame and its own."""
    await camera.show(
        '<iframe src="INNER" style="position:absolute;left:70px;top:90px;border:5px solid #00f"></iframe>',
        inner='<button style="width:80px;height:30px;background:#f00;border:0;padding:0"></button>',
    )
    (button,) = (await camera.tab.snapshot()).controls
    assert button.frame != 0
    picture = await camera.tab.screenshot(element=button.id)
    assert (picture.width, picture.height) == (80, 30)
    assert decoded(picture).colours(0, 0, 80, 30) == {RED}


async def test_a_picture_can_be_larger_or_smaller_and_a_jpeg(camera: Camera) -> None:
    """`scale` are its pixels to one CSS pixel."""
    await camera.show(box("#f00", 0, 0, 100, 100))
    wide = await camera.js("innerWidth")
    assert isinstance(wide, int)
    half = await camera.tab.screenshot(scale=0.5, format="jpeg", quality=60)
    assert half.startswith(b"\xff\xd8\xff")
    assert (half.media_type, half.scale) == ("image/jpeg", 0.5)
    assert abs(half.width - wide / 2) <= 1
    assert len(await camera.tab.screenshot(format="jpeg", quality=5)) < len(await camera.tab.screenshot(format="jpeg", quality=95))


async def test_marks_are_the_ids_of_the_snapshot_drawn_beside_their_controls(camera: Camera) -> None:
    """All, or those that are asked for; the page itself stays without."""
    await camera.show(
        "<div style='height:100px'></div>" + "".join(f'<p style="margin:30px"><button>Go {n}</button></p>' for n in range(4))
    )
    ids = [control.id for control in (await camera.tab.snapshot()).controls]
    plain, marked, one = (
        await camera.tab.screenshot(),
        await camera.tab.screenshot(marks=True),
        await camera.tab.screenshot(marks=[ids[2]]),
    )
    assert (plain.marked, list(marked.marked), list(one.marked)) == ((), ids, [ids[2]])
    assert len({bytes(plain), bytes(marked), bytes(one)}) == 3
    assert await camera.tab.screenshot() == plain
    bounds = (await camera.tab.snapshot()).controls[2].box
    differing = [y for y, (was, now) in enumerate(zip(decoded(plain).rows, decoded(one).rows, strict=True)) if was != now]
    assert differing
    if bounds is not None:
        assert all(bounds.y - 30 <= y <= bounds.y + bounds.height + 30 for y in differing)


@pytest.mark.parametrize(
    "field",
    [
        '<input type=password aria-label=Password value="{}">',
        '<input aria-label="Security code" autocomplete=cc-csc value="{}">',
        '<input aria-label=IBAN value="{}">',
    ],
)
async def test_secret_and_sensitive_fields_are_painted_over(camera: Camera, field: str) -> None:
    """Not even the length shows; the page is not touched; an ordinary field is shown."""
    pictures: list[Screenshot] = []
    for value in ("12", "123456789"):
        await camera.show(field.format(value))
        await camera.js(
            "window.touched = ''; new MutationObserver((found) => { for (const one of found) touched += one.type; })"
            ".observe(document, {subtree: true, childList: true, attributes: true, characterData: true}); 0"
        )
        pictures.append(await camera.tab.screenshot())
        assert await camera.js("touched") == ""
    first, second = pictures
    assert (first.painted_over, second.painted_over) == (1, 1)
    assert first == second

    await camera.show('<input aria-label=Name value="12">')
    short = await camera.tab.screenshot()
    await camera.show('<input aria-label=Name value="123456789">')
    assert short.painted_over == 0
    assert await camera.tab.screenshot() != short


async def test_a_picture_never_has_more_than_two_mebibytes(camera: Camera) -> None:
    """It is made smaller until it fits, and says so."""
    await camera.show(
        "<canvas width=1366 height=682></canvas><script>const c = document.querySelector('canvas').getContext('2d');"
        "const d = c.createImageData(1366, 682); for (let i = 0; i < d.data.length; i++)"
        "d.data[i] = i % 4 == 3 ? 255 : Math.random() * 256; c.putImageData(d, 0, 0);</script>"
    )
    picture = await camera.tab.screenshot()
    assert len(picture) <= MAX_BYTES
    assert 0 < picture.scale < 1
    assert picture.startswith(b"\x89PNG")


async def test_a_tab_in_the_background_can_be_shown(camera: Camera) -> None:
    """Nobody has to bring it to the front."""
    await camera.show(box("#f00", 0, 0, 100, 100))
    other = await camera.session.open_tab(f"{camera.address}/page1.html?other")
    try:
        assert decoded(await camera.tab.screenshot()).at(5, 5) == RED
    finally:
        await other.close()
