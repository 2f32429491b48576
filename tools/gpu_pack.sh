#!/usr/bin/env bash
# gpu_pack.sh [BUILD_FOLDER [ARCHIVE]]: builds tests, the benchmarks, the program and the plugins here
# and packs them with the libraries that they need. Unpack the archive on a machine with a GPU, its driver
# and a CUDA runtime (an installed one, or PyTorch's wheels), and run `gpu_check/gpu_check.sh all` there. A build
# folder that is already configured is used unchanged; otherwise GPU_PACK_ARCHS names the GPU architectures.
set -euo pipefail

build=${1:+$(realpath -m "$1")}
archive=${2:+$(realpath -m "$2")}
cd "$(dirname "$0")/.."
readonly build=${build:-$PWD/build/gpu}
readonly archive=${archive:-$build/gpu_check.tar.xz}
readonly limit_mib=60
readonly stage=$build/stage/gpu_check
readonly programs=(hearth bench_gpu test_gpu test_core test_autograd test_ops test_optim test_nn test_parallel test_io test_distributed)
readonly plugins=(libhearth_cuda.so libhearth_nccl.so libhearth_gloo.so libhearth_plot.so)

if [[ ! -e $build/CMakeCache.txt ]]; then
  cmake --preset release -B "$build" -DHEARTH_CUDA=ON -DHEARTH_CUDA_ARCHS="${GPU_PACK_ARCHS:-90-real}" \
    -DHEARTH_CUDA_COMPILE_ONLY=OFF -DHEARTH_BUILD_EXAMPLES=OFF \
    -DHEARTH_TEST_FOLDERS="gpu;core;autograd;ops;optim;nn;parallel;io;distributed"
fi
grep -q '^HEARTH_CUDA_COMPILE_ONLY:[A-Z]*=OFF' "$build/CMakeCache.txt" || {
  echo "gpu_pack: $build is configured only to check that the kernels compile; configure it with HEARTH_CUDA_COMPILE_ONLY=OFF" >&2
  exit 1
}
cmake --build "$build" --target hearth_cuda hearth_nccl hearth_gloo hearth_plot hearth_app "${programs[@]:1}"

# The libraries that a file needs, except those of the C library, the driver and the CUDA runtime.
libraries_of() {
  LD_LIBRARY_PATH=$build ldd "$1" | awk '$2 == "=>" && $3 ~ /^\// { print $1, $3 }' |
    grep -Ev '^(lib(c|m|dl|rt|pthread|resolv)\.so|ld-linux|libcu|libnv)'
}

rm -rf "$stage"
mkdir -p "$stage"/{bin,lib/compiler,tests,docs}
for program in "${programs[@]}"; do strip -o "$stage/bin/$program" "$build/$program"; done
for plugin in "${plugins[@]}"; do strip -o "$stage/lib/$plugin" "$build/$plugin"; done
for file in "${programs[@]}" "${plugins[@]}"; do libraries_of "$build/$file"; done | sort -u |
  while read -r name path; do
    case $name in
      libstdc++* | libgcc_s*) strip -o "$stage/lib/compiler/$name" "$path" ;;
      *) strip -o "$stage/lib/$name" "$path" ;;
    esac
  done
cp -r tests/fixtures "$stage/tests/fixtures"
cp docs/ops.md "$stage/docs/"
cp tools/gpu_check.sh tools/gpu_peer.py "$stage/"
git describe --always --dirty >"$stage/version"

# A large window, so that xz finds the repetitions: most programs contain the core.
tar -C "$build/stage" -cf - gpu_check | xz -T1 --lzma2=preset=6,dict=128MiB >"$archive"
size_mib=$((($(stat -c %s "$archive") + (1 << 20) - 1) >> 20))
echo "gpu_pack: $archive, $size_mib MiB, $(du -sm "$stage" | cut -f1) unpacked"
if ((size_mib > limit_mib)); then
  echo "gpu_pack: the archive is larger than the limit of $limit_mib MiB" >&2
  exit 1
fi
