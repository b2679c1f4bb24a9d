"""What acting does on the library pages today: `python tests/firefox/acting_table.py [PAGE…]` prints it as a table.

The aims are those of `foxloop_trio.testing._acting_aims`, tried as `_acting_trial` says; `test_acting_aims.py` asserts
them. The last column has an exclamation mark where an aim does not come to what it must.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import trio

from foxloop_trio.browser import launch_firefox
from foxloop_trio.testing._acting_aims import AIMS
from foxloop_trio.testing._acting_trial import try_aim
from foxloop_trio.testing._npm_site import serve_library_pages

PAGES = Path(__file__).parent / "pages"


async def main(names: list[str]) -> None:
    counts: Counter[str] = Counter()
    with serve_library_pages(PAGES) as site:
        async with launch_firefox() as session:
            tab = await session.open_tab(site.address + "/thanks.html")
            print("| page | aim | today | what was said | |\n|---|---|---|---|---|")
            for aim in AIMS:
                if not names or aim.page in names:
                    verdict = await try_aim(session, tab, site.address, PAGES / "files", aim)
                    counts[verdict.kind] += 1
                    sign = "" if verdict.problem(aim) is None else "!"
                    cells = [aim.page, aim.words, verdict.kind, str(verdict)[:160], sign]
                    print(f"| {' | '.join(cells)} |".replace("\n", "⏎"), flush=True)
    print(*(f"{kind}: {count}" for kind, count in counts.most_common()), sep=", ", file=sys.stderr)


if __name__ == "__main__":
    trio.run(main, sys.argv[1:])
