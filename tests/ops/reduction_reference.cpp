#include "tests/ops/reduction_reference.h"

namespace hearth::testing {

namespace {

bool is_reduced(const ReductionArgs& args, size_t d, size_t num_dims) {
  if (args.dims.empty()) return true;
  for (int64_t dim : args.dims)
    if (size_t(dim < 0 ? dim + int64_t(num_dims) : dim) == d) return true;
  return false;
}

}  // namespace

Array reduce_groups(const Array& in, const ReductionArgs& args, const GroupFunction& f) {
  const size_t num_dims = in.sizes.size();
  std::vector<int64_t> kept_sizes, squeezed_sizes;
  for (size_t d = 0; d < num_dims; ++d) {
    const bool is_reduced_dim = is_reduced(args, d, num_dims);
    kept_sizes.push_back(is_reduced_dim ? 1 : in.sizes[d]);
    if (!is_reduced_dim) squeezed_sizes.push_back(in.sizes[d]);
  }
  std::vector<std::vector<double>> groups(size_t(count_of(kept_sizes)));
  for (int64_t i = 0; i < int64_t(in.values.size()); ++i) {
    Position position = position_of(i, in.sizes);
    for (size_t d = 0; d < num_dims; ++d)
      if (kept_sizes[d] == 1) position[d] = 0;
    groups[size_t(linear_of(position, kept_sizes))].push_back(in.values[size_t(i)]);
  }
  Array out{args.keepdim ? kept_sizes : squeezed_sizes, {}};
  for (const auto& group : groups) out.values.push_back(f(group));
  return out;
}

Row reduction_row(std::string name, std::string covers, std::function<Tensor(const Tensor&)> op,
                  ReductionArgs args, GroupFunction reference, Draw draw) {
  Row row;
  row.name = std::move(name);
  row.covers = {std::move(covers)};
  row.cases = {{{{4, 5}, draw}}, {{{2, 3, 4}, draw}}, {{{17, 3, 2, 5}, draw}}, {{{2, 1}, draw}}};
  row.call = [op = std::move(op)](const Tensors& in) { return Tensors{op(in[0])}; };
  row.reference = [args, reference = std::move(reference)](const Arrays& in) {
    return Arrays{reduce_groups(in[0], args, reference)};
  };
  row.slack = 4;
  return row;
}

Array map_lines(const Array& in, int64_t dim, const LineFunction& f) {
  if (in.sizes.empty()) return {{}, f(in.values)};
  const size_t d = size_t(dim < 0 ? dim + int64_t(in.sizes.size()) : dim);
  std::vector<int64_t> line_sizes = in.sizes;
  line_sizes[d] = 1;
  std::vector<std::vector<double>> lines;
  for (int64_t i = 0; i < count_of(line_sizes); ++i) {
    Position position = position_of(i, line_sizes);
    std::vector<double> line;
    for (position[d] = 0; position[d] < in.sizes[d]; ++position[d])
      line.push_back(at(in, position));
    lines.push_back(f(line));
  }
  std::vector<int64_t> out_sizes = in.sizes;
  if (!lines.empty()) out_sizes[d] = int64_t(lines[0].size());
  return build(out_sizes, [&](Position position) {
    const size_t k = size_t(position[d]);
    position[d] = 0;
    return lines[size_t(linear_of(position, line_sizes))][k];
  });
}

}  // namespace hearth::testing
