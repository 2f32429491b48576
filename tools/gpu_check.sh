#!/usr/bin/env bash
# gpu_check.sh PART...: runs the tests and benchmarks that tools/gpu_pack.sh packed. The machine needs a GPU, its
# driver and a CUDA runtime: an installed one, or PyTorch's wheels. Each part can be run alone and writes its files
# into results/:
#   load       driver, libraries, and whether the plugin loads and computes
#   suites     the tests of seven programs, one process per suite, or per 40 tests of a larger one
#              (suites:test_ops: of one program)
#   nccl       process groups over NCCL, one process per GPU (up to 4)
#   large      large shapes, the GPU against the CPU; then again with HEARTH_CUDNN
#   bench      operators and training steps (bench:layers: one group)
#   peer       the same benchmarks in PyTorch, and a table of the times of both
#   train      hearth train on the CPU and on the GPU
#   sanitizer  compute-sanitizer over some tests, if it is installed
#   all        everything, in this order
# Tests and benchmarks that have a line in results/ are not run again: after an interruption, give the same command once more.
#
# GPU_CHECK_OUT (results/), GPU_CHECK_JOBS (4 processes), GPU_CHECK_SECONDS (this long after the start, no more
# tests or benchmarks begin), GPU_CHECK_LIMIT (240 s for one process), GPU_CHECK_PYTHON (python3), GPU_CHECK_CUDA (a
# folder with the CUDA runtime's libraries, before others).
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=${GPU_CHECK_OUT:-$here/results}
jobs=${GPU_CHECK_JOBS:-4}
limit=${GPU_CHECK_LIMIT:-240}
python=${GPU_CHECK_PYTHON:-python3}
# The maximum number of tests in one process. If one of them crashes or hangs, each is run again by itself.
per_process=40

# The folders in which CUDA's libraries may lie.
cuda_candidates() {
  [[ -n ${GPU_CHECK_CUDA:-} ]] && echo "$GPU_CHECK_CUDA"
  command -v "$python" >/dev/null && (cd / && exec "$python" -) 2>/dev/null <<'EOF'
import glob, site, sys
for folder in dict.fromkeys(sys.path + site.getsitepackages()):
    print("\n".join(sorted(glob.glob(folder + "/nvidia/*/lib"))))
EOF
  local folder
  for folder in /usr/local/cuda/lib64 /usr/local/cuda/lib /usr/local/cuda*/targets/x86_64-linux/lib \
    /usr/local/nvidia/lib64 /usr/lib/x86_64-linux-gnu /usr/lib64 /usr/lib/wsl/lib; do
    [[ -d $folder ]] && echo "$folder"
  done
}

# For each library the first of these folders that has it, joined by colons. All libraries search the folders in one
# order, so that wheels and installations are not mixed more than needed.
cuda_path() {
  local candidates library folder found=()
  candidates=$(cuda_candidates)
  for library in libcudart.so.13 libcublasLt.so.13 libcublas.so.13 libcusolver.so.12 libcufft.so.12 \
    libcusparse.so.12 libnvJitLink.so.13 \
    libcudnn.so.9 libnccl.so.2 libcuda.so.1; do
    while read -r folder; do
      [[ -n $folder && -e $folder/$library ]] || continue
      # The system's own folders are searched anyway, and would hide this package's libraries.
      [[ $folder == /usr/lib* || " ${found[*]:-} " == *" $folder "* ]] || found+=("$folder")
      break
    done <<<"$candidates"
  done
  local IFS=:
  echo "${found[*]:-}"
}

set_environment() {
  [[ -n ${GPU_CHECK_READY:-} ]] && return # in the processes that run_suites starts
  [[ -x $here/bin/test_core ]] || {
    echo "gpu_check: $here was not packed by tools/gpu_pack.sh" >&2
    exit 2
  }
  export GPU_CHECK_READY=1 GPU_CHECK_OUT=$out
  export GPU_CHECK_SYSTEM_PATH=${LD_LIBRARY_PATH:-}
  local cuda
  cuda=$(cuda_path)
  export LD_LIBRARY_PATH=$here/lib${cuda:+:$cuda}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  export HEARTH_CUDA_PLUGIN=$here/lib/libhearth_cuda.so HEARTH_TEST_FIXTURES=$here/tests/fixtures
  export GPU_CHECK_END=$(($(date +%s) + ${GPU_CHECK_SECONDS:-1000000}))
  mkdir -p "$out"
  # Add the compiler's libraries only if this system's are older.
  "$here/bin/test_core" --gtest_list_tests &>/dev/null || LD_LIBRARY_PATH=$here/lib/compiler:$LD_LIBRARY_PATH
}

