#!/usr/bin/env python3
"""compare.py <torch folder>: measures the rows of ROWS with Hearth and with LibTorch, alternately.

Prints a table of the medians of all runs and the ratio Hearth : LibTorch; a ratio above its limit
is marked. The programs are bench/overhead.cpp, ops.cpp and networks.cpp, compiled against both
libraries, and for the rows of `hearth train` peer/train.py, which the Python of the torch folder's
package runs; without torchvision or Debian's dataset-fashion-mnist these rows are left out. The
torch folder has include/ and lib/. The line above the table has the range of the times that a cache
line took from one core to another (core_distance.cpp), measured before each run.

  --threads 1,2   the numbers of threads (by default all cores); with 1 thread, each limit is at
                  least 1.1. The program overhead always has 1 thread, and its own limits
  --runs N        how often each program runs with each library (5)
  --build FOLDER  the build folder (build/bench)
  --avx2          both libraries without AVX-512; each limit is at least 1.0
  --only TEXT     only rows whose name contains the text
  --except TEXT   no rows whose name contains the text
  --program NAME  all rows that this program prints (overhead, ops, networks or train)
  --json FILE     writes the figures, the machine and the versions as JSON
  --readme        writes the table to README.md
  --check         compares nothing: fails unless README.md has a line for each row and the
                  programs print each row; needs no torch folder
"""

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
TRAIN = ROOT / "bench" / "peer" / "train.py"
DATASET = Path("/usr/share/datasets/fashion-mnist")
BEGIN, END = "<!-- bench/compare.py: begin -->\n", "<!-- bench/compare.py: end -->\n"

# The program, the row's name in its output, the row's name in the table, and the limit of the
# ratio.
ROWS = (
    ("overhead", "add", "add of 4 elements", 0.25),
    ("overhead", "add_grad", "add of 4 elements, recorded", 0.33),
    ("overhead", "mul_scalar", "4 elements times 2", 0.30),
    ("overhead", "slice_t", "slice and transpose", 0.30),
    ("overhead", "thousand_muls", "chain of 1,000 products, forward and backward", 0.22),
    ("networks", "simple_net_step", "step of a network 100-50-10, batch 64, Adam", 0.25),
    ("networks", "small_cnn_100_step", "step of the tutorials' CNN, batch 100", 0.30),
    ("networks", "small_cnn_1000_step", "step of the tutorials' CNN, batch 1000", 0.30),
    ("networks", "small_cnn_100", "inference of the tutorials' CNN, batch 100", 0.30),
    ("networks", "small_cnn_1000", "inference of the tutorials' CNN, batch 1000", 0.25),
    ("train", "train_images", "an epoch of `hearth train`, batch 1000; PyTorch: images of torchvision",
     0.25),
    ("train", "train_tensors", "the same; PyTorch: tensors in memory", 0.25),
    ("networks", "block_64_step", "residual block of 64 channels, forward and backward", 0.80),
    ("networks", "encoder_layer_step", "TransformerEncoderLayer, forward and backward", 0.6),
    ("networks", "lstm_step", "LSTM, forward and backward", 0.7),
    ("ops", "mm_bf16_16", "product of bfloat16 matrices of 16 x 16", 1.0),
    ("ops", "mm_bf16_4000", "product of bfloat16 matrices of 4000 x 4000", 1.0),
    ("ops", "mm_1000", "product of float32 matrices of 1000 x 1000", 0.95),
    ("ops", "transpose", "copy of a transposed matrix of 4096 x 4096", 0.25),
    ("ops", "softmax", "softmax of 4096 x 4096", 0.35),
    ("ops", "relu_1m", "relu of a million elements", 1.0),
    ("ops", "sum_1m", "sum of a million elements", 1.0),
    ("ops", "scatter_add_1m", "scatter_add of a million elements", 0.6),
    ("ops", "cumsum_1m", "cumsum of a million elements", 0.8),
    ("ops", "topk_1m", "topk(100) of a million elements", 0.4),
    ("ops", "sort_1m", "sort of a million elements", 0.1),
    ("ops", "gather_1m", "gather of a million elements", 0.6),
    ("ops", "index_1m", "index of a million elements", 0.45),
    ("ops", "randn_1m", "randn of a million elements", 0.6),
)


