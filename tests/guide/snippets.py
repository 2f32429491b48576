#!/usr/bin/env python3
"""Makes programs of the C++ snippets in pages of docs/guide (or other Markdown files), runs them,
and compares their output with the pages. CMake compiles the programs.

snippets.py write <source> <page>…   writes all snippets of the pages as one program, which runs the page
                                     whose name in lower case is the program's file name
snippets.py check <program> <page>   runs the program and compares its output with the page
snippets.py update <program> <page>  writes the output into the page where it differs

Each ```cpp block is a snippet. Types, functions, namespaces and using declarations, which start in
the first column, are placed in a namespace of the page, where all its snippets share them; the
other lines become the body of a function, which also calls the snippet's main() if it has one. A
word after ```cpp changes that:

    continued    the snippet goes on in the function of the one before it
    throws       the snippet must throw; the exception's text is its output

A block without a language shows the output of the snippet before it, if only blank lines and lines
that end in a colon lie between. Numbers with a point are compared to 1e-4 (relative or, below 1,
absolute). `…` stands for any text within a line or, right after a number, for its other digits.
A line `<!-- run with NAME=value … -->` sets environment variables for the page's program.
"""

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
import mnist_files

TIMEOUT_S = 120
TOLERANCE = 1e-4
MARK = "@@ snippet in line "
NUMBER = r"(?<![\w.])-?\d+(?:\.\d*)?(?:e[-+]?\d+)?(?!\w)"
# The first line of a declaration in the page's namespace.
DECLARATION = re.compile(
    r"(?:struct|class|enum|template|using|namespace|HEARTH_MODULE|TORCH_MODULE|TORCH_LIBRARY\w*)\b"
    r"|(?!(?:if|for|while|switch|return|else|do|try)\b)[\w:<>,&* ]+ [*&]?\w+\([^;=\[]*\) \{"
)


@dataclass
class Snippet:
    line: int  # of its first line in the page, counted from 1
    words: list  # after ```cpp
    code: list = field(default_factory=list)
    output: list = None


def snippets_of(page):
    """The snippets of a page with the outputs that it shows."""
    snippets, block, last = [], None, None
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if block is not None:
            if line.startswith("```"):
                block = None
            else:
                block.append(line)
        elif line.startswith("```"):
            language, *words = line[3:].split() or [""]
            block = []
            if language == "cpp":
                last = Snippet(number + 1, words, block)
                snippets.append(last)
            else:
                if not language and last:
                    last.output = block
                last = None
        elif line.strip() and not line.rstrip().endswith(":"):
            last = None
    return snippets


def environment_of(page):
    found = re.search(r"<!-- run with (.*?) -->", page.read_text())
    return dict(pair.split("=", 1) for pair in found[1].split()) if found else {}


def split_declarations(snippet):
    """(number, line) pairs: those for the page's namespace, and those of the function's body."""
    declarations, body = [], []
    depth, target = 0, body
    for number, line in enumerate(snippet.code, snippet.line):
        if target is body and DECLARATION.match(line):
            target, depth = declarations, 0
        target.append((number, line))
        if target is declarations:
            depth += line.count("{") - line.count("}")
            if depth == 0 and line.rstrip().endswith((";", "}")):
                target = body
    return declarations, body


def program_of_page(page):
    """The includes of the page's snippets, and a namespace with the snippets and a function main."""
    includes, out, calls = [], [], []
    snippets = snippets_of(page)

    def emit(numbered):
        for number, line in numbered:
            out.extend([f'#line {number} "{page}"', line])

    groups = []
    for snippet in snippets:
        if "continued" in snippet.words:
            groups[-1].append(snippet)
        else:
            groups.append([snippet])
    for group in groups:
        name = f"snippet_in_line_{group[0].line}"
        bodies = []
        for snippet in group:
            for line in [line for line in snippet.code if line.startswith("#include")]:
                includes.append(line)
                snippet.code[snippet.code.index(line)] = ""
            declarations, body = split_declarations(snippet)
            declarations = [
                (number, line.replace("int main()", "void program()"))
                for number, line in declarations
            ]
            if any("void program()" in line for _, line in declarations):
                body.append((snippet.line, "program();"))
            emit(declarations)
            bodies.append((snippet, body))
        # Each function starts with the default format of numbers.
        out.append(f"static void {name}() {{\nstd::cout.copyfmt(std::ios(nullptr));")
        for snippet, body in bodies:
            out.append(f'std::cout << "{MARK}{snippet.line}\\n";')
            if "throws" in snippet.words:
                out.append("try {")
            emit(body)
            if "throws" in snippet.words:
                out.append(
                    'std::cout << "(nothing was thrown)\\n";\n'
                    "} catch (const std::exception& error) {\n"
                    "std::cout << error.what() << '\\n';\n}"
                )
        out.append("}")
        calls.append(f"  {name}();")
    head = [f"namespace {namespace_of(page)} {{", "using namespace hearth;"]
    tail = [
        "int main() try {",
        *calls,
        "  return 0;",
        "} catch (const std::exception& error) {",
        "  std::cout << error.what() << '\\n';",
        "  return 1;",
        "}",
        "}",
    ]
    return includes, [*head, *out, *tail]