time_is_up() { (($(date +%s) >= GPU_CHECK_END)); }

load() {
  {
    echo "version: $(cat "$here/version")"
    uname -srm
    nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv || echo "no nvidia-smi"
    echo "LD_LIBRARY_PATH=$LD_LIBRARY_PATH"
    echo "not found: $(ldd "$HEARTH_CUDA_PLUGIN" "$here"/bin/* | grep 'not found' | sort -u | tr -s '\n\t ' ' ')"
    timeout 120 "$here/bin/hearth" info
    timeout 120 "$here/bin/test_core" --gtest_brief=1 --gtest_filter='CudaApi.*'
    timeout 120 "$here/bin/test_gpu" --gtest_brief=1 --gtest_filter='Reductions.ReduceAllElements:Misaligned.ProductsMatchTheCpu'
  } 2>&1 | tee "$out/load.txt"
  grep -q '^\[  PASSED  \] [1-9]' "$out/load.txt" && ! grep -q '^\[  FAILED  \]' "$out/load.txt"
}

# Prints the jobs of a program, one per line: program, suite, shard, number of shards.
jobs_of() {
  "$here/bin/$1" --gtest_list_tests 2>/dev/null | awk -v program="$1" -v most=$per_process '
    function flush() { if (suite) for (i = 0; i < n / most; ++i) print program, suite, i, int((n + most - 1) / most) }
    /^[^ ].*\.( |$)/ { flush(); suite = $1; n = 0; next }
    /^  / { ++n }
    END { flush() }'
}

# Runs one process and prints "name  status  seconds  passed"; its failures go to the log.
run_job() {
  local program=$1 filter=$2 shard=${3:-0} shards=${4:-1} name text code start passed status
  name="$program $filter $((shard + 1))/$shards"
  time_is_up && return
  start=$(date +%s)
  text=$(GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$shard timeout -k 10 "$limit" \
    "$here/bin/$program" --gtest_brief=1 --gtest_filter="$filter" 2>&1)
  code=$?
  passed=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) .*/\1/p' <<<"$text")
  case $code in
    0) status=ok ;;
    1) status=failed ;;
    124 | 137) status="timed out" ;;
    *) status="crashed ($code)" ;;
  esac
  printf '%s\t%s\t%d\t%d\n' "$name" "$status" $(($(date +%s) - start)) "${passed:-0}"
  ((code == 0)) || printf '==== %s: %s\n%s\n' "$name" "$status" "$(tail -c 20000 <<<"$text")" >>"$log"
}

# After a crash or a time-out: runs each test by itself. --gtest_list_tests ignores shards, so awk selects the shard.
run_alone() {
  local program=$1 filter=$2 shard=$3 shards=$4 test
  "$here/bin/$program" --gtest_filter="$filter" --gtest_list_tests | sed -n 's/^  \([^ ]*\).*/\1/p' | awk -v shards="$shards" -v shard="$shard" '(NR - 1) % shards == shard' |
    while read -r test; do limit=60 run_job "$program" "${filter%\*}$test"; done
}

# Appends a job's line of results to the table, after a crash or a time-out also a line of each of its tests; several
# processes do so at once.
one_job() {
  local line
  line=$(run_job "$@")
  [[ -z $line ]] && return
  printf '%s\n' "$line" >>"$table"
  if [[ $line == *"timed out"* || $line == *crashed* ]]; then
    run_alone "$@" >>"$table"
  fi
}

# run_suites NAME PROGRAM...: writes results/NAME.tsv and NAME.log.
run_suites() {
  export table=$out/$1.tsv log=$out/$1.log limit here
  shift
  touch "$table" "$log"
  local program
  for program in "$@"; do jobs_of "$program"; done |
    while read -r program suite shard shards; do
      grep -qF "$program $suite* $((shard + 1))/$shards	" "$table" || echo "$program $suite* $shard $shards"
    done | xargs -r -P "$jobs" -L 1 "${BASH_SOURCE[0]}" --job
  awk -F'\t' '{ ++count[$2]; tests += $4 } $2 != "ok" { print "  " $1 ": " $2 }
    END { printf "%d tests passed;", tests; for (s in count) printf " %d processes %s", count[s], s; print "" }' "$table"
  ! grep -qvF $'\tok\t' "$table"
}

# benchmarks NAME COMMAND GROUP...: one process per group, so that a CUDA error ends only one group.
benchmarks() {
  local file=$out/$1.tsv group code
  local -a command=($2)
  shift 2
  for group in "$@"; do
    time_is_up && { echo "gpu_check: out of time before $group"; break; }
    touch "$file"
    grep -q "^# $group done" "$file" && continue
    timeout -k 10 "$limit" "${command[@]}" "$group" 2>>"$out/bench.log" | tee -a "$file"
    code=${PIPESTATUS[0]}
    ((code == 0)) || printf '%s\tfailed: the process ended with %d\n' "$group" "$code" | tee -a "$file"
    echo "# $group done" >>"$file"
  done
  ! grep -q $'\tfailed' "$file"
}

