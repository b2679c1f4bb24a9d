"""Public suffixes: under which names anybody can register, so that no permission spans the domains of strangers.

The list is the one that the package `publicsuffixlist` brings along, the part of private owners (`github.io`) included; nothing is
fetched. It takes some 0.1 s to read and is read when the first pattern or site is, never by ``import foxloop_trio``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from ..errors import GateError


def registrable_domain(host: str) -> str | None:
    """What somebody registered of `host`, a name in normal form that is no address: `example.co.uk` for `www.example.co.uk`.

    None for a public suffix; a name of one label that is on no list is taken for one.
    Raises GateError, code ``bad-domain``, when the list cannot be used.
    """
    try:
        found = _lookup()(host)
    except Exception as error:
        raise GateError(
            "the public suffix list cannot be used, so only exact hosts are possible; is the package publicsuffixlist installed?",
            code="bad-domain",
        ) from error
    return found if isinstance(found, str) else None


@lru_cache(maxsize=1)
def _lookup() -> Callable[[str], object]:
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList().privatesuffix
