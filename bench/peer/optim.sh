#!/usr/bin/env bash
# optim.sh <python with PyTorch> [build folder] [threads]: one step of each optimizer by Hearth (the
# build's bench_optim) and by PyTorch, in turn, best times in microseconds and Hearth's share.
set -euo pipefail
python=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${2:-$root/build/bench}
threads=${3:-1}
runs=3

cmake --build "$build" --target bench_optim >/dev/null
hearth_program=$(find "$build" -name bench_optim -type f)
for ((run = 0; run < runs; ++run)); do
  "$hearth_program" "$threads" | sed 's/^/hearth /'
  "$python" "$root/bench/peer/optim.py" "$threads" | sed 's/^/peer /'
done | awk -f "$root/bench/peer/ratio.awk" -v unit="us per step" -v peer=PyTorch
