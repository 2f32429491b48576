// Rows of optimizer steps over lists of parameters, gradients and state.
#pragma once

#include "tests/support/op_table.h"

namespace hearth::testing {

inline constexpr double kLr = 0.3, kDecay = 0.1, kEps = 1e-2, kBeta1 = 0.7, kBeta2 = 0.9;
inline constexpr int64_t kStep = 3;
inline constexpr int kGrads = 1;  // the index of the list of gradients

using Lists = std::vector<Tensors>;

/// The inputs as lists of equal length, copied because steps change them.
inline Lists split(const Tensors& in, size_t num_lists) {
  Lists lists(num_lists);
  const size_t length = in.size() / num_lists;
  for (size_t i = 0; i < in.size(); ++i) lists[i / length].push_back(in[i].detach().clone());
  return lists;
}

inline Tensors step_counts(const Tensors& params, double step, Device device) {
  return Tensors(params.size(), scalar_tensor(step, kFloat).to(device));
}

/// A row for a step over lists of parameters, gradients and state. `reference` updates one
/// element's values in all lists. The outputs are parameters and state.
inline Row step_row(std::string name, std::string covers, std::vector<Draw> draws,
                    std::function<void(Lists&)> step, std::function<void(double*)> reference) {
  Row row;
  row.name = std::move(name);
  row.covers = {std::move(covers)};
  const size_t num_lists = draws.size();
  for (const std::vector<std::vector<int64_t>>& shapes :
       {std::vector<std::vector<int64_t>>{{3, 5}}, {{7}, {2, 3, 4}}, {{}, {0, 3}, {70}, {1, 1}}}) {
    Case inputs;
    for (const Draw draw : draws)
      for (const auto& sizes : shapes) inputs.push_back({sizes, draw});
    row.cases.push_back(std::move(inputs));
  }
  row.call = [num_lists, step](const Tensors& in) {
    Lists lists = split(in, num_lists);
    step(lists);
    Tensors out;
    for (size_t k = 0; k < num_lists; ++k)
      if (k != kGrads) out.insert(out.end(), lists[k].begin(), lists[k].end());
    return out;
  };
  row.reference = [num_lists, reference](const Arrays& in) {
    Arrays arrays = in;
    const size_t length = in.size() / num_lists;
    for (size_t i = 0; i < length; ++i)
      for (size_t e = 0; e < arrays[i].values.size(); ++e) {
        double x[5];
        for (size_t k = 0; k < num_lists; ++k) x[k] = arrays[k * length + i].values[e];
        reference(x);
        for (size_t k = 0; k < num_lists; ++k) arrays[k * length + i].values[e] = x[k];
      }
    arrays.erase(arrays.begin() + int64_t(length), arrays.begin() + int64_t(2 * length));
    return arrays;
  };
  row.orders = 0;
  row.slack = 4;
  return row;
}

}  // namespace hearth::testing
