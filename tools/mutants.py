#!/usr/bin/env python3
"""Applies mutants (small mistakes) to a copy of the sources, one at a time, and reports which of them
a test catches. tools/mutants.sh prepares the copy and calls this. tools/mutants/<folder>.txt and
<folder>.<part>.txt have the mutants that a test of tests/<folder> must catch:

    = name
    @ file
    - text that occurs exactly once in the file (one - for each line)
    + the text that replaces it
    ! filter of tests; one of the matching tests must fail. NAME=VALUE before it sets a variable of
      the environment

    tools/mutants.py <copy> <build> [part of a name or file]...
    tools/mutants.py --check     checks only that each mutant can still be applied to the sources
"""

import os
import pathlib
import re
import subprocess
import sys

TABLES = pathlib.Path(__file__).with_name("mutants")
LIMIT = 300  # seconds for a test program; a hang counts as caught


class Mutant:
    def __init__(self, name, program):
        self.name, self.program, self.file, self.filter = name, program, "", ""
        self.old, self.new = [], []

    def problem(self, copy):
        """Why the mutant cannot be applied or tested, or None."""
        if not self.filter:
            return "it has no filter of tests"
        found = (copy / self.file).read_text().count("\n".join(self.old)) if self.file else 0
        return None if found == 1 else f"its text occurs {found} times"


def read_table(path):
    mutants = []
    for line in path.read_text().splitlines():
        kind, rest = line[:1], line[2:]
        if kind == "=":
            mutants.append(Mutant(rest, f"test_{path.name.split('.')[0]}"))
        elif kind == "@":
            mutants[-1].file = rest
        elif kind == "-":
            mutants[-1].old.append(rest)
        elif kind == "+":
            mutants[-1].new.append(rest)
        elif kind == "!":
            mutants[-1].filter = rest
    return mutants


def read_tables():
    return [mutant for path in sorted(TABLES.glob("*.txt")) for mutant in read_table(path)]


def build(folder, program):
    return subprocess.run(["ninja", "-C", folder, program], capture_output=True, text=True)


def run(folder, program, tests):
    """(all tests passed, the first failed test or the exit code, number of tests that passed or, if
    it is not printed, 1)"""
    *variables, test_filter = tests.split()
    environment = {**os.environ, **dict(variable.split("=", 1) for variable in variables)}
    command = [f"{folder}/{program}", f"--gtest_filter={test_filter}", "--gtest_brief=1"]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT,
                                errors="replace", env=environment)
    except subprocess.TimeoutExpired:
        return False, "timed out", 1
    ran = re.search(r"\[  PASSED  \] (\d+) test", result.stdout)
    failed = re.search(r"\[  FAILED  \] ([^\s,]+)", result.stdout)
    reason = failed.group(1) if failed else f"ended with {result.returncode}"
    return result.returncode == 0, reason, int(ran.group(1)) if ran else 1


def try_mutant(mutant, copy, folder):
    """(outcome, details)"""
    if problem := mutant.problem(copy):
        return "STALE", problem
    path = copy / mutant.file
    before = path.read_text()
    try:
        path.write_text(before.replace("\n".join(mutant.old), "\n".join(mutant.new)))
        built = build(folder, mutant.program)
        if built.returncode != 0:
            errors = [line for line in built.stdout.splitlines() if "error" in line]
            return "DOES NOT COMPILE", errors[0] if errors else "no error found"
        passed, reason, _ = run(folder, mutant.program, mutant.filter)
        return ("MISSED", mutant.filter) if passed else ("caught", reason)
    finally:
        path.write_text(before)


def unmutated(mutants, folder):
    """The problem of a build or test without mutants, or None."""
    filters = {}
    for mutant in mutants:
        filters.setdefault(mutant.program, {})[mutant.filter] = mutant.name
    for program, tests in filters.items():
        if (built := build(folder, program)).returncode != 0:
            return f"{program} does not build:\n{built.stdout[-2000:]}"
        for test_filter, name in tests.items():
            passed, reason, ran = run(folder, program, test_filter)
            if not passed:
                return f"{program} fails without mutants: {reason}"
            if ran == 0:
                return f"{name}: no test matches {test_filter}, or all are skipped"
    return None


def check():
    sources = TABLES.parent.parent
    stale = [(m, problem) for m in read_tables() if (problem := m.problem(sources))]
    for mutant, problem in stale:
        print(f"tools/mutants, {mutant.program}: {mutant.name} ({mutant.file}): {problem}")
    return bool(stale)


def main():
    if sys.argv[1:] == ["--check"]:
        return check()
    copy, folder, wanted = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    mutants = [m for m in read_tables() if not wanted or any(w in m.name or w in m.file for w in wanted)]
    if problem := unmutated(mutants, folder):
        sys.exit(problem)
    outcomes = []
    for mutant in mutants:
        outcome, reason = try_mutant(mutant, copy, folder)
        outcomes.append(outcome)
        print(f"{outcome:8}  {mutant.name}  ({mutant.file}): {reason}", flush=True)
    caught = outcomes.count("caught")
    print(f"{len(outcomes)} mutants, {caught} caught, {len(outcomes) - caught} not")
    return caught != len(outcomes)


if __name__ == "__main__":
    sys.exit(main())
