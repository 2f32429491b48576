#!/usr/bin/env bash
# overhead.sh <torch folder> [build folder]: runs bench/overhead.cpp with Hearth (the build's
# bench_overhead) and with the LibTorch in that folder (with include/ and lib/), in turn, and prints
# the best times of both in nanoseconds and Hearth's share of LibTorch's.
set -euo pipefail
torch=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${2:-$root/build/release}
runs=5

cmake --build "$build" --target bench_overhead >/dev/null
hearth_program=$(find "$build" -name bench_overhead -type f)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
g++ -std=c++20 -O2 -DNDEBUG -isystem "$torch/include" \
  -isystem "$torch/include/torch/csrc/api/include" "$root/bench/overhead.cpp" -o "$work/peer" \
  -L "$torch/lib" -Wl,-rpath,"$torch/lib" -Wl,--no-as-needed -ltorch -ltorch_cpu -lc10

for ((run = 0; run < runs; ++run)); do
  "$hearth_program" | sed 's/^/hearth /'
  "$work/peer" | sed 's/^/peer /'
done | awk -f "$root/bench/peer/ratio.awk" -v unit="ns per call" -v peer=LibTorch
