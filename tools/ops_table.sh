#!/usr/bin/env bash
# ops_table.sh [build folder]: writes docs/ops.md from the op records and the tests' rows.
set -euo pipefail
build=${1:-$(dirname "$0")/../build/release}
program=$(find "$build" -name test_ops -type f)
HEARTH_WRITE_OPS_TABLE=1 "$program" --gtest_brief=1 --gtest_filter=OpsTable.IsUpToDate
