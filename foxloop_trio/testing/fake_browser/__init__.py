"""A browser in memory for tests of agents: pages as data, a log of acts, and whatever should go wrong, when it should.

It stands at the far end of the real channel and speaks the real wire, so session, tab and tools are the real ones.
"""

from ._acting import FakeAct
from ._browser import Answer, FakeBrowser
from ._data import ControlData, DialogData, EffectData, Effects, FormData, PageData, PageSource, TableData, Visit
from ._document import FakeControl, FakeDocument
from ._faults import Phase
from ._tabs import Refused

__all__ = [
    "Answer",
    "ControlData",
    "DialogData",
    "EffectData",
    "Effects",
    "FakeAct",
    "FakeBrowser",
    "FakeControl",
    "FakeDocument",
    "FormData",
    "PageData",
    "PageSource",
    "Phase",
    "Refused",
    "TableData",
    "Visit",
]
