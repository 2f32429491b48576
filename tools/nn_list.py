#!/usr/bin/env python3
"""nn_list.py [--check]: writes docs/nn.md, the names of LibTorch's and Python's torch.nn with the
headers that declare them in Hearth, or the reasons why they are absent; with --check, fails if the
file is not current. Fails if a name of tools/nn_names.txt is absent without a reason, or present
with one."""

import re
import sys
from pathlib import Path

from declarations import HEADERS, ROOT, functions_of, modules_of, read
from lists import table, write_or_check

PAGE = ROOT / "docs" / "nn.md"
NAMES = Path(__file__).resolve().parent / "nn_names.txt"
HEAD = """# What exists of `torch.nn`

Written by `tools/nn_list.py` from the headers in `include/hearth` and the names in
`tools/nn_names.txt`; `make check` compares. The names are those of LibTorch and, where it has no
such name, of Python (PyTorch 2.15). What the modules compute and their options are in
[lists.md](lists.md), operators in [ops.md](ops.md).

Not planned: quantized modules (`torch.ao`, `nn.quantized`), sparse gradients, nested tensors, named
dimensions (also of `Unflatten`), TorchScript's code.
"""


def sections():
    """[(kind, title, {name: reason or None})] of the file of names."""
    found = []
    for line in NAMES.read_text().splitlines():
        title = re.fullmatch(r"\[(\w+): (.*)\]", line)
        if title:
            found.append((title[1], title[2], {}))
        elif line and not line.startswith("#"):
            names, _, reason = line.partition(" = ")
            found[-1][2].update((name, reason or None) for name in names.split())
    return found


def headers_of(kind, texts):
    """{name: header} of the modules, or of the functions of a namespace."""
    declared = {}
    for stem, text in texts.items():
        names = [m[0] for m in modules_of(text)] if kind == "modules" else functions_of(text, kind)
        declared.update((name, f"nn/{stem}.h") for name in names)
    return declared


def page():
    """The text of the page and the names whose entry in the file of names is wrong."""
    texts = {path.stem: read(path) for path in sorted((HEADERS / "nn").glob("*.h"))}
    out, wrong = [HEAD], []
    for kind, title, names in sections():
        declared = headers_of(kind, texts)
        present = {name: declared[name] for name in names if name in declared}
        wrong += [name for name, why in names.items() if (why is None) != (name in present)]
        out += [f"## {title}: {len(present)} of {len(names)}", ""]
        rows = [
            (f"`{name}`", f"`{present[name]}`" if name in present else f"absent: {why}")
            for name, why in names.items()
        ]
        out += table(("name", "header"), rows)
    return "\n".join(out).rstrip() + "\n", wrong


def main():
    text, wrong = page()
    if wrong:
        print(f"{NAMES.name}: absent without a reason, or present with one: {', '.join(wrong)}")
        return 1
    return write_or_check(PAGE, text)


if __name__ == "__main__":
    sys.exit(main())
