"""The tool `upload`: puts files of one allowed folder into a file field, or drops them where a page takes some."""

from __future__ import annotations

from typing import Any, Final

import trio

from ...actions import ToolContext, ToolOutput
from ...tools import Tool
from .._quoting import quote_strictly
from .._uploads import MAX_FILES
from ._acting import run_pinned
from ._desk import Args, Desk
from ._spending import Prices, note_spending
from ._upload_folder import UploadFolder
from ._view import CONTROL_ID
from ._words import describe_control, say_spending

__all__ = ["upload_tools"]

MAX_FILE_NAME: Final = 255
NOT_KEPT: Final = "stale: the files were read too long ago, and are not kept any more. Nothing was done. Call upload again."


def upload_tools(desk: Desk, folder: UploadFolder, prices: Prices | None = None) -> list[Tool]:
    """`upload`, with scope submit: what is given to a page has left this computer."""

    async def prepare(args: Args, ctx: ToolContext) -> Args:
        page, [(control, pin)] = await desk.all_pinned([args["control_id"]])
        files = await trio.to_thread.run_sync(folder.read, args["files"])
        judged = {"control_id": args["control_id"], "op": "files", "value": {"files": files}, "target": pin}
        return judged if control.type == "file" else note_spending(page, control, judged, prices)  # a button is pressed

    async def run(args: Args, ctx: ToolContext) -> ToolOutput:
        data = folder.bytes_of(args["value"])
        if data is None:
            ctx.report_effect("not-started")
            return ToolOutput(ok=False, summary=NOT_KEPT)
        return await run_pinned(desk, args, ctx, "files", args["value"], files=data)

    return [
        Tool(
            name="upload",
            description=(
                "Put files of the upload folder into a file field of the newest snapshot, into the one that its button opens, or "
                "onto a place where files can be dropped."
            ),
            parameters={
                "type": "object",
                "properties": {
                    "control_id": CONTROL_ID,
                    "files": {
                        "type": "array",
                        "minItems": 1,
                        "maxItems": MAX_FILES,
                        "items": {"type": "string", "minLength": 1, "maxLength": MAX_FILE_NAME},
                        "description": "Plain names of files, without a path.",
                    },
                },
                "required": ["control_id", "files"],
            },
            scope="submit",
            domain=desk.domain,
            prepare=prepare,
            describe=lambda args, ctx: _words(args),
            asks=lambda args: "spends" in args,
            run=run,
            environment=desk.tab.session,
        )
    ]


def _words(args: Args) -> str:
    files = "; ".join(_file(one) for one in args["value"]["files"])
    text = f"{describe_control('upload files', None, args['target'])}: {files}"
    return f"{text}. {say_spending(args['spends'])}" if "spends" in args else text


def _file(one: dict[str, Any]) -> str:
    return f"{quote_strictly(one['name'])}, {one['size']} bytes, SHA-256 {one['sha256'][:16]}…"