def namespace_of(page):
    return "page_" + page.stem.lower().replace("-", "_")


def program_of(pages):
    """The program of several pages as text."""
    includes = ['#include "examples/group.h"', "#include <hearth/hearth.h>", "#include <iostream>"]
    out = []
    for page in pages:
        page_includes, lines = program_of_page(page)
        includes += page_includes
        out += lines
    rows = [f'  {{"{page.stem.lower()}", {namespace_of(page)}::main}},' for page in pages]
    main = ["int main(int argc, char** argv) {", "return run_example(argc, argv, {", *rows, "});", "}"]
    first = "// Written by tests/guide/snippets.py."
    return "\n".join([first, *dict.fromkeys(includes), *out, *main, ""])


def matches(shown, printed):
    """Whether the printed line matches the page's line."""
    numbers = []

    def pattern_of(part):
        if part == "…":
            return ".*"
        if part.endswith("…"):
            return re.escape(part[:-1]) + r"[\d.e+-]*"
        if re.fullmatch(NUMBER, part):
            numbers.append(part)
            return f"\\s*({NUMBER})"
        return re.sub(r"(?:\\ )+", r"\\s+", re.escape(part))

    pattern = "".join(map(pattern_of, re.split(f"({NUMBER}…?|…)", shown.rstrip())))
    match = re.fullmatch(pattern + r"\s*", printed)
    if not match:
        return False
    for wanted, number in zip(numbers, match.groups()):
        tolerance = TOLERANCE * max(1, abs(float(wanted))) if "." in wanted else 0
        if abs(float(wanted) - float(number)) > tolerance:
            return False
    return True


def run(program, page):
    """The program's exit code, its output for each snippet (by line), and the end of all output
    with the errors."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("HEARTH_", "CUDA_VISIBLE_"))
    }
    environment |= {"CUDA_VISIBLE_DEVICES": ""} | environment_of(page)
    with tempfile.TemporaryDirectory(prefix="hearth-guide-") as folder:
        mnist_files.write(Path(folder) / "data" / "mnist")
        done = subprocess.run(
            [os.path.abspath(program)],
            env=environment,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )
    printed = {}
    for line in done.stdout.replace(f"{namespace_of(page)}::", "").splitlines():
        if line.startswith(MARK):
            lines = printed.setdefault(int(line[len(MARK) :]), [])
        else:
            lines.append(line)
    return done.returncode, printed, done.stdout[-2000:] + done.stderr


def differences(printed, page):
    """Yields (snippet, printed lines, first different pair of lines) where the page differs."""
    for snippet in snippets_of(page):
        lines = printed.get(snippet.line)
        if snippet.output is None or lines is None:
            continue
        for shown, line in zip_longest(snippet.output, lines):
            if shown is None or line is None or not matches(shown, line):
                yield snippet, lines, (shown, line)
                break


def check(program, page):
    code, printed, text = run(program, page)
    if code:
        print(f"{program} failed with {code}:\n{text}")
    for snippet, lines, (shown, line) in differences(printed, page):
        print(
            f"{page}:{snippet.line}: the page shows\n    {shown}\n"
            f"and the program printed\n    {line}\n"
            "The snippet's whole output:",
            *lines,
            sep="\n",
        )
        code = 1
    return 1 if code else 0


def update(program, page):
    _, printed, _ = run(program, page)
    page_lines = page.read_text().splitlines()
    # From the end, so that line numbers stay right.
    for snippet, lines, _ in reversed(list(differences(printed, page))):
        fence = snippet.line + len(snippet.code)
        while page_lines[fence] != "```":
            fence += 1
        page_lines[fence + 1 : fence + 1 + len(snippet.output)] = lines
    page.write_text("\n".join(page_lines) + "\n")
    return 0


def main():
    if len(sys.argv) > 3 and sys.argv[1] == "write":
        Path(sys.argv[2]).write_text(program_of([Path(page) for page in sys.argv[3:]]))
        return 0
    actions = {
        "check": lambda program, page: check(program, Path(page)),
        "update": lambda program, page: update(program, Path(page)),
    }
    if len(sys.argv) == 4 and sys.argv[1] in actions:
        return actions[sys.argv[1]](*sys.argv[2:])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
