#pragma once

#include <cstdlib>
#include <vector>

#include "hearth/distributed.h"
#include "hearth/distributed/fully_shard.h"
#include "hearth/hearth.h"
#include "tests/distributed/in_group.h"

// Models, batches and helpers of the tests of sharding. Most sizes of the models are not divisible
// by the numbers of ranks.
namespace hearth::testing {

/// Two layers whose result is added to their input, as in a transformer.
struct ResidualImpl : nn::Module {
  ResidualImpl(int64_t features, int64_t hidden)
      : up(register_module("up", nn::Linear(features, hidden))),
        down(register_module("down", nn::Linear(hidden, features))) {}
  Tensor forward(Tensor x) { return x + down(tanh(up(x))); }
  nn::Linear up, down;
};
HEARTH_MODULE(Residual);

struct ShardedNetImpl : nn::Module {
  ShardedNetImpl()
      : first(register_module("first", nn::Linear(5, 7))),
        block1(register_module("block1", Residual(7, 11))),
        block2(register_module("block2", Residual(7, 3))),
        last(register_module("last", nn::Linear(7, 1))),
        scale(register_parameter("scale", full({1}, 1.5))) {}
  Tensor forward(Tensor x) { return last(block2(block1(first(x)))) * scale; }
  nn::Linear first;
  Residual block1, block2;
  nn::Linear last;
  Tensor scale;
};
HEARTH_MODULE(ShardedNet);

/// A net with the same values in every process.
inline ShardedNet make_net(ScalarType dtype = kDouble) {
  manual_seed(3);
  ShardedNet net;
  net->to(dtype);
  return net;
}

/// The inputs of all ranks; part_of_batch() selects those of this rank.
inline Tensor whole_batch(int64_t columns = 5) {
  return (arange(24 * columns, kDouble).view({24, columns}) * 0.37).sin();
}
inline Tensor part_of_batch(const Tensor& batch) {
  const int64_t rows = batch.size(0) / distributed::get_world_size();
  return batch.narrow(0, distributed::get_rank() * rows, rows);
}

/// The largest difference between two lists of tensors; 1e300 if their lengths differ.
inline double difference(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  double largest = a.size() == b.size() ? 0 : 1e300;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i)
    if (a[i].numel() > 0)
      largest = std::max(
          largest,
          (a[i].detach().to(kDouble) - b[i].detach().to(kDouble)).abs().max().item<double>());
  return largest;
}

/// The value of a variable that the test has set in the environment of its ranks, or null.
inline const char* setting(const char* name) { return std::getenv(name); }

}  // namespace hearth::testing
