#!/usr/bin/env bash
# train.sh <python with PyTorch, torchvision> [build folder]: times epochs of the tutorials' network on Fashion-MNIST,
# batch 1000, alternately in `hearth train` (of the build folder) and in a Python loop, without workers and with two.
# Prints the best times of both, and the ratio Hearth : PyTorch. The rows "images" and "tensors" differ in PyTorch only
# (train.py).
set -euo pipefail
python=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${2:-$root/build/bench}
runs=3 epochs=3

cmake --build "$build" --target hearth >/dev/null
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Prints the lines of `hearth train` with $1 workers.
train() {
  "$build/hearth" train --epochs $epochs --batch-size 1000 --num-workers "$1" --device cpu --no-tensorboard \
    --out "$work/run" >/dev/null 2>&1
  for name in images tensors; do
    awk -F, -v name="$name"_"$1" '
      NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "epoch_duration") column = i }
      NR > 1 { print $column * 1e3 }
    ' "$work/run/results.csv" | sort -n | awk -v name="$name"_"$1" '
      { time[NR] = $1 } END { print "hearth", name, time[1], time[int(NR / 2) + 1] }'
  done
  rm -rf "$work/run"
}

for ((run = 0; run < runs; ++run)); do
  for workers in 0 2; do
    train $workers
    "$python" "$root/bench/peer/train.py" $workers $epochs | sed 's/^/peer /'
  done
done | awk -f "$root/bench/peer/ratio.awk" -v unit="ms per epoch" -v peer=PyTorch
