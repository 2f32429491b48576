#!/usr/bin/env python3
"""check.py <program> <expected file>: runs an example without and with simulated GPUs and compares
what it prints.

A line of the expected file is what the program prints, a run of spaces standing for any other.
In it, {number}, {int}, {word} and {any} stand for one of these.
    ...            any lines, or none
    cpu| line      only where there is no GPU
    gpu| line      only where there are two simulated GPUs
    $ arguments    what the program is given: {scratch} is a folder of the run's own, {mnist} one with
                   small files in MNIST's form
If the last line begins with "hearth: ", the program must have failed, and otherwise not.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import mnist_files

TIMEOUT_S = 120
PATTERNS = {
    "{number}": r"\s*-?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf)",
    "{int}": r"-?\d+",
    "{word}": r"\S+",
    "{any}": r".*",
}
DEVICES = {"cpu": {}, "gpu": {"HEARTH_SIM_GPUS": "2"}}


def environment(device):
    variables = {name: value for name, value in os.environ.items()
                 if not name.startswith(("HEARTH_SIM_", "CUDA_VISIBLE_"))}
    return variables | DEVICES[device] | {"CUDA_VISIBLE_DEVICES": ""}


def expectation(file, device):
    """The arguments and the expected lines."""
    arguments, lines = "", []
    for line in file.read_text().splitlines():
        if line.startswith("$ "):
            arguments = line[2:]
        elif match := re.match(r"(cpu|gpu)\|(?: (.*))?$", line):
            if match[1] == device:
                lines.append(match[2] or "")
        else:
            lines.append(line)
    return arguments, lines


def line_pattern(line):
    parts = re.split("(" + "|".join(map(re.escape, PATTERNS)) + ")", line.rstrip())
    escaped = (PATTERNS.get(part) or re.sub(r"(\\ |\\?\t)+", r"\\s+", re.escape(part))
               for part in parts)
    return re.compile("".join(escaped) + r"\s*")


def first_difference(expected, printed):
    """The numbers of the first lines that do not fit, or None."""
    wanted, had = 0, 0
    while wanted < len(expected):
        if expected[wanted] == "...":
            rest = expected[wanted + 1:]
            starts = range(had, len(printed) + 1)
            if any(first_difference(rest, printed[start:]) is None for start in starts):
                return None
            return wanted, had
        if had == len(printed) or not line_pattern(expected[wanted]).fullmatch(printed[had]):
            return wanted, had
        wanted, had = wanted + 1, had + 1
    return None if had == len(printed) else (wanted, had)


def complaint(program, file, device):
    """What is wrong with the program's run on this kind of device, or None."""
    arguments, expected = expectation(file, device)
    with tempfile.TemporaryDirectory(prefix="hearth-example-") as scratch:
        if "{mnist}" in arguments:
            mnist_files.write(Path(scratch) / "mnist")
        arguments = arguments.format(scratch=scratch, mnist=f"{scratch}/mnist")
        run = subprocess.run([program, *shlex.split(arguments)], env=environment(device),
                             cwd=scratch, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, timeout=TIMEOUT_S)
    printed = run.stdout.replace(scratch, "{scratch}").splitlines()
    status = 1 if expected and expected[-1].startswith("hearth: ") else 0
    if difference := first_difference(expected, printed):
        line = lambda lines, number: lines[number] if number < len(lines) else "(the end)"
        return (f"line {difference[1] + 1}\n  expected: {line(expected, difference[0])}\n"
                f"  printed:  {line(printed, difference[1])}\nIt printed:\n{run.stdout}")
    if run.returncode != status:
        return f"exit code {run.returncode}, not {status}; it printed:\n{run.stdout}"
    return None


def main():
    program, file = sys.argv[1], Path(sys.argv[2])
    complaints = [(device, complaint(program, file, device)) for device in DEVICES]
    for device, text in complaints:
        if text:
            print(f"{program} on {device}: {text}")
    return any(text for _, text in complaints)


if __name__ == "__main__":
    sys.exit(main())
