#!/usr/bin/env python3
"""Checks that public headers include no heavy headers, and that hearth.h is cheap to compile.

    check_headers.py [--all]: with --all also that each header, also of compat/, compiles alone.
"""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from check_layers import INCLUDE, ROOT, resolve

PUBLIC = ROOT / "include"
UMBRELLA = PUBLIC / "hearth" / "hearth.h"
MAX_HEADERS, MAX_LINES = 138, 16_368

# The cost of hearth.h is g++'s memory for it, divided by that for these headers
# (docs/adr/0006-weight-of-the-umbrella.md).
STANDARD_HEADERS = "functional memory optional string unordered_map vector".split()
MAX_COST = 2.69

FORBIDDEN = set("iostream sstream algorithm map regex filesystem thread future random ranges "
                "format chrono condition_variable".split())
STANDARD = re.compile(r"[a-z0-9_]+")  # the names of other libraries' headers have a dot or a slash
NO_CODE = re.compile(r"\s*(#\s*pragma once|//.*)?")

COMPILER = os.environ.get("CXX", "g++")
FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror",
         f"-I{PUBLIC}", f"-I{ROOT / 'compat'}"]


class Header:
    """A header and its text."""

    def __init__(self, file):
        self.file = file
        self.name = file.relative_to(ROOT).as_posix()
        lines = file.read_text().splitlines()
        code = [line for line in lines if not NO_CODE.fullmatch(line)]
        includes = [match[2] for line in code if (match := INCLUDE.match(line))]
        self.foreign = [name for name in includes if not resolve(name, file)]
        # A header that only includes others compiles alone if they do.
        self.only_includes = len(includes) == len(code) and not self.foreign

    def heavy_includes(self):
        for included in self.foreign:
            if not STANDARD.fullmatch(included):
                yield f"{self.name}: includes <{included}>, which is not the standard library's"
            elif included in FORBIDDEN:
                yield f"{self.name}: includes <{included}>, which public headers may not"

    def compile_errors(self):
        run = compile_text(f'#include "{self.file}"\n')
        return [f"{self.name} does not compile alone:\n{run.stderr}"] if run.returncode else []


def compile_text(text, *flags):
    return subprocess.run([COMPILER, *FLAGS, *flags, "-fsyntax-only", "-x", "c++", "-"],
                          input=text, capture_output=True, text=True)


def weigh(includes):
    """The files that these includes read, and the MB of memory that g++ needs for them.

    Memory is proportional to the time, but is the same in each run.
    """
    text = "".join(f"#include {name}\n" for name in includes)
    run = compile_text(text, "-ftime-report", "-MD", "-MF", "-")
    memory = re.search(r"^ TOTAL .* (\d+)M$", run.stderr, re.MULTILINE)
    if run.returncode or not memory:
        sys.exit(f"check_headers: {COMPILER} does not report its memory as g++ 12 does:\n"
                 f"{text}{run.stderr}")
    names = re.split(r"(?<!\\)\s+", run.stdout)  # a blank in a name has a backslash before it
    return {Path(name.replace("\\ ", " ")) for name in names}, int(memory[1])


def weigh_umbrella():
    """The size and cost of hearth.h as text, and a list of problems."""
    files, memory = weigh([f'"{UMBRELLA}"'])
    if UMBRELLA not in files:
        sys.exit("check_headers: the compiler's list of included files lacks hearth.h")
    problems = [f"hearth.h includes <{file.name}>, which public headers may not include"
                for file in files
                if file.name in FORBIDDEN and "c++" in file.parts]
    ours = [file for file in files if file.is_relative_to(ROOT)]
    count = sum(file.suffix == ".h" for file in ours)
    lines = sum(len(file.read_text().splitlines()) for file in ours)
    cost = memory / weigh(f"<{name}>" for name in STANDARD_HEADERS)[1]
    if count > MAX_HEADERS or lines > MAX_LINES or cost > MAX_COST:
        problems.append(f"hearth.h may include {MAX_HEADERS} headers and {MAX_LINES} lines, at "
                        f"{MAX_COST} times the standard headers' cost")
    return f"{count} headers, {lines} lines, {cost:.2f} times the standard headers' cost", problems


def main():
    public = [Header(file) for file in sorted(PUBLIC.rglob("*.h"))]
    compat = [Header(file) for file in sorted((ROOT / "compat").rglob("*.h"))]
    parts = [Header(file) for file in sorted(PUBLIC.rglob("*.inc"))]
    problems = [line for header in public + parts for line in header.heavy_includes()]
    to_compile = [header for header in public + compat
                  if "--all" in sys.argv[1:] and not header.only_includes]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for found in pool.map(Header.compile_errors, to_compile):
            problems += found
    summary = f"{len(public) + len(compat)} headers"
    if not problems:
        weight, problems = weigh_umbrella()
        summary += f"; hearth.h: {weight}"
    print("\n".join(problems + [f"check_headers: {'FAILED' if problems else 'ok'}, {summary}"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
