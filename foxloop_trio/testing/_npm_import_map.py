"""An import map for packages that a browser loads as they are on disk, so that no bundler is needed.

Knows the part of Node's rules on package.json (`exports`, `imports`, `module`, `main`) that tells a browser which file a bare
specifier means. Files that are no ES modules are left out: a page loads those with a script element.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

__all__ = ["import_map"]

CONDITIONS: Final = frozenset({"browser", "production", "module", "import", "default"})
"""What of conditional exports holds for a page. Of these the first that a package lists is taken, as Node does."""


def import_map(packages: Mapping[str, Path], *, prefix: str = "/npm") -> dict[str, dict[str, Any]]:
    """The map for `packages`, each of which is served at `prefix` and its name.

    A package's own ``#name`` imports hold for its own files only, as a scope.
    """
    imports: dict[str, str] = {}
    scopes: dict[str, dict[str, str]] = {}
    for name, folder in packages.items():
        about = json.loads((folder / "package.json").read_text(encoding="utf-8"))
        imports |= {name + path: f"{prefix}/{name}/{file}" for path, file in _entries(about)}
        own = {path: f"{prefix}/{name}/{file}" for path, file in _targets(about.get("imports", {}), about)}
        if own:
            scopes[f"{prefix}/{name}/"] = own
    return {"imports": imports, "scopes": scopes}


def _entries(about: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    exports = about.get("exports")
    if exports is None:
        module = about.get("module")
        main = about.get("main", "index.js")
        if module is not None or _is_module(main, about):
            yield "", (module or main).removeprefix("./")
        return
    if isinstance(exports, str) or not all(path.startswith(".") for path in exports):
        exports = {".": exports}
    for path, file in _targets(exports, about):
        yield path.removeprefix("."), file


def _targets(paths: Mapping[str, Any], about: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for path, target in paths.items():
        file, marked = _choose(target)
        if file is not None and "*" not in path and (marked or _is_module(file, about)) and not file.endswith(".cjs"):
            yield path, file.removeprefix("./")


def _choose(target: Any, marked: bool = False) -> tuple[str | None, bool]:
    """The file that a target stands for, if any, and whether a condition said that it is a module."""
    if isinstance(target, list):
        target = target[0] if target else None
    if isinstance(target, Mapping):
        for condition, rest in target.items():
            if condition in CONDITIONS:
                found = _choose(rest, marked or condition in ("import", "module"))
                if found[0] is not None:
                    return found
        return None, False
    return target, marked


def _is_module(file: str, about: Mapping[str, Any]) -> bool:
    by_type = about.get("type") == "module" and file.endswith(".js")
    return by_type or file.endswith(".mjs") or file.removeprefix("./") == about.get("module", "").removeprefix("./")
