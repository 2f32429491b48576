#!/usr/bin/env python3
"""Checks that docs/environment.md names exactly the environment variables that the sources read."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "environment.md"
FOLDERS = ("src", "apps", "include", "tools", "bench", "tests")
# Variables of other programs, and those that scripts pass to themselves.
OTHERS = {"LD_LIBRARY_PATH", "GPU_CHECK_READY", "PATH", "RANK"}
READS = {
    # Strings, which may be passed to getenv elsewhere.
    (".cpp", ".h", ".in"): r'"((?:HEARTH|OMP)_[A-Z_]+)"|getenv\("(\w+)"\)',
    (".sh",): r"\$\{([A-Z][A-Z_]+):-",
    (".py",): r'environ(?:\.get\(|\[)"(\w+)"|"(\w+)" in os\.environ',
}


def names_read():
    """Each variable with the first file that reads it."""
    names = {}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            for suffixes, pattern in READS.items():
                if path.suffix in suffixes and path.is_file() and path != Path(__file__):
                    for groups in re.findall(pattern, path.read_text()):
                        for name in [groups] if isinstance(groups, str) else groups:
                            if name and name not in OTHERS:
                                names.setdefault(name, path.relative_to(ROOT))
    return names


def names_documented():
    rows = re.findall(r"^\| (`.*?`) \|", PAGE.read_text(), re.M)
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def main():
    read, documented = names_read(), names_documented()
    # Variables named …TEST_… need no row: tests pass them to the processes that they start.
    read = {name: path for name, path in read.items() if name in documented or "TEST_" not in name}
    for name in sorted(read.keys() - documented):
        print(f"{name}, which {read[name]} reads, is not in docs/environment.md")
    for name in sorted(documented - read.keys()):
        print(f"{name} is in docs/environment.md, but nothing reads it")
    return 1 if read.keys() != documented else 0


if __name__ == "__main__":
    sys.exit(main())
