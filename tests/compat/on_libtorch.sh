#!/usr/bin/env bash
# on_libtorch.sh <torch folder> [file...]: compiles the files (by default, all of this folder) with
# LibTorch, whose folder has include/ and lib/, and runs them: the tests must expect LibTorch's
# behaviour.
set -euo pipefail
torch=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[[ $# -gt 0 ]] || set -- "$here"/*.cpp

flags=(-std=c++20 -O0 -I "$torch/include" -I "$torch/include/torch/csrc/api/include" -I "$here/../..")
echo '#include <torch/torch.h>' >"$work/all.h"
g++ "${flags[@]}" -x c++-header "$work/all.h" -o "$work/all.h.gch"
# nn/parallel/data_parallel.h needs LibTorch's CUDA library, though no GPU.
libraries=(-ltorch -ltorch_cpu -lc10)
has_cuda=no
[[ -e $torch/lib/libtorch_cuda.so ]] && has_cuda=yes && libraries+=(-ltorch_cuda -lc10_cuda)
objects=()
for file in "$@"; do
  [[ $has_cuda == no && $file == */parallel.cpp ]] && continue
  object=$work/$(basename "$file").o
  g++ "${flags[@]}" -include "$work/all.h" -c "$file" -o "$object"
  objects+=("$object")
done
g++ "${objects[@]}" -o "$work/tests" -L "$torch/lib" -Wl,-rpath,"$torch/lib" -Wl,--no-as-needed \
  "${libraries[@]}" -lgtest -lgtest_main -lpthread
"$work/tests" --gtest_brief=1
