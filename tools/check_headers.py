#!/usr/bin/env python3
"""Checks that each public header compiles alone and is light, and so is the umbrella."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from check_layers import INCLUDE, ROOT, resolve

PUBLIC = ROOT / "include"
UMBRELLA = PUBLIC / "hearth" / "hearth.h"
MAX_HEADERS, MAX_LINES = 100, 10_000
MAX_COST = 3.0  # g++'s memory, in those of the next (docs/adr/0006-weight-of-the-umbrella.md)
STANDARD_HEADERS = "functional memory optional string unordered_map vector".split()

FORBIDDEN = set("iostream sstream algorithm map regex filesystem thread future random ranges "
                "format chrono condition_variable".split())
ALLOWED_IN = {"chrono": re.compile(r"hearth/data(/.*|\.h)")}
STANDARD = re.compile(r"[a-z0-9_]+")

COMPILER = os.environ.get("CXX", "g++")
FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror",
         f"-I{PUBLIC}", f"-I{ROOT / 'compat'}"]


def heavy_includes(header):
    name = header.relative_to(PUBLIC).as_posix()
    for line in header.read_text().splitlines():
        match = INCLUDE.match(line)
        if not match:
            continue
        bracket, included = match.groups()
        if bracket == '"' and resolve(included, header):  # check_layers sees to these
            continue
        if included in ALLOWED_IN and ALLOWED_IN[included].fullmatch(name):
            continue
        if included in FORBIDDEN:
            yield f"{name}: includes <{included}>, which public headers may not"
        elif not STANDARD.fullmatch(included):
            yield f"{name}: includes <{included}>, which is not the standard library's"


def only_includes(header):
    """Whether a header compiles alone because those that it includes do."""
    lines = [line for line in header.read_text().splitlines()
             if not re.fullmatch(r"\s*(#\s*pragma once|//.*)?", line)]
    return all((match := INCLUDE.match(line)) and resolve(match[2], header) for line in lines)


def check_syntax(text, *flags):
    return subprocess.run([COMPILER, *FLAGS, *flags, "-fsyntax-only", "-x", "c++", "-"],
                          input=text, capture_output=True, text=True)


def compile_alone(header):
    """The compiler's complaints about a file that includes nothing but this header."""
    run = check_syntax(f'#include "{header}"\n')
    if run.returncode == 0:
        return []
    return [f"{header.relative_to(ROOT)} does not compile alone:\n{run.stderr}"]


def memory_for(headers):
    """What g++ needs to read the headers: what their time depends on, and the same each time."""
    run = check_syntax("".join(f"#include <{header}>\n" for header in headers), "-ftime-report")
    total = re.search(r"^ TOTAL .* (\d+)M$", run.stderr, re.MULTILINE)
    if not total:
        sys.exit(f"check_headers: {COMPILER} does not report its memory as g++ 12 does")
    return int(total[1])


def umbrella_cost():
    return memory_for(["hearth/hearth.h"]) / memory_for(STANDARD_HEADERS)


def umbrella_weight():
    """How many project headers the umbrella pulls in, and the lines of these and .inc files."""
    run = subprocess.run([COMPILER, *FLAGS, "-M", str(UMBRELLA)],
                         capture_output=True, text=True, check=True)
    prefix = str(ROOT) + "/"
    files = {word for word in run.stdout.split() if word.startswith(prefix)}
    lines = sum(len(Path(file).read_text().splitlines()) for file in files)
    return sum(file.endswith(".h") for file in files), lines


def main():
    headers = sorted(PUBLIC.rglob("*.h"))
    compat = sorted((ROOT / "compat").rglob("*.h"))
    texts = headers + sorted(PUBLIC.rglob("*.inc"))
    problems = [line for text in texts for line in heavy_includes(text)]
    to_compile = [header for header in headers + compat if not only_includes(header)]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for found in pool.map(compile_alone, to_compile):
            problems += found
    summary = f"{len(headers) + len(compat)} headers"
    if not problems:
        (count, lines), cost = umbrella_weight(), umbrella_cost()
        summary += (f"; hearth.h pulls in {count} of them, {lines} lines, at {cost:.1f} times the "
                    "standard headers' cost")
        if count > MAX_HEADERS or lines > MAX_LINES or cost > MAX_COST:
            problems.append(f"hearth.h may pull in {MAX_HEADERS} headers and {MAX_LINES} lines, at "
                            f"{MAX_COST} times the standard headers' cost")
    print("\n".join(problems + [f"check_headers: {'FAILED' if problems else 'ok'}, {summary}"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
