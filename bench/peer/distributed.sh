#!/usr/bin/env bash
# distributed.sh <python with PyTorch> [build folder]: times training steps with and without
# DistributedDataParallel alternately in Hearth (bench_distributed of the build folder) and in
# PyTorch. Prints the best times of both and their ratio, and two figures of DDP: its overhead
# per step, and how a small network scales to two processes with one thread each.
set -euo pipefail
python=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${2:-$root/build/bench}
runs=3

cmake --build "$build" --target bench_distributed >/dev/null
hearth_program=$(find "$build" -name bench_distributed -type f)
for ((run = 0; run < runs; ++run)); do
  "$hearth_program" | sed 's/^/hearth /'
  "$python" "$root/bench/peer/distributed.py" | sed 's/^/peer /'
done | awk -f "$root/bench/peer/ratio.awk" -v unit="us per step" -v peer=PyTorch | awk '
  { print; hearth[$1] = $2; peer[$1] = $3 }
  function overhead(times, kind) { return times["1_ranks.tiny." kind] - times["1_ranks.tiny.alone"] }
  function scaling(times) { return 2 * times["1_ranks.cnn.alone"] / times["2_ranks.cnn.ddp"] }
  END {
    for (n = split("ddp ddp_views", kinds, " "); n > 0; --n)
      printf "overhead of %s: %.1f us, PyTorch %.1f us, ratio %.3f\n", kinds[n],
             overhead(hearth, kinds[n]), overhead(peer, kinds[n]),
             overhead(hearth, kinds[n]) / overhead(peer, kinds[n])
    printf "scaling to 2 processes: %.2f, PyTorch %.2f\n", scaling(hearth), scaling(peer)
  }'
