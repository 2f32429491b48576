#!/usr/bin/env bash
# gpu_check.sh [build|test|bench|all]: builds, tests and measures on a machine with a GPU, CUDA 13, g++, CMake,
# Ninja and a Python with PyTorch, but without a network: what else is needed comes from .bundle/
# (tools/gpu_bundle.sh) and is unpacked, not installed. Prints tables. GPU_CHECK_DIR names the build folder.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly step=${1:-all}
readonly build=${GPU_CHECK_DIR:-build/gpu}
readonly deps=$PWD/$build/deps
readonly jobs=${GPU_CHECK_JOBS:-16}
readonly python=${GPU_CHECK_PYTHON:-python3}

# Libraries that were unpacked find each other by this path.
export LD_LIBRARY_PATH=$deps/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

unpack() {
  [[ -e $deps/done ]] && return
  compgen -G '.bundle/*.deb' >/dev/null || {
    echo "gpu_check: .bundle is empty; run tools/gpu_bundle.sh where there is a network" >&2
    exit 1
  }
  mkdir -p "$deps/unpacked" "$deps/lib" "$deps/include"
  for package in .bundle/*.deb; do dpkg -x "$package" "$deps/unpacked"; done
  # Debian's alternatives would make these links.
  local triplet=$deps/unpacked/usr/lib/x86_64-linux-gnu
  find "$triplet" -name '*.so*' ! -type d -exec ln -sf -t "$deps/lib" {} +
  ln -sf -t "$deps/include" "$deps"/unpacked/usr/include/x86_64-linux-gnu/openblas-openmp/*.h
  touch "$deps/done"
}

build_all() {
  unpack
  local capability
  capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1)
  cmake --preset release -B "$build" \
    -DCMAKE_PREFIX_PATH="$deps;$deps/unpacked/usr" \
    -DCMAKE_LIBRARY_PATH="$deps/lib" -DCMAKE_INCLUDE_PATH="$deps/include" \
    -DHEARTH_CUDA=ON -DHEARTH_CUDA_ARCHS="${capability/./}-real" -DHEARTH_CUDA_FAST_COMPILE=OFF \
    -DHEARTH_WERROR=OFF
  cmake --build "$build" -j "$jobs" --target all bench_gpu
}

run_tests() {
  nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv
  # The consumers' projects test the installation; they know nothing of unpacked libraries.
  ctest --test-dir "$build" --output-on-failure -j 4 --timeout 240 --exclude-regex '^consumer_'
}

# One row per operator: Hearth's and PyTorch's microseconds and their ratio.
run_bench() {
  "$build"/bench_gpu >"$build/bench_hearth.tsv"
  "$python" tools/gpu_peer.py >"$build/bench_pytorch.tsv"
  awk -F'\t' '
    NR == FNR { hearth[$1] = $2; next }
    FNR == 1 { printf "| operator | Hearth, us | PyTorch, us | ratio |\n|---|---|---|---|\n" }
    $1 in hearth { printf "| %s | %.2f | %.2f | %.2f |\n", $1, hearth[$1], $2, hearth[$1] / $2 }
  ' "$build/bench_hearth.tsv" "$build/bench_pytorch.tsv"
}

case $step in
  build) build_all ;;
  test) run_tests ;;
  bench) run_bench ;;
  all)
    start=$SECONDS
    build_all
    echo "gpu_check: built in $((SECONDS - start)) s"
    failed=0
    run_tests || failed=1
    run_bench || failed=1
    echo "gpu_check: $((SECONDS - start)) s in all"
    exit $failed
    ;;
  *)
    echo "usage: gpu_check.sh [build|test|bench|all]" >&2
    exit 2
    ;;
esac
