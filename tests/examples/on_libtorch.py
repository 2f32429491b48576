#!/usr/bin/env python3
"""on_libtorch.py <torch folder> <build folder> [program...]: compiles the programs of
examples/libtorch with a real LibTorch, whose folder has include/ and lib/, and compares their
output with that of the same programs in the build folder. Numbers may differ by 1e-4 (relative, or
absolute below 1)."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import check
import mnist_files

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "examples" / "libtorch"
NUMBER = re.compile(check.PATTERNS["{number}"].removeprefix(r"\s*"))
# LibTorch's reader accepts no other counts.
MNIST_COUNTS = {"train": 60000, "test": 10000}
ARGUMENTS = {"mnist": ["mnist", "2", "60"]}  # folder, epochs, batches of each


def compile_with(torch, *arguments):
    subprocess.run(["g++", "-std=c++20", "-O0", "-isystem", f"{torch}/include", "-isystem",
                    f"{torch}/include/torch/csrc/api/include", *arguments], check=True)


def precompile(torch, header):
    header.write_text("#include <torch/torch.h>\n")
    compile_with(torch, "-x", "c++-header", header, "-o", f"{header}.gch")


def build_with(torch, header, source, program):
    compile_with(torch, "-include", header, source, "-o", program, f"-L{torch}/lib",
                 f"-Wl,-rpath,{torch}/lib", "-Wl,--no-as-needed", "-ltorch", "-ltorch_cpu", "-lc10")


def output_of(program, folder):
    run = subprocess.run([program, *ARGUMENTS.get(Path(program).name, [])], cwd=folder,
                         env=check.environment("cpu"), capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{program} failed:\n{run.stdout}{run.stderr}")
    return run.stdout


def difference(ours, theirs):
    """The largest difference of the numbers, or None if the texts around them differ."""
    if NUMBER.sub("#", ours) != NUMBER.sub("#", theirs):
        return None
    pairs = zip(map(float, NUMBER.findall(ours)), map(float, NUMBER.findall(theirs)))
    return max((abs(a - b) / max(1, abs(b)) for a, b in pairs), default=0.0)


def main():
    torch, build = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    names = sys.argv[3:] or sorted(path.stem for path in PROGRAMS.glob("*.cpp"))
    failures = 0
    with tempfile.TemporaryDirectory(prefix="hearth-libtorch-") as work:
        work = Path(work)
        if "mnist" in names:
            mnist_files.write(work / "mnist", **MNIST_COUNTS)
        precompile(torch, work / "all.h")
        for name in names:
            theirs = work / "bin" / name
            theirs.parent.mkdir(exist_ok=True)
            build_with(torch, work / "all.h", PROGRAMS / f"{name}.cpp", theirs)
            printed = output_of(build / "examples/libtorch" / name, work), output_of(theirs, work)
            largest = difference(*printed)
            is_equal = largest is not None and largest <= check.TOLERANCE
            failures += not is_equal
            count = len(NUMBER.findall(printed[1]))
            print(f"{name:20} {count:4} numbers, largest difference {largest}", flush=True)
            if not is_equal:
                print(f"Hearth:\n{printed[0]}LibTorch:\n{printed[1]}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
