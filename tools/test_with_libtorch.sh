#!/usr/bin/env bash
# test_with_libtorch.sh <build folder> [torch folder]: compares this build with a real LibTorch. The
# torch folder is the folder of PyTorch's Python package (default: the package in .venv-peer); without
# it, the script runs nothing. It suffices for the output of examples/libtorch and the choice of
# overloads. The Python of .venv-peer, if it is there, also compares values, gradients and files and,
# as far as its packages allow, safetensors, weights and TensorBoard.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
packages=(.venv-peer/lib/python3*/site-packages/torch)
torch=${2:-${packages[0]}}
python=.venv-peer/bin/python
if [[ ! -d $torch/include ]]; then
  echo "test_with_libtorch: skipped, $torch has no LibTorch"
  exit 0
fi

python3 tests/examples/on_libtorch.py "$torch" "$build"
python3 tests/oracle/overloads.py "$torch" "$build"
if [[ -x $python ]]; then
  rows=$(mktemp)
  files=$(mktemp -d)
  trap 'rm -rf "$rows" "$files"' EXIT
  HEARTH_ORACLE_FILE=$rows "$build/test_ops" --gtest_brief=1 --gtest_filter=Oracle.Dump
  "$python" tests/oracle/compare.py "$rows"
  HEARTH_KEEP_FILES=$files "$build/test_io" --gtest_brief=1 --gtest_filter='Pt.*:Npy.*:Archive.*'
  "$python" tests/oracle/pt_files.py check "$files"
  if "$python" -c 'import safetensors, torchvision, transformers' 2> /dev/null; then
    "$python" tests/oracle/safetensors_file.py check "$files/archive.safetensors"
    "$python" tests/oracle/weights_round_trip.py "$build"
  fi
  if "$python" -c 'import tensorboard, PIL' 2> /dev/null; then
    "$python" tests/oracle/read_by_tensorboard.py "$build"
    "$python" tests/oracle/train_in_tensorboard.py "$build/hearth"
  fi
fi
