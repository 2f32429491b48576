#!/usr/bin/env bash
# check_symbols.sh <libhearth.so>: checks that the core does not link CUDA and exports only Hearth's own symbols.
set -euo pipefail
library=$1

cuda=$(ldd "$library" | grep -E 'libcu|libnv|libnccl' || true)
if [[ -n $cuda ]]; then
  echo "check_symbols: $library links CUDA:"$'\n'"$cuda" >&2
  exit 1
fi

# A symbol is Hearth's own if its outermost namespace is hearth.
ours='^_Z(T[IVSTC]|T[hv][n0-9_]+_|GV|Z)*N[rVKRO]*6hearth'
exported=$(nm --dynamic --defined-only --format=posix "$library" | cut -d' ' -f1)
foreign=$(grep -Ev "$ours" <<<"$exported" | c++filt || true)
if [[ -n $foreign ]]; then
  echo "check_symbols: $library exports symbols that are not Hearth's own:"$'\n'"$foreign" >&2
  exit 1
fi
echo "check_symbols: ok, $(wc -l <<<"$exported") symbols," \
     "$(($(stat --dereference --format=%s "$library") / 1024)) KiB"
