// Rows for views, and for operators that copy elements to other positions.
#pragma once

#include "tests/support/op_table.h"

namespace hearth::testing {

/// Maps a position in the result to the position of the same element in the input.
using Origin = std::function<Position(const Position&)>;
/// The sizes of a view and the origins of its elements.
struct ViewDefinition {
  std::vector<int64_t> sizes;
  Origin origin;
};

/// A row for a view; `definition` defines the view of an input of the given sizes.
inline Row view_row(std::string name, std::vector<std::string> covers, std::vector<Case> cases,
                    std::function<Tensor(const Tensor&)> op,
                    std::function<ViewDefinition(const std::vector<int64_t>&)> definition) {
  Row row;
  row.name = std::move(name);
  row.covers = std::move(covers);
  row.cases = std::move(cases);
  row.dtypes = dtypes::kRealAndBool;
  row.call = [op = std::move(op)](const Tensors& in) { return Tensors{op(in[0])}; };
  row.reference = [definition = std::move(definition)](const Arrays& in) {
    const ViewDefinition view = definition(in[0].sizes);
    return Arrays{build(view.sizes, [&](const Position& p) { return at(in[0], view.origin(p)); })};
  };
  return row;
}

/// A row for an operator that keeps the elements in row-major order and changes the sizes.
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
