#!/usr/bin/env bash
# write_op_list.sh [build folder]: writes docs/ops.md from the op records and the rows of the op table.
set -euo pipefail
build=${1:-$(dirname "$0")/../build/release}
program=$(find "$build" -name test_ops -type f)
HEARTH_WRITE_OP_LIST=1 "$program" --gtest_brief=1 --gtest_filter=OpList.IsUpToDate
