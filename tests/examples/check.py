#!/usr/bin/env python3
"""check.py <program> <expected file>: runs an example without and with simulated GPUs and compares
its output with the expected file.

The expected file has the lines that the program prints. Runs of spaces may differ in length. In a
line, {number}, {int} and {word} match a number, an integer and a word, {any} matches any text, and
{~1.5} a number near 1.5 (to 1e-4: relative, or absolute below 1), {<1.5} a number below
1.5 and {>1.5} one above.
    cpu| line      expected only without a GPU
    gpu| line      expected only with two simulated GPUs
    $ arguments    the program's arguments: {scratch} (in the other lines, too) is the folder in
                   which it runs, {mnist} and {cifar10} are folders in it with small files in the
                   formats of MNIST and CIFAR-10
The program must succeed, or fail if the last expected line begins with "hearth: ".
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from itertools import zip_longest
from pathlib import Path

import cifar10_files
import mnist_files

TIMEOUT_S = 120
PATTERNS = {
    "{number}": r"\s*-?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf)",
    "{int}": r"-?\d+",
    "{word}": r"\S+",
    "{any}": r".*",
}
PLACEHOLDER = re.compile(r"(\{(?:number|int|word|any|[~<>][^}]*)\})")
TOLERANCE = 1e-4
COMPARISONS = {
    "~": lambda printed, wanted: abs(printed - wanted) <= TOLERANCE * max(1, abs(wanted)),
    "<": lambda printed, limit: printed < limit,
    ">": lambda printed, limit: printed > limit,
}
DATASETS = {"mnist": mnist_files, "cifar10": cifar10_files}
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


def matches(expected, line):
    """Whether the printed line matches the expected one."""
    conditions = []  # pairs of a comparison and the number to compare with

    def pattern_of(part):
        if PLACEHOLDER.fullmatch(part) and part[1] in COMPARISONS:
            conditions.append((COMPARISONS[part[1]], float(part[2:-1])))
            return f"({PATTERNS['{number}']})"
        return PATTERNS.get(part) or re.sub(r"(\\ |\\?\t)+", r"\\s+", re.escape(part))

    parts = PLACEHOLDER.split(expected.rstrip())
    match = re.fullmatch("".join(map(pattern_of, parts)) + r"\s*", line)
    return match is not None and all(
        compare(float(printed), number)
        for printed, (compare, number) in zip(match.groups(), conditions))


def complaint(program, file, device):
    """The difference between the program's output on the device and the expected file, or None."""
    arguments, expected = expectation(file, device)
    with tempfile.TemporaryDirectory(prefix="hearth-example-") as scratch:
        folders = {}
        for name, files in DATASETS.items():
            folders[name] = Path(scratch) / name
            if f"{{{name}}}" in arguments:
                files.write(folders[name])
        arguments = arguments.format(scratch=scratch, **folders)
        run = subprocess.run([program, *shlex.split(arguments)], env=environment(device),
                             cwd=scratch, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, timeout=TIMEOUT_S)
    printed = run.stdout.replace(scratch, "{scratch}").splitlines()
    status = 1 if expected and expected[-1].startswith("hearth: ") else 0
    for number, (wanted, line) in enumerate(zip_longest(expected, printed), 1):
        if wanted is None or line is None or not matches(wanted, line):
            return (f"line {number}\n  expected: {'(end of output)' if wanted is None else wanted}\n"
                    f"  printed:  {'(end of output)' if line is None else line}\nOutput:\n{run.stdout}")
    if run.returncode != status:
        return f"exit code {run.returncode}, not {status}; output:\n{run.stdout}"
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
