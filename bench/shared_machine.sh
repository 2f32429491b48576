#!/usr/bin/env bash
# shared_machine.sh [torch folder] [build folder]: times a training run alone and beside one busy
# process, with Hearth and, if a LibTorch folder (with include/ and lib/) is given, with LibTorch.
# Prints median seconds.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
torch=${1:-} build=${2:-$root/build/bench}
runs=${RUNS:-5}

cmake --build "$build" --target bench_shared_machine >/dev/null
work=$(mktemp -d)
busy=
stop_busy() { [[ -z $busy ]] || { kill "$busy" && wait "$busy" || true; } 2>/dev/null; busy=; }
trap 'stop_busy; rm -rf "$work"' EXIT
programs=(hearth)
cp "$build/bench_shared_machine" "$work/hearth"
if [[ -n $torch ]]; then
  programs+=(libtorch)
  g++ -std=c++20 -O2 -DNDEBUG -isystem "$torch/include" \
    -isystem "$torch/include/torch/csrc/api/include" "$root/bench/shared_machine.cpp" \
    -o "$work/libtorch" -L "$torch/lib" -Wl,-rpath,"$torch/lib" \
    -Wl,--no-as-needed -ltorch -ltorch_cpu -lc10
fi

for ((run = 0; run < runs; ++run)); do
  for program in "${programs[@]}"; do
    echo "$program alone $("$work/$program")"
    while :; do :; done &
    busy=$!
    echo "$program beside $("$work/$program")"
    stop_busy
  done
done | sort -k1,2 -k3n | awk '
  { key = $1 " " $2; times[key, ++count[key]] = $3 }
  function median(key) { return times[key, int((count[key] + 1) / 2)] }
  END {
    printf "%-10s %8s %8s %6s\n", "", "alone", "beside", "ratio"
    for (key in count) if (sub(/ alone$/, "", key))
      printf "%-10s %8.2f %8.2f %6.2f\n", key, median(key " alone"), median(key " beside"),
             median(key " beside") / median(key " alone")
  }'
