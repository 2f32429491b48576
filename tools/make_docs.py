#!/usr/bin/env python3
"""make_docs.py: writes the guide and the reference of the API to build/docs/html with Doxygen.

Doxygen reads copies in build/docs/input: the public headers, with the lists of operators as plain
declarations, and the Markdown pages (PAGES), with links that it understands. Every warning is an
error. Declarations without a comment are no error; build/docs/undocumented.txt lists them."""

import re
import subprocess
import sys
from pathlib import Path

import op_lists

ROOT = Path(__file__).resolve().parent.parent
HEADERS = ROOT / "include"
OUT = ROOT / "build" / "docs"
PAGES = [
    ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
]
PAGES += [
    path
    for folder in ("guide", ".", "adr")
    for path in sorted((ROOT / "docs" / folder).glob("*.md"))
]


def forms(op):
    """(functions, methods) that an operator's declaration stands for, as (declaration, note) pairs."""

    def joined(*parts):
        return ", ".join(part for part in parts if part)

    self, changed, out = "const Tensor& self", "Tensor& self", "Tensor& out"
    name, rest = op.name, op.parameters
    method = [(f"{op.result} {name}({rest}) const;", "")]
    if op.macro in ("HEARTH_ALL_FORMS", "HEARTH_OUT"):
        functions = [(f"Tensor {name}({joined(self, rest)});", "")]
        if op.macro == "HEARTH_ALL_FORMS":
            functions.append((f"Tensor& {name}_({joined(changed, rest)});", "In place."))
            method.append((f"Tensor& {name}_({rest}) const;", "In place."))
        functions.append((f"Tensor& {name}_out({joined(out, self, rest)});", "Writes to out."))
        return functions, method
    if op.macro == "HEARTH_INPLACE":
        return (
            [(f"Tensor& {name}({joined(changed, rest)});", "")],
            [(f"Tensor& {name}({rest}) const;", "")],
        )
    if op.macro == "HEARTH_METHOD":
        return [(f"{op.result} {name}({joined(self, rest)});", "")], method
    if op.macro == "HEARTH_METHOD_ONLY":
        return [], method
    return [(f"{op.result} {name}({rest});", "")], []  # HEARTH_FUNCTION, HEARTH_QUALIFIED


def operators():
    """The declarations of all operators: (functions, methods) as text, grouped by family."""
    functions, methods = [], []
    for family in op_lists.families():
        title = family.replace("_", " ")
        functions.append(
            f"/// @defgroup ops_{family} Operators: {title}\n/// The functions of "
            f"hearth/ops/{family}.inc.\n/// @{{\n"
        )
        methods.append(f"/// @name Operators: {title}\n/// @{{\n")
        for op in op_lists.operators(family):
            for target, declarations in zip((functions, methods), forms(op)):
                for declaration, note in declarations:
                    notes = [f"/// {note}"] if note and op.comment else []
                    target.append("\n".join([*op.comment.splitlines(), *notes, declaration]))
        functions.append("/// @}")
        methods.append("/// @}")
    return "\n".join(functions), "\n".join(methods)


def prepared_header(path, functions, methods):
    """A header as Doxygen should read it."""
    text = path.read_text()
    if path.name == "tensor.h":
        text = text.replace('#include "hearth/ops/as_methods.inc"', methods)
    if path.name == "as_functions.h":
        return f"#pragma once\nnamespace hearth {{\n{functions}\n}}  // namespace hearth\n"
    # Macros that docs/Doxyfile or the lines below define.
    for macro in (
        "HEARTH_ARG",
        "HEARTH_CHOICE",
        "HEARTH_MODULE",
        "HEARTH_API",
        "HEARTH_FIELDS",
        "HEARTH_DECLARE_DEFAULT_ARGS",
    ):
        text = re.sub(rf"^[ \t]*#define {macro}\b(?:.*\\\n)*.*\n", "", text, flags=re.M)
    holder = (
        r"/// Holder of a \1Impl, shared by its copies; calling it calls \1Impl::forward().\n"
        r"class \1 : public ModuleHolder<\1Impl> {};"
    )
    text = re.sub(r"^HEARTH_MODULE\((\w+)\);", holder, text, flags=re.M)
    # The last line of macros that declare a module.
    text = re.sub(
        r"^  HEARTH_MODULE\(Name\)$",
        "  class Name : public ModuleHolder<Name##Impl> {}",
        text,
        flags=re.M,
    )
    # Explicit instantiations declare nothing new.
    return re.sub(r"^extern template .*?;\n", "", text, flags=re.M | re.S)


