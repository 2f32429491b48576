#!/usr/bin/env bash
# data.sh <python with PyTorch and torchvision> [build folder]: times the loading of Fashion-MNIST, in three ways
# and for several epochs each, alternately by Hearth (bench_data of the build folder) and by PyTorch. Prints the best
# times of both per batch, their ratio Hearth : PyTorch, and the ratio of the medians.
set -euo pipefail
python=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${2:-$root/build/bench}
runs=3

cmake --build "$build" --target bench_data >/dev/null
hearth_program=$(find "$build" -name bench_data -type f)
for ((run = 0; run < runs; ++run)); do
  "$hearth_program" | sed 's/^/hearth /'
  "$python" "$root/bench/peer/data.py" | sed 's/^/peer /'
done | awk -f "$root/bench/peer/ratio.awk" -v unit="us per batch" -v peer=PyTorch
