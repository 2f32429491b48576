#!/usr/bin/env python3
"""Compiles and runs the same calls of operators (overload_cases.py) with LibTorch and with Hearth.
Compares which calls compile, and their results, to check that both libraries choose the same
overload and throw the same errors.

    tests/oracle/overloads.py <folder of LibTorch or Python's torch> <build folder with libhearth.so>

overloads_known.txt lists the intended differences; any other difference is a failure. The results of a library are
cached in the build folder until the calls or the library change.
"""

import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys

import overload_cases

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FLAGS = ["g++", "-std=c++20", "-O0", "-w"]
MISSING = "does not compile"


def compile_once(command, target, sources):
    """Runs the command unless the target is newer than its sources."""
    if target.exists() and all(s.stat().st_mtime <= target.stat().st_mtime for s in sources):
        return
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr[:4000]}")


def build(folder, sources, includes, libraries, jobs):
    """Builds the program from these sources, with the shared header precompiled."""
    folder.mkdir(exist_ok=True)
    header = folder / "overloads.h"
    overload_cases.replace(header, (HERE / "overloads.h").read_text())
    flags = FLAGS + [f"-I{i}" for i in [folder] + includes]
    built_with = [header] + [h for i in includes if ROOT in i.parents for h in i.rglob("*.*")]
    compiled = folder / "overloads.h.gch"
    compile_once(flags + ["-x", "c++-header", header, "-o", compiled], compiled, built_with)
    objects = [folder / (source.stem + ".o") for source in sources]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        tasks = [pool.submit(compile_once, flags + ["-c", source, "-o", o], o, [source, compiled])
                for source, o in zip(sources, objects)]
        for task in tasks:
            task.result()
    program = folder / "overloads"
    files = [library for library in libraries if isinstance(library, pathlib.Path)]
    compile_once(["g++", *objects, *libraries, "-o", program], program, objects + files)
    return program


def lines_of(program, folder):
    """The program's results by case, cached in a file."""
    cache = folder / "lines.txt"
    if not cache.exists() or cache.stat().st_mtime < program.stat().st_mtime:
        done = subprocess.run([program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if done.returncode != 0:
            sys.exit(f"{program} ended with {done.returncode} after {done.stdout.splitlines()[-1:]}")
        cache.write_text(done.stdout)
    return dict(line.split("\t", 1) for line in cache.read_text().splitlines() if "\t" in line)


def error_type(result):
    return result.split(":", 1)[0] if result.startswith("!") else result


def are_close(torch, hearth):
    """Whether both results have the same words and, within a tolerance, the same numbers."""
    words = list(zip(torch.split(), hearth.split()))
    if len(torch.split()) != len(hearth.split()):
        return False
    for a, b in words:
        if a != b:
            try:
                x, y = float(a.strip(";")), float(b.strip(";"))
            except ValueError:
                return False
            if abs(x - y) > 2e-3 * max(abs(x), abs(y)) + 1e-5:
                return False
    return True


def difference(torch, hearth):
    """The way in which the results differ, as in overloads_known.txt, or ""."""
    if torch == hearth or not torch.startswith("!") and are_close(torch, hearth):
        return ""
    if torch == MISSING:
        return "more"
    if hearth == MISSING:
        return "compile"
    if hearth.startswith("!signal"):
        return "crash"
    if torch.startswith("!signal"):
        return "" if hearth.startswith("!") else "value"
    if torch.startswith("!") and hearth.startswith("!"):
        return "text" if error_type(torch) == error_type(hearth) else "kind"
    return "value"


def read_known(path):
    """[(way, pattern, reason, times used)] of lines 'way pattern # reason'."""
    result = []
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            rule, _, reason = line.partition(" # ")
            way, _, pattern = rule.strip().partition(" ")
            if not reason or way not in ("more", "compile", "crash", "text", "kind", "value"):
                sys.exit(f"{path}: '{line}' has no reason or no known way to differ")
            result.append([way, re.compile(pattern.strip()), reason, 0])
    return result


def is_known(known, way, case, torch, hearth):
    text = f"{case}\t{torch}\t{hearth}"
    for rule in known:
        if rule[0] == way and rule[1].search(text):
            rule[3] += 1
            return True
    return False


def compare(torch, hearth, known):
    """The texts of all differences that are not known."""
    found = []
    for case, expected in torch.items():
        got = hearth.get(case, MISSING)
        way = difference(expected, got)
        if way and not is_known(known, way, case, expected, got):
            found.append(f"{way:8}{case}\n    LibTorch: {expected}\n    Hearth:   {got}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("torch", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", choices=["torch", "hearth"], help="build and run this library only, compare nothing")
    args = parser.parse_args()
    torch, folder = args.torch.resolve(), args.build.resolve() / "overloads"
    folder.mkdir(exist_ok=True)
    cases = overload_cases.cases(torch, ROOT)
    sources = overload_cases.write(cases, folder) + [HERE / "overloads_main.cpp"]
    result = {}
    sides = {
        "torch": ([torch / "include", torch / "include/torch/csrc/api/include"],
                  [f"-L{torch}/lib", f"-Wl,-rpath,{torch}/lib", "-Wl,--no-as-needed", "-ltorch",
                   "-ltorch_cpu", "-lc10"]),
        "hearth": ([ROOT / "compat", ROOT / "include"],
                   [args.build.resolve() / "libhearth.so", f"-Wl,-rpath,{args.build.resolve()}"]),
    }
    for side, (includes, libraries) in sides.items():
        if args.only in (None, side):
            program = build(folder / side, sources, includes, libraries, args.jobs)
            result[side] = lines_of(program, folder / side)
    if args.only:
        return
    known = read_known(HERE / "overloads_known.txt")
    found = compare(result["torch"], result["hearth"], known)
    print("\n".join(found))
    for way, pattern, reason, times in known:
        print(f"{times:6} known: {way} {pattern.pattern} # {reason}")
        if times == 0:
            found.append("an unused rule")
    print(f"{len(result['torch'])} calls, {len(found)} differences that are not known or rules that are not used")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
