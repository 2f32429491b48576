// Writes the inputs, results and gradients of every row that has a reference to the file
// $HEARTH_ORACLE_FILE, for tests/oracle/compare.py. If HEARTH_ORACLE_AUTOCAST is set, the ops
// run under autocast, also with inputs of mixed dtypes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

#include "hearth/autocast.h"
#include "hearth/autograd.h"
#include "tests/support/op_table.h"

namespace hearth::testing {
namespace {

/// Writes a tensor as JSON: dtype, sizes, values; null if undefined. Non-finite numbers are written
/// as Python's json module reads them.
void write(std::ostream& file, const Tensor& tensor) {
  if (!tensor.defined()) {
    file << "null";
    return;
  }
  const Array array = to_array(tensor);
  file << "{\"dtype\": \"" << python_name_of(tensor.scalar_type()) << "\", \"sizes\": [";
  for (size_t d = 0; d < array.sizes.size(); ++d) file << (d ? ", " : "") << array.sizes[d];
  file << "], \"values\": [";
  for (size_t i = 0; i < array.values.size(); ++i) {
    const double v = array.values[i];
    file << (i ? ", " : "");
    if (v != v)
      file << "NaN";
    else if (v - v != 0)
      file << (v > 0 ? "Infinity" : "-Infinity");
    else if (v == 0)
      file << (std::signbit(v) ? "-0.0" : "0.0");  // read as an integer, -0 would lose its sign
    else
      file << v;
  }
  file << "]}";
}

void write(std::ostream& file, const char* name, const Tensors& tensors) {
  file << ", \"" << name << "\": [";
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (i) file << ", ";
    write(file, tensors[i]);
  }
  file << "]";
}

/// The gradients of the sum over outputs and elements i of (i % 5 - 1.5) * out[i].
Tensors gradients(const Tensors& out, const Tensors& leaves) {
  Tensor total;
  for (const Tensor& t : out) {
    if (!t.defined() || !t.requires_grad()) continue;
    const Tensor weights = arange(t.numel(), kDouble).fmod(5).sub(1.5).reshape(t.sizes());
    const Tensor part = t.to(kDouble).mul(weights).sum();
    total = total.defined() ? total.add(part) : part;
  }
  Tensors wanted;
  for (const Tensor& t : leaves)
    if (t.defined() && t.requires_grad()) wanted.push_back(t);
  if (!total.defined()) return {};
  return autograd::grad({total}, wanted, {}, {}, false, true);
}

/// Writes the row's results and gradients, or that it failed.
void write_results(std::ostream& file, const Row& row, const Tensors& leaves) {
  Tensors out, grads;
  try {
    out = row.call(leaves);
    const AutocastMode off(kCPU, {}, false);  // backward runs outside the region, as in user code
    grads = gradients(out, leaves);
  } catch (const Error&) {
    file << ", \"fails\": true";
    return;
  }
  write(file, "outputs", out);
  write(file, "grads", grads);
}

void dump(std::ostream& file, const Row& row, const Case& inputs, const Tensors& in) {
  Tensors leaves;
  for (size_t i = 0; i < in.size(); ++i) {
    leaves.push_back(in[i].defined() ? in[i].detach() : in[i]);
    if (in[i].defined() && in[i].is_floating_point() && !inputs[i].constant)
      leaves[i].requires_grad_();
  }
  file << "{\"row\": \"" << row.name << "\"";
  write(file, "inputs", in);
  write_results(file, row, leaves);
  file << "}\n";
}

/// Dumps the row with its first input in other dtypes. Skips empty inputs, whose dtypes PyTorch
/// does not check.
void dump_mixed(std::ostream& file, const Row& row, const Case& inputs, const Tensors& in) {
  if (in.size() < 2 || !in[0].is_floating_point() || in[0].numel() == 0) return;
  for (const ScalarType dtype : {kFloat, kBFloat16, kHalf}) {
    Tensors mixed = in;
    mixed[0] = in[0].to(dtype);
    if (in[0].scalar_type() != dtype) dump(file, row, inputs, mixed);
  }
}

TEST(Oracle, Dump) {
  const char* path = std::getenv("HEARTH_ORACLE_FILE");
  if (!path) GTEST_SKIP() << "HEARTH_ORACLE_FILE is not set";
  std::ofstream file(path);
  file.precision(17);
  const bool autocast = std::getenv("HEARTH_ORACLE_AUTOCAST") != nullptr;
  const AutocastMode region(kCPU, {}, autocast);
  for (const Row& row : rows())
    for (const ScalarType dtype : dtypes_in(row.dtypes)) {
      if (row.special_values && is_floating_point(dtype)) {
        const Tensors in = special_inputs(row.cases[0].size(), dtype, Device("cpu"));
        if (!autocast) dump(file, row, row.cases[0], in);
      }
      for (const Case& inputs : row.cases) {
        if (!row.reference) continue;
        const Tensors in = make_inputs(inputs, dtype, Device("cpu"), MemoryLayout::kTransposed, 9);
        dump(file, row, inputs, in);
        if (autocast) dump_mixed(file, row, inputs, in);
      }
    }
  EXPECT_TRUE(file.good());
}

}  // namespace
}  // namespace hearth::testing
