"""Scripted planners for four tasks of MiniWoB++: one file per task, each with one function `planner(utterance)`.

A planner here knows the sentence that the task asks and what the tools answered, nothing else, just as a model would.
"""
