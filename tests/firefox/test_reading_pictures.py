"""Pictures of pages: page reference 21.16. The page is never changed for one; secrets are painted over on the picture."""

import base64
import struct
from typing import Any

import pytest

from foxloop_trio.channel import RemoteCallError
from foxloop_trio.testing._page_reader import PageReader, soon

pytestmark = pytest.mark.firefox


async def capture(reader: PageReader, **params: Any) -> dict[str, Any]:
    return await reader.call("tab.capture", **{"format": "png", **params})


def size(answer: dict[str, Any]) -> tuple[int, int]:
    """Of a PNG, from its header."""
    width, height = struct.unpack(">II", base64.b64decode(answer["data"])[16:24])
    return width, height


async def test_a_picture_does_not_show_secrets(reader: PageReader) -> None:
    """A field with a one-time code or an account number looks the same whatever it holds; the page is as before, always."""
    await reader.open(
        "<input aria-label='Verification code' id=code style='color:red' value=1111><input aria-label=IBAN id=iban value=1111>"
        "<input id=plain value=1111>"
    )
    first = await capture(reader)
    assert first["painted_over"] == 2
    await reader.js("void (code.value = '88888888', iban.value = '777')")
    assert (await capture(reader))["data"] == first["data"]
    assert await reader.js("code.getAttribute('style')") == "color:red"
    await reader.js("void (plain.value = '88888888')")
    assert (await capture(reader))["data"] != first["data"]


async def test_secrets_in_frames_and_roots_are_painted_over_too(reader: PageReader) -> None:
    """Also in a frame of another origin and in a closed root."""
    inner = reader.site.put("<input type=password value=1><script>setTimeout(() => 0)</script>")
    await reader.open(f"<iframe src={inner.replace('127.0.0.1', 'localhost')}></iframe><div id=h></div>")
    await reader.js("void (h.attachShadow({mode: 'closed'}).innerHTML = '<input type=password value=1>', 0)")

    async def both() -> bool:
        return bool((await capture(reader))["painted_over"] == 2)

    await soon(both)


async def test_the_area_is_the_viewport_the_page_or_an_element(reader: PageReader) -> None:
    """In CSS px, times the scale that was asked for; the element need not be in view."""
    frame = await reader.read("<div style='height:3000px'>tall</div><button style='width:120px;height:40px'>b</button>")
    view = await reader.js("[innerWidth, innerHeight]")
    element = {"frame": 0, "document": frame["document"], "node": frame["controls"][0]["node"]}
    shown = await capture(reader)
    whole = await capture(reader, area="page")
    part = await capture(reader, area=element)
    assert size(shown) == tuple(view) == (shown["width"], shown["height"])
    assert size(whole)[1] > 3000
    assert size(part) == (120, 40)
    assert size(await capture(reader, area=element, scale=2)) == (240, 80)
    assert (await capture(reader, scale=0.5))["scale"] == 0.5
    assert [answer["cut"] for answer in (shown, whole, part)] == [False] * 3
    await reader.js("void document.querySelector('button').remove()")
    with pytest.raises(RemoteCallError) as caught:
        await capture(reader, area=element)
    assert caught.value.code == "document-gone"


async def test_ids_of_controls_are_drawn_on_request(reader: PageReader) -> None:
    """All in view, or those that are named; the page itself is not changed; the ids are those of a read."""
    frame = await reader.read("<button>a</button><button>b</button><button style='position:absolute;top:5000px'>below</button>")
    numbers = [one["node"] for one in frame["controls"]]
    plain, marked = await capture(reader), await capture(reader, marks="controls")
    assert (plain["marked"], marked["marked"]) == ([], [f"0:{number}" for number in numbers[:2]])
    assert plain["data"] != marked["data"]
    assert (await capture(reader))["data"] == plain["data"]
    one = await capture(reader, marks=[{"frame": 0, "node": numbers[1], "label": "this"}, {"frame": 0, "node": 999}])
    assert one["marked"] == [f"0:{numbers[1]}"]


async def test_large_pictures_are_shrunk_until_they_fit(reader: PageReader) -> None:
    """At most 2 MiB decoded, and the scale says so; a page that is too tall is cut, and that is said too."""
    await reader.open(
        "<canvas id=c width=900 height=1400></canvas><script>const x = c.getContext('2d'), i = x.createImageData(900, 1400);"
        "for (let at = 0; at < i.data.length; at += 65536) crypto.getRandomValues(i.data.subarray(at, at + 65536));"
        "for (let at = 3; at < i.data.length; at += 4) i.data[at] = 255; x.putImageData(i, 0, 0)</script>"
    )
    noisy = await capture(reader, area="page")
    assert len(base64.b64decode(noisy["data"])) <= 2 * 2**20
    assert noisy["scale"] < 1
    assert size(noisy) == (noisy["width"], noisy["height"])
    jpeg = await capture(reader, format="jpeg", quality=30)
    assert base64.b64decode(jpeg["data"])[:3] == b"\xff\xd8\xff"
    await reader.open("<div style='height:200000px'>very tall</div>")
    assert (await capture(reader, area="page"))["cut"] is True
