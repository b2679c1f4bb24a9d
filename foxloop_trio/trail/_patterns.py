"""Values that look like secrets wherever they stand: keys of known providers, tokens in headers, passwords and queries of URLs.

For those who asked for it (`patterns` of `open_trail`): a page's address without its query is another address, so what was recorded
this way cannot be replayed to the letter.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["HIDDEN", "mask"]

HIDDEN: Final = "[hidden]"

_TOKENS: Final = re.compile(
    r"""
      \bsk-[A-Za-z0-9_-]{16,}                                            # OpenAI, Anthropic and those who copy them
    | \bgh[pousr]_[A-Za-z0-9]{30,} | \bgithub_pat_[A-Za-z0-9_]{20,}      # GitHub
    | \bglpat-[A-Za-z0-9_-]{20,}                                         # GitLab
    | \b(?:AKIA|ASIA)[0-9A-Z]{16}\b                                      # AWS
    | \bAIza[0-9A-Za-z_-]{30,}                                           # Google
    | \bxox[abeoprs]-[A-Za-z0-9-]{10,}                                   # Slack
    | \bhf_[A-Za-z0-9]{30,}                                              # Hugging Face
    | \beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*        # JSON Web Tokens
    """,
    re.VERBOSE,
)
_HEADER: Final = re.compile(r"\b(bearer|basic)(\s+)[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE)
_URL: Final = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s\"'<>]+", re.IGNORECASE)
_PASSWORD: Final = re.compile(r"(://[^/?#@:]*):[^/?#@]*@")
_VALUE: Final = re.compile(r"([?&#;][^=&#;\s]+=)[^&#;\s]+")


def mask(text: str) -> str:
    """The text with `HIDDEN` in place of whatever looks like a secret. The names of query values stay."""
    text = _TOKENS.sub(HIDDEN, text)
    text = _HEADER.sub(rf"\1\2{HIDDEN}", text)
    return _URL.sub(_masked_url, text) if "://" in text else text


def _masked_url(found: re.Match[str]) -> str:
    return _VALUE.sub(rf"\1{HIDDEN}", _PASSWORD.sub(rf"\1:{HIDDEN}@", found[0]))
