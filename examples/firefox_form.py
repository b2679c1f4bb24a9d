"""Order a tea: a whole gated run in real Firefox, without a model.

A small site on this machine has a form. The planner is a script, reading and sending are granted on that site, and sending asks you
in the terminal. Run it with ``python examples/firefox_form.py``.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs

import trio

from foxloop_trio import CheckResult, Loop, Outcome, create_gate, scripted_planner, terminal_approver
from foxloop_trio.browser import browser_tools, launch_firefox
from foxloop_trio.gate import HostSide
from foxloop_trio.ports import Approver

FORM = b"""<!doctype html><meta charset=utf-8><title>Tea</title>
<form method=post><label>Your name <input name=name></label>
<label>Tea <select name=tea><option>black<option>green</select></label><button>Send the order</button></form>"""
ORDERS: list[dict[str, list[str]]] = []


class Shop(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.answer(FORM)

    def do_POST(self) -> None:
        ORDERS.append(parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode()))
        self.answer(b"<!doctype html><meta charset=utf-8><title>Thanks</title>Thank you.")

    def answer(self, page: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *args: object) -> None:
        """Not in the terminal, where the question stands."""


@contextmanager
def shop() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Shop) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


async def main(make_approver: Callable[[HostSide], Approver] = terminal_approver) -> Outcome:
    fields = {"0:1": "Ada", "0:3": "green"}  # ids of controls, which a model reads off the snapshot
    planner = scripted_planner(
        [
            {"calls": [{"name": "snapshot", "args": {}}]},
            {"calls": [{"name": "fill_and_send", "args": {"fields": fields, "send_id": "0:4"}}]},
            {"calls": [{"name": "finish", "args": {"summary": "Ordered a green tea for Ada."}}]},
        ]
    )
    with shop() as address:
        async with launch_firefox() as session:
            tab = await session.open_tab(address)
            tools = browser_tools(tab)
            gate, host = create_gate(tools=tools)
            for scope in ("read", "submit"):  # what is submitted is asked about by default
                await host.add_grant(scope=scope, domains=["127.0.0.1"])
            loop = Loop(
                planner=planner,
                gate=gate,
                tools=tools,
                on_approval=make_approver(host),
                check=lambda claim: CheckResult(ok=ORDERS == [{"name": ["Ada"], "tea": ["green"]}]),
            )
            outcome = await loop.complete("Order a green tea for Ada.", on_event=lambda event: print(event.type))
    print(outcome.status, outcome.summary or outcome.message)
    return outcome


if __name__ == "__main__":
    trio.run(main)
