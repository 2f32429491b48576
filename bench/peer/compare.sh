#!/usr/bin/env bash
# compare.sh <program> <torch folder> [build folder]: runs bench/<program>.cpp (overhead, ops or networks)
# alternately with Hearth and with the LibTorch in <torch folder> (which holds include/ and lib/).
# Prints the best times of both in the program's unit, and the ratio Hearth : LibTorch.
set -euo pipefail
program=$1 torch=$2
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${3:-$root/build/bench}
runs=${RUNS:-5}

cmake --build "$build" --target "bench_$program" >/dev/null
hearth_program=$(find "$build" -name "bench_$program" -type f)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
g++ -std=c++20 -O2 -DNDEBUG -isystem "$torch/include" \
  -isystem "$torch/include/torch/csrc/api/include" "$root/bench/$program.cpp" -o "$work/peer" \
  -L "$torch/lib" -Wl,-rpath,"$torch/lib" -Wl,--no-as-needed -ltorch -ltorch_cpu -lc10

for ((run = 0; run < runs; ++run)); do
  "$hearth_program" | sed 's/^/hearth /'
  "$work/peer" | sed 's/^/peer /'
done | awk -f "$root/bench/peer/ratio.awk" -v unit="best times" -v peer=LibTorch
