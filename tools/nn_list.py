#!/usr/bin/env python3
"""nn_list.py [--check]: writes docs/nn.md and docs/frontend.md: the names of LibTorch's frontend, and
of Python's where LibTorch has none, with the headers that declare them in Hearth, or the reasons why
they are absent. With --check, fails if a page is not current. Fails if a name of tools/nn_names.txt
or tools/frontend_names.txt is absent without a reason, or present with one."""

import re
import sys
from pathlib import Path

from declarations import HEADERS, ROOT, functions_of, modules_of, read
from declared_names import headers_of_names, names_of
from lists import table, write_or_check

TOOLS = Path(__file__).resolve().parent
NOTE = """Written by `tools/nn_list.py` from the headers and the names in
`tools/{}`; `make check` compares. The names are those of LibTorch and, where it has no
such name, of Python (PyTorch 2.15)."""
NN_HEAD = f"""# What exists of `torch.nn`

{NOTE.format("nn_names.txt")} What the modules compute and their options are in
[lists.md](lists.md), operators in [ops.md](ops.md), the rest of LibTorch's frontend in
[frontend.md](frontend.md).

Not planned: quantized modules (`torch.ao`, `nn.quantized`), sparse gradients, nested tensors, named
dimensions (also of `Unflatten`), TorchScript's code.
"""
FRONTEND_HEAD = f"""# What exists of LibTorch's frontend besides `torch.nn`

{NOTE.format("frontend_names.txt")} Modules and their functions are in [nn.md](nn.md),
operators in [ops.md](ops.md), options of optimizers and of data loading in [lists.md](lists.md).
Headers without a folder are in `include/hearth`.
"""
PAGES = (("nn.md", "nn_names.txt", NN_HEAD), ("frontend.md", "frontend_names.txt", FRONTEND_HEAD))


def sections(names_file):
    """[(kind, title, {name: reason or None})] of a file of names."""
    found = []
    for line in names_file.read_text().splitlines():
        title = re.fullmatch(r"\[(\w+): (.*)\]", line)
        if title:
            found.append((title[1], title[2], {}))
        elif line and not line.startswith("#"):
            names, _, reason = line.partition(" = ")
            found[-1][2].update((name, reason or None) for name in names.split())
    return found


def functions_with(prefix):
    """{name: header} of the functions of a namespace, or, if the prefix ends with an underscore, of
    the operators whose names begin with it."""
    if not prefix.endswith("_"):
        header = HEADERS / f"{prefix}.h"
        return {name: header.name for name in names_of(header)}
    calls = re.compile(rf"HEARTH_\w+\((?:[^,()]+, )?{prefix}(\w+)")
    return {
        name: f"ops/{path.name}"
        for path in sorted((HEADERS / "ops").glob("*.inc"))
        for name in calls.findall(path.read_text())
    }


def headers_of(kind, title, texts):
    """{name: header} of a section's kind of names."""
    if kind == "names":
        return headers_of_names()
    if kind == "counts":
        return functions_with(title)
    if kind == "headers":
        paths = (path.relative_to(ROOT / "compat") for path in (ROOT / "compat").rglob("*.h"))
        return {path.as_posix(): f"compat/{path.as_posix()}" for path in paths}
    declared = {}
    for stem, text in texts.items():
        names = [m[0] for m in modules_of(text)] if kind == "modules" else functions_of(text, kind)
        declared.update((name, f"nn/{stem}.h") for name in names)
    return declared


def section(kind, title, names, declared):
    """The lines of a section."""
    present = [name for name in names if name in declared]
    absent = [(f"`{name}`", f"absent: {why}") for name, why in names.items() if why]
    shown = f"`{title}*`" if kind == "counts" and title.endswith("_") else title
    shown = f"`{title}::`" if kind == "counts" and not title.endswith("_") else shown
    lines = [f"## {shown}: {len(present)} of {len(names)}", ""]
    if kind in ("counts", "headers"):
        lines += ["All others exist." if absent else "All exist.", ""]
        return lines + (table(("name", "header"), absent) if absent else [])
    rows = [
        (f"`{name}`", f"`{declared[name]}`" if name in declared else f"absent: {why}")
        for name, why in names.items()
    ]
    return lines + table(("name", "header"), rows)


def page(names_file, head):
    """The text of a page and the names whose entry in the file of names is wrong."""
    texts = {path.stem: read(path) for path in sorted((HEADERS / "nn").glob("*.h"))}
    out, wrong = [head], []
    for kind, title, names in sections(names_file):
        declared = headers_of(kind, title, texts)
        wrong += [name for name, why in names.items() if (why is None) != (name in declared)]
        out += section(kind, title, names, declared)
    return "\n".join(out).rstrip() + "\n", wrong


def main():
    status = 0
    for name, names_file, head in PAGES:
        text, wrong = page(TOOLS / names_file, head)
        if wrong:
            print(f"{names_file}: absent without a reason, or present with one: {', '.join(wrong)}")
        status |= 1 if wrong else write_or_check(ROOT / "docs" / name, text)
    return status


if __name__ == "__main__":
    sys.exit(main())