bench_groups() {
  if [[ -n ${1:-} ]]; then echo "$1"; else "$here/bin/bench_gpu" --groups; fi
}

# Runs PyTorch without this package's libraries, and prints a table of the times of both.
peer() {
  local status=0
  LD_LIBRARY_PATH=$GPU_CHECK_SYSTEM_PATH benchmarks bench_pytorch "$python $here/gpu_peer.py" $(bench_groups "${1:-}") ||
    status=1
  awk -F'\t' '
    /^#/ { next }
    NR == FNR { hearth[$1] = $2; next }
    !head++ { printf "| operator | Hearth, us | PyTorch, us | ratio |\n|---|---|---|---|\n" }
    # Both times are numbers.
    $1 in hearth && hearth[$1] + $2 > 0 && hearth[$1] $2 !~ /failed/ {
      printf "| %s | %s | %s | %.2f |\n", $1, hearth[$1], $2, hearth[$1] / $2; next }
    $1 in hearth { printf "| %s | %s | %s | |\n", $1, hearth[$1], $2 }
  ' "$out/bench_hearth.tsv" "$out/bench_pytorch.tsv" | tee "$out/bench.md"
  return $status
}

nccl() {
  HEARTH_NCCL_PLUGIN=$here/lib/libhearth_nccl.so HEARTH_GLOO_PLUGIN=$here/lib/libhearth_gloo.so \
    timeout -k 10 "$limit" "$here/bin/test_distributed" --gtest_brief=1 --gtest_filter='NcclGpus.*' 2>&1 |
    tee "$out/nccl.txt"
  return "${PIPESTATUS[0]}"
}

train() {
  rm -rf "$out/run"
  (cd "$out" && timeout -k 10 "$limit" "$here/bin/hearth" train --data synthetic --device cpu,cuda --epochs 2 \
    --out "$out/run") 2>&1 | tee "$out/train.txt"
  local code=${PIPESTATUS[0]}
  rm -rf "$out/run"
  return "$code"
}

sanitizer() {
  local tool
  tool=$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | head -n 1)
  [[ -n $tool ]] || { echo "compute-sanitizer is not installed" | tee "$out/sanitizer.txt"; return 0; }
  : >"$out/sanitizer.txt"
  local kind code=0
  for kind in memcheck racecheck; do
    time_is_up && break
    HEARTH_GPU_TEST_SMALL=1 timeout -k 10 "$limit" "$tool" --tool "$kind" --error-exitcode 9 "$here/bin/test_gpu" \
      --gtest_brief=1 --gtest_filter='Accumulation.*:Compactions.*:Scans.*:Optimizers.*:Layers.NormsMatchTheCpu' \
      2>&1 | tail -n 60 | tee -a "$out/sanitizer.txt"
    ((PIPESTATUS[0] == 0)) || code=1
  done
  return $code
}

run_part() {
  local name=${1%%:*} rest=
  [[ $1 == *:* ]] && rest=${1#*:}
  case $name in
    load) load ;;
    suites) run_suites suites ${rest:-test_core test_autograd test_io test_optim test_nn test_parallel test_ops} ;;
    nccl) nccl ;;
    large) # one job at a time, because some tests take all of the memory
      local status=0
      jobs=1 run_suites large test_gpu || status=1
      HEARTH_CUDNN=attention,recurrence jobs=1 run_suites large_cudnn test_gpu || status=1
      return $status
      ;;
    bench) benchmarks bench_hearth "$here/bin/bench_gpu" $(bench_groups "$rest") ;;
    peer) peer "$rest" ;;
    train) train ;;
    sanitizer) sanitizer ;;
    *)
      sed -n '2,/^set /p' "${BASH_SOURCE[0]}" | sed '$d; s/^# \{0,1\}//' >&2
      exit 2
      ;;
  esac
}

set_environment
if [[ ${1:-} == --job ]]; then
  shift
  one_job "$@"
  exit 0
fi
parts=("$@")
[[ ${1:-} == all ]] && parts=(load suites nccl large bench peer train sanitizer)
failed=()
for part in "${parts[@]:-}"; do
  echo "== $part"
  run_part "$part" || failed+=("$part")
done
time_is_up && echo "gpu_check: the time was up: some tests or benchmarks may not have run"
echo "gpu_check: ${failed[*]:+failed: }${failed[*]:-nothing failed}"
((${#failed[@]} == 0))
