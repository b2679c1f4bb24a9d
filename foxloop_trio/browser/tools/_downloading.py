"""The tool `download`: presses a control, and saves the file that it leads to in one allowed folder.

The file never goes through Firefox's own downloads: the page script takes it in place of the navigation, asked for once and with
the person's cookies, and its bytes come over our line in pieces. So this works alike in a Firefox of ours and in a person's, needs
no further permission, and nothing of it is ever outside of the folder. A file on another host than was judged is not asked for.
"""

from __future__ import annotations

import hashlib
from typing import Any, BinaryIO, Final

import trio

from ...actions import EffectState, ToolContext, ToolOutput
from ...errors import BrowserError, UsageError
from ...tools import Tool
from .._quoting import quote, quote_address
from ._desk import Args, Desk, permit_of
from ._save_folder import SaveFolder, safe_name
from ._spending import Prices, note_spending
from ._view import CONTROL_ID
from ._words import describe_click, say_refused, say_stale, seen

__all__ = ["MAX_DOWNLOAD_BYTES", "download_tools"]

MAX_DOWNLOAD_BYTES: Final = 100 * 2**20
"""Of one file. It passes through the memory of page and runtime in pieces of 3 MiB."""
CLEAN_UP_SECONDS: Final = 5.0


def download_tools(desk: Desk, folder: SaveFolder, prices: Prices | None = None) -> list[Tool]:
    """`download`, with scope submit, since it is a click."""

    async def prepare(args: Args, ctx: ToolContext) -> Args:
        page, [(control, pin)] = await desk.all_pinned([args["control_id"]])
        judged = {"control_id": args["control_id"], "op": "download", "value": None, "target": pin}
        return note_spending(page, control, judged, prices)

    return [
        Tool(
            name="download",
            description=(
                "Click one control of the newest snapshot that leads to a file (a link, an export button), and save the file in "
                "the download folder. The page stays as it is."
            ),
            parameters={"type": "object", "properties": {"control_id": CONTROL_ID}, "required": ["control_id"]},
            scope="submit",
            domain=desk.domain,
            prepare=prepare,
            describe=lambda args, ctx: f"{describe_click(args)}, and save the file that it leads to",
            asks=lambda args: "spends" in args,
            run=lambda args, ctx: _run(desk, folder, args, ctx),
            environment=desk.tab.session,
        )
    ]


async def _run(desk: Desk, folder: SaveFolder, args: Args, ctx: ToolContext) -> ToolOutput:
    ctx.report_effect("not-started")
    async with desk.hold():
        await trio.lowlevel.checkpoint_if_cancelled()
        # From here to the act nothing is awaited, so what is compared is what is acted on.
        if (moved := desk.moved(ctx)) is not None:
            return moved
        target = args["target"]
        if desk.memory.snapshot is None or not desk.still_pinned(target):
            return ToolOutput(ok=False, summary=say_stale("download"))
        desk.memory.drop()
        clicked = {"op": "download", "control": target["control"]}

        def report(state: EffectState, done: Any) -> None:
            """Of the click, which is no more than the first part: the file is not here yet."""
            whole = state == "done"
            ctx.report_effect("partial" if whole else state, {**clicked, "saved": False} if whole else done)

        try:
            result = await desk.tab.act(
                target,
                "download",
                None,
                permit=permit_of(ctx),
                report=report,
                cancel_grace=ctx.cancel_grace,
                note_opened=desk.note_opened,
            )
        except BrowserError as error:
            return desk.failed(f"download on {target['control']}", error, ctx)
        except UsageError as error:
            if error.code == "permit-host":
                return desk.failed_moved(ctx)
            raise
        if not result.ok or result.download is None:
            summary = say_refused("download", target["control"], result)
            return ToolOutput(ok=False, summary=summary, untrusted=seen(result), stop_batch=result.navigated)
        found = dict(result.download)
        try:
            saved = await _save(desk, folder, target, found)
        except BrowserError as error:
            return desk.failed(f"download on {target['control']}: it was clicked, but the file", error, ctx)
        except OSError as error:
            summary = "It was clicked, but the file could not be written in the download folder. Nothing of it is there."
            return ToolOutput(ok=False, summary=summary, untrusted=str(error))
        if saved is None:
            summary = f"It was clicked, but the file has more than {MAX_DOWNLOAD_BYTES} bytes, and was not saved."
            return ToolOutput(ok=False, summary=summary)
        ctx.report_effect("done", {**clicked, **saved})
        size, digest = saved["size"], saved["sha256"]
        summary = f"A file was saved in the download folder: {size} bytes, SHA-256 {digest}. Call snapshot before you go on."
        words = [f"File: {quote(saved['name'])}", f"Type: {quote(found['type'])}"]
        if found["url"]:
            words.append(f"From: {quote_address(found['url'])}")
        return ToolOutput(ok=True, summary=summary, untrusted="\n".join(words), data={**saved, "type": found["type"]})


async def _save(desk: Desk, folder: SaveFolder, target: Args, found: dict[str, Any]) -> dict[str, Any] | None:
    """Name, path, size and SHA-256 of what was saved; None, and nothing saved, when the file is too large."""
    try:
        if found.get("size", 0) > MAX_DOWNLOAD_BYTES:
            return None
        return await _fetched(desk, folder, target, found)
    finally:
        desk.tab.let_go(target, found["ticket"])


async def _fetched(desk: Desk, folder: SaveFolder, target: Args, found: dict[str, Any]) -> dict[str, Any] | None:
    file, part = await trio.to_thread.run_sync(folder.begin)
    try:
        size, digest = 0, hashlib.sha256()
        end = False
        while not end:
            data, end = await desk.tab.fetch(target, found["ticket"], size)
            size += len(data)
            if size > MAX_DOWNLOAD_BYTES:
                return None
            await trio.to_thread.run_sync(_write, file, data)
            digest.update(data)
        path = await trio.to_thread.run_sync(folder.finish, file, part, safe_name(found["name"]))
        return {"name": path.name, "path": str(path), "size": size, "sha256": digest.hexdigest()}
    finally:
        with trio.move_on_after(CLEAN_UP_SECONDS, shield=True):
            await trio.to_thread.run_sync(folder.abandon, file, part)


def _write(file: BinaryIO, data: bytes) -> None:
    file.write(data)
