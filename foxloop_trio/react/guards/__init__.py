"""The guards, each in a place of its own: `_loop_detector`, `_budget_guard` with its `_ledger`, and the policy engine in `policy`.

They know nothing of the loop that asks them. What a guard sees and may say is in `foxloop_trio.guarding`, which stands below both
loops, so that each guard serves `run_react_loop` and `Loop` alike.
"""
