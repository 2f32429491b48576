#pragma once

#include "tests/support/op_table.h"

// Rows for operators that show or copy elements of their input at other places.

namespace hearth::testing {

/// What a view shows at a position: the position in the input.
using Origin = std::function<Position(const Position&)>;
struct Window {
  std::vector<int64_t> sizes;
  Origin origin;
};

inline Row view_row(std::string name, std::vector<std::string> covers, std::vector<Case> cases,
                    std::function<Tensor(const Tensor&)> op,
                    std::function<Window(const std::vector<int64_t>&)> window) {
  Row row;
  row.name = std::move(name);
  row.covers = std::move(covers);
  row.cases = std::move(cases);
  row.dtypes = dtypes::kRealAndBool;
  row.call = [op = std::move(op)](const Tensors& in) { return Tensors{op(in[0])}; };
  row.reference = [window = std::move(window)](const Arrays& in) {
    const Window seen = window(in[0].sizes);
    return Arrays{build(seen.sizes, [&](const Position& p) { return at(in[0], seen.origin(p)); })};
  };
  return row;
}

/// The same elements, in row-major order, at other sizes.
inline Row reshaping_row(
    std::string name, std::vector<std::string> covers, std::vector<Case> cases,
    std::function<Tensor(const Tensor&)> op,
    std::function<std::vector<int64_t>(const std::vector<int64_t>&)> new_sizes) {
  Row row = view_row(std::move(name), std::move(covers), std::move(cases), std::move(op), {});
  row.reference = [new_sizes = std::move(new_sizes)](const Arrays& in) {
    return Arrays{{new_sizes(in[0].sizes), in[0].values}};
  };
  return row;
}

}  // namespace hearth::testing
