"""Tools for a planner on one tab. `_pack` puts them together; each other module holds one kind of them.

`_desk` is what they share: the tab, its newest look, and the judgements before and after an act. This module imports none of them,
so that tasks, which are a tool too, may use the same pins and words.
"""