def hearth_command(build, program):
    """The command that runs the benchmark of the build folder, built if necessary."""
    target = "hearth" if program == "train" else f"bench_{program}"
    subprocess.run(["cmake", "--build", build, "--target", target], check=True,
                   stdout=subprocess.DEVNULL)
    path = next(path for path in Path(build).rglob(target) if path.is_file())
    return [sys.executable, TRAIN, "--hearth", path] if program == "train" else [path]


def python_of(torch):
    """The Python interpreter of the environment whose lib/python3.x/site-packages has the package."""
    return Path(torch).resolve() / "../../../../bin/python"


def can_train(torch):
    """Whether train.py has what it needs."""
    return DATASET.is_dir() and python_of(torch).exists() and subprocess.run(
        [python_of(torch), "-c", "import torchvision"], capture_output=True).returncode == 0


def peer_command(build, torch, program):
    """The command that runs the same benchmark with LibTorch or PyTorch."""
    return [python_of(torch), TRAIN] if program == "train" else [build_peer(build, torch, program)]


def build_peer(build, torch, program):
    """The same benchmark with LibTorch, compiled again if its sources are newer."""
    source = ROOT / "bench" / f"{program}.cpp"
    result = Path(build) / "peer" / program
    newest = max(path.stat().st_mtime for path in (source, ROOT / "bench" / "measure.h"))
    if result.exists() and result.stat().st_mtime > newest:
        return result
    result.parent.mkdir(exist_ok=True)
    subprocess.run(["g++", "-std=c++20", "-O2", "-DNDEBUG", "-w", "-isystem", f"{torch}/include",
                    "-isystem", f"{torch}/include/torch/csrc/api/include", source, "-o", result,
                    f"-L{torch}/lib", f"-Wl,-rpath,{torch}/lib", "-Wl,--no-as-needed", "-ltorch",
                    "-ltorch_cpu", "-lc10"], check=True)
    return result


def run(command, names, threads, avx2):
    """The median times that the benchmark prints for the named rows, or for all."""
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads))
    if avx2:
        environment.update(HEARTH_ISA="avx2", ATEN_CPU_CAPABILITY="avx2",
                           ONEDNN_MAX_CPU_ISA="AVX2", OPENBLAS_CORETYPE="Haswell",
                           MKL_ENABLE_INSTRUCTIONS="AVX2")
    output = subprocess.run([*command, *names], check=True, text=True, env=environment,
                            capture_output=True).stdout
    times = {line.split()[0]: float(line.split()[2]) for line in output.splitlines()}
    missing = [name for name in names if name not in times]
    if missing:
        sys.exit(f"compare.py: {Path(command[-1]).name} does not print {', '.join(missing)}")
    return {name: times[name] for name in names or times}


def measure(program, names, args, threads):
    """The medians of both libraries for the named rows of a program, or for all."""
    commands = (hearth_command(args.build, program), peer_command(args.build, args.torch, program))
    distance = hearth_command(args.build, "core_distance")
    runs = []
    for _ in range(args.runs):
        args.distances += run(distance, [], threads, False).values()
        runs.append([run(command, names, threads, args.avx2) for command in commands])
    return {name: [statistics.median(pair[i][name] for pair in runs) for i in range(2)]
            for name in runs[0][0]}


def figures_of(program, rows, args, threads):
    """The table's rows of a program; without `rows`, of all that it prints."""
    medians = measure(program, [row[1] for row in rows], args, threads)
    rows = rows or [(program, name, name, None) for name in medians]
    for _, name, title, limit in rows:
        hearth, libtorch = medians[name]
        if limit is not None:
            limit = max(limit, 1.1 if threads == 1 and program != "overhead" else 0,
                        1.0 if args.avx2 else 0)
        yield {"row": title, "threads": threads, "hearth": hearth, "libtorch": libtorch,
               "unit": "ns" if program == "overhead" else "us",
               "ratio": round(hearth / libtorch, 3), "limit": limit}