def slug(heading):
    """GitHub's name of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def label(path):
    return "page_" + re.sub(r"\W", "_", str(path.relative_to(ROOT).with_suffix("")))


def prepared_page(path):
    """A page of Markdown with labels for its headings and links to the labels."""

    def linked(match):
        image, text, target = match.groups()
        if re.match(r"\w+:", target):
            return match[0]
        name, _, anchor = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        if image:
            return f"![{text}]({file.name})"
        if file.is_dir() and (file / "README.md").exists():
            file = file / "README.md"
        if file in PAGES:
            text = " ".join(text.split())
            return f"[{text}](@ref {label(file)}{'_' + anchor if anchor else ''})"
        if not file.exists():
            raise SystemExit(f"{path.relative_to(ROOT)}: {target} does not exist")
        return text

    first = True
    blocks = re.split(r"(^[ \t]*```.*?^[ \t]*```$)", path.read_text(), flags=re.M | re.S)
    for i, block in enumerate(blocks):
        if i % 2:
            # Only the language may follow the backticks.
            blocks[i] = re.sub(r"```(\w+)[^\n]*", r"```\1", block, count=1)
            continue
        lines = []
        for line in block.split("\n"):
            heading = re.match(r"(#+) (.*)", line)
            if heading:
                line = f"{line} {{#{label(path)}{'' if first else '_' + slug(heading[2])}}}"
                first = False
            lines.append(line)
        blocks[i] = re.sub(
            r"(!?)\[([^\]`]*(?:`[^`]*`[^\]`]*)*)\]\(([^()\s]+)\)", linked, "\n".join(lines)
        )
    return "".join(blocks)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def main():
    source = OUT / "input"
    subprocess.run(["rm", "-rf", OUT], check=True)
    functions, methods = operators()
    for path in sorted(HEADERS.rglob("*.h")):
        write(source / path.relative_to(HEADERS), prepared_header(path, functions, methods))
    for path in PAGES:
        write(source / "pages" / f"{label(path)}.md", prepared_page(path))
    settings = (ROOT / "docs" / "Doxyfile").read_text()
    log = OUT / "warnings.txt"
    settings += f"""
INPUT = "{source}"
OUTPUT_DIRECTORY = "{OUT}"
STRIP_FROM_PATH = "{source}"
STRIP_FROM_INC_PATH = "{source}"
IMAGE_PATH = "{ROOT}/docs/pictures"
USE_MDFILE_AS_MAINPAGE = "{source}/pages/{label(ROOT / "README.md")}.md"
WARN_LOGFILE = "{log}"
"""
    version = re.search(
        r"^project\(hearth VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), re.M
    )
    settings += f"PROJECT_NUMBER = {version[1]}\n"
    write(OUT / "Doxyfile", settings)
    subprocess.run(["doxygen", OUT / "Doxyfile"], check=True)
    warnings = [line.replace(f"{source}/", "") for line in log.read_text().splitlines()]
    others = [line for line in warnings if "is not documented" not in line]
    # One line for each declaration, not for each instance of a template.
    undocumented = {}
    for line in warnings:
        if "is not documented" in line and not re.search(r"=\s*(default|delete)\b|::~| ~", line):
            undocumented.setdefault(line.split(" warning: ")[0], line.replace(" warning: ", " "))
    undocumented = sorted(undocumented.values())
    write(OUT / "undocumented.txt", "\n".join(undocumented) + "\n")
    print("\n".join(others), end="\n" if others else "")
    print(
        f"{OUT.relative_to(ROOT)}/html/index.html: {len(others)} warnings; "
        f"{len(undocumented)} declarations have no comment "
        f"({OUT.relative_to(ROOT)}/undocumented.txt)"
    )
    return 1 if others else 0


if __name__ == "__main__":
    sys.exit(main())
