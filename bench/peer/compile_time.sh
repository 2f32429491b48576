#!/usr/bin/env bash
# compile_time.sh <torch folder>: prints the user seconds (best of three) that a file with one
# #include takes to compile, for <hearth/hearth.h>, Hearth's <torch/torch.h> and LibTorch's.
set -euo pipefail
torch=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# best_of <header> <flags...>
best_of() {
  local header=$1
  shift
  echo "#include <$header>" >"$work/file.cpp"
  for _ in 1 2 3; do
    TIMEFORMAT=%U
    { time g++ -std=c++20 -O0 "$@" -c "$work/file.cpp" -o "$work/file.o"; } 2>&1
  done | sort -n | head -1
}

hearth=$(best_of hearth/hearth.h -I "$root/include")
compat=$(best_of torch/torch.h -I "$root/include" -I "$root/compat")
peer=$(best_of torch/torch.h -I "$torch/include" -I "$torch/include/torch/csrc/api/include")
awk -v h="$hearth" -v c="$compat" -v p="$peer" 'BEGIN {
  printf "%-34s %6.2f s\n", "LibTorch <torch/torch.h>", p
  printf "%-34s %6.2f s  ratio %.3f\n", "Hearth <hearth/hearth.h>", h, h / p
  printf "%-34s %6.2f s  ratio %.3f\n", "Hearth <torch/torch.h>", c, c / p
}'