def machine(args):
    """The machine, the versions and the number of runs."""
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    version = re.search(r"hearth VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    library = Path(args.torch) / "version.py"
    peer = re.search(r"__version__ = '([^']+)'", library.read_text()) if library.exists() else None
    return {"cpu": cpu[1] if cpu else platform.machine(), "cores": len(os.sched_getaffinity(0)),
            "hearth": version, "libtorch": peer[1] if peer else "unknown", "runs": args.runs,
            "core_distances": args.distances, "instructions": "AVX2" if args.avx2 else "all"}


def duration(value, unit):
    """A time with three digits, in the unit that suits it."""
    # The format # keeps trailing zeros, but also the point of "123.".
    seconds = value * {"ns": 1e-9, "us": 1e-6}[unit]
    for name, scale in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:#.3g} {name}".replace(". ", " ")
    return f"{seconds / 1e-9:#.3g} ns".replace(". ", " ")


def markdown(figures, about):
    """The table, with a line about the machine."""
    distances = about["core_distances"]
    distance = f", {min(distances):.0f} to {max(distances):.0f} ns apart" if distances else ""
    lines = [f"Medians of {about['runs']} alternated runs on {about['cores']} cores "
             f"({about['cpu']}{distance}); Hearth {about['hearth']}, LibTorch {about['libtorch']}, "
             f"instructions: {about['instructions']}.", "",
             "| | threads | Hearth | LibTorch | ratio | limit |", "|---|---|---|---|---|---|"]
    for f in figures:
        limit = "" if f["limit"] is None else f"{f['limit']:.2f}"
        mark = " (behind)" if limit and f["ratio"] > f["limit"] else ""
        lines.append(f"| {f['row']} | {f['threads']} | {duration(f['hearth'], f['unit'])} | "
                     f"{duration(f['libtorch'], f['unit'])} | {f['ratio']:.2f}{mark} | {limit} |")
    return "\n".join(lines) + "\n"


def by_program(rows):
    """{program: its rows}."""
    programs = {}
    for row in rows:
        programs.setdefault(row[0], []).append(row)
    return programs


def write_readme(table):
    text = README.read_text()
    if BEGIN not in text or END not in text:
        sys.exit(f"compare.py: README.md has no lines {BEGIN.strip()} and {END.strip()}")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    README.write_text(before + BEGIN + "\n" + table + "\n" + END + after)


def check(build):
    """Fails unless README.md's table has the rows, and the programs print them."""
    text = README.read_text()
    table = text.split(BEGIN)[1].split(END)[0] if BEGIN in text and END in text else ""
    missing = [row[2] for row in ROWS if f"| {row[2]} |" not in table]
    if missing:
        sys.exit("compare.py: README.md lacks the rows " + "; ".join(missing) +
                 " (bench/compare.py <torch folder> --readme writes them)")
    for program, rows in by_program(ROWS).items():
        if program == "train" and not DATASET.is_dir():
            continue
        run(hearth_command(build, program), [row[1] for row in rows],
            len(os.sched_getaffinity(0)), avx2=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("torch", nargs="?")
    parser.add_argument("--build", default=ROOT / "build" / "bench")
    parser.add_argument("--threads", default=str(len(os.sched_getaffinity(0))))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--except", dest="left_out")
    parser.add_argument("--program")
    parser.add_argument("--avx2", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--readme", action="store_true")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    if args.check:
        return check(args.build)
    if not args.torch or not (Path(args.torch) / "include").is_dir():
        parser.error("the torch folder must have include/ and lib/")
    programs = by_program(row for row in ROWS if args.only in row[2] and
                          (not args.left_out or args.left_out not in row[2]))
    if args.program:
        programs = {args.program: []}
    if "train" in programs and not can_train(args.torch):
        print("compare.py: leaves out `hearth train`, without torchvision or Fashion-MNIST",
              file=sys.stderr)
        del programs["train"]
    if args.readme and ("train" not in programs or args.only or args.left_out or args.program or
                        args.avx2):
        parser.error("--readme needs all rows and all instructions")
    args.distances = []
    threads = [int(number) for number in args.threads.split(",")]
    figures = [figure for program, rows in programs.items()
               for count in ([1] if program == "overhead" else threads)  # it sets 1 thread itself
               for figure in figures_of(program, rows, args, count)]
    about = machine(args)
    table = markdown(figures, about)
    print(table, end="")
    if args.json:
        Path(args.json).write_text(json.dumps({**about, "rows": figures}, indent=1) + "\n")
    if args.readme:
        write_readme(table)


if __name__ == "__main__":
    main()
