#pragma once

#include "hearth/hearth.h"
#include "hearth/nn/distributed_data_parallel.h"
#include "tests/distributed/in_group.h"
#include "tests/distributed/ranks.h"

// Models and helpers of the tests of DistributedDataParallel.
namespace hearth::testing {

using DDPOptions = nn::parallel::DistributedDataParallelOptions;

/// Two hidden layers in double precision, with equal values for equal seeds.
inline nn::Sequential make_mlp(uint64_t seed = 1) {
  manual_seed(seed);
  nn::Sequential net(nn::Linear(6, 16), nn::Tanh(), nn::Linear(16, 12), nn::Tanh(),
                     nn::Linear(12, 3));
  net->to(kDouble);
  return net;
}

/// A module with two branches, each of which a call may leave out, and a layer that no call uses.
struct TwoBranchesImpl : nn::Module {
  TwoBranchesImpl() {
    first = register_module("first", nn::Linear(6, 4));
    second = register_module("second", nn::Linear(6, 4));
    never = register_module("never", nn::Linear(6, 4));
    to(kDouble);
  }
  Tensor forward(const Tensor& x, bool uses_first, bool uses_second) {
    Tensor result = x.sum();
    const auto add_first = [&] {
      if (uses_first) result = result + first(x).tanh().sum();
    };
    if (!begins_with_second) add_first();
    if (uses_second) result = result + second(x).tanh().sum();
    if (begins_with_second) add_first();
    return result;
  }
  nn::Linear first{nullptr}, second{nullptr}, never{nullptr};
  bool begins_with_second = false;
};
HEARTH_MODULE(TwoBranches);

/// Inputs and targets of one step, for all ranks together.
struct Batch {
  Tensor x, y;
  Batch(int64_t step, int64_t rows) {
    const Tensor t = arange(rows * 6, kDouble).view({rows, 6});
    x = (t * 0.37 + double(step)).sin();
    y = (t.narrow(1, 0, 3) * 0.21 - double(step)).cos();
  }
  /// The rows of a rank; all ranks have equally many.
  Batch of_rank(int rank, int size) const {
    Batch part = *this;
    const int64_t rows = x.size(0) / size;
    part.x = x.narrow(0, rank * rows, rows);
    part.y = y.narrow(0, rank * rows, rows);
    return part;
  }
};

/// All parameters, or their gradients, one after another.
inline Tensor flattened(const std::vector<Tensor>& parameters, bool gradients = false) {
  std::vector<Tensor> parts;
  for (const Tensor& p : parameters)
    parts.push_back((gradients ? p.grad() : p.detach()).reshape({-1}));
  return cat(parts);
}

/// Whether the tensor has the same bits on all ranks.
inline bool is_equal_on_all_ranks(const Tensor& tensor) {
  std::vector<Tensor> all;
  for (int i = 0; i < distributed::get_world_size(); ++i) all.push_back(empty_like(tensor));
  distributed::all_gather(all, tensor.contiguous());
  for (const Tensor& other : all)
    if (!equal(other, tensor)) return false;
  return true;
}

inline double distance(const Tensor& a, const Tensor& b) {
  return (a - b).abs().max().item<double>();
}

}  // namespace hearth::testing
