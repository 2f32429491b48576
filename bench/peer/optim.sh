#!/usr/bin/env bash
# optim.sh <python with PyTorch> [build folder] [threads]: times one step of each optimizer
# alternately in Hearth (bench_optim of the build folder) and in PyTorch. Prints the best times of
# both in microseconds, and the ratio Hearth : PyTorch.
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
