"""The command line `foxloop-trio`: one module per command group, each loaded only when its command runs.

Every command has ``--help``, and ``--json`` where it prints data. Exit status: 0 good, 1 what was checked is bad, 2 usage.
"""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """The console script's entry point. Ends the process; see `_app.run` for the exit status."""
    from ._app import run

    raise SystemExit(run())
