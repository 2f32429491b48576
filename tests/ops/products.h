#pragma once

// References and rows of products of vectors and matrices.

#include "tests/support/op_table.h"

namespace hearth::testing {

/// An array of these sizes whose element i is the sum of f(i, k) over k < count.
inline Array summed(std::vector<int64_t> sizes, int64_t count,
                    const std::function<double(const Position&, int64_t)>& f) {
  return build(std::move(sizes), [&](const Position& p) {
    double total = 0;
    for (int64_t k = 0; k < count; ++k) total += f(p, k);
    return total;
  });
}

/// The batched matrix product.
inline Array bmm_reference(const Array& a, const Array& b) {
  return summed({a.sizes[0], a.sizes[1], b.sizes[2]}, a.sizes[2],
                [&](const Position& p, int64_t k) {
                  return at(a, {p[0], p[1], k}) * at(b, {p[0], k, p[2]});
                });
}

/// A row for a product, with 8 times the usual tolerance.
inline Row product_row(std::string name, std::vector<Case> cases,
                       std::function<Tensor(const Tensors&)> call,
                       std::function<Array(const Arrays&)> reference) {
  Row row;
  row.covers = {name};
  row.name = std::move(name);
  row.cases = std::move(cases);
  row.dtypes = dtypes::kReal;
  row.slack = 8;
  row.call = [call = std::move(call)](const Tensors& in) { return Tensors{call(in)}; };
  row.reference = [reference = std::move(reference)](const Arrays& in) {
    return Arrays{reference(in)};
  };
  return row;
}

}  // namespace hearth::testing
