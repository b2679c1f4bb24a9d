"""Print ``protocol.json``::

python -m foxloop_trio.wire > foxloop_trio/webextension/addon/shared/protocol.json
"""

from __future__ import annotations

import sys

from ._golden import protocol_text

if __name__ == "__main__":
    sys.stdout.write(protocol_text())
