#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "distributed/sharding/sharded_params.h"
#include "hearth/ivalue_containers.h"
#include "hearth/nn/module.h"
#include "hearth/optim/optimizer.h"

namespace hearth::distributed::checkpoint {

using Values = Dict<std::string, IValue>;

/// One tensor of a checkpoint, and this rank's part of it.
struct Piece {
  bool is_divided() const { return begin >= 0; }

  std::string key;             // "model.fc.weight", "optimizer.state.fc.weight.exp_avg"
  Tensor local;                // this rank's rows, or the whole tensor
  std::vector<int64_t> sizes;  // of the whole tensor
  int64_t begin = -1;          // the first of this rank's rows; -1: each rank has all
};

/// The tensors and values of a model and its optimizer that are saved.
struct Contents {
  std::vector<Piece> pieces;
  Values values;  // all that are not tensors
};

/// The parameters of a model by name, and how they are divided.
class ModelParameters {
 public:
  /// Frees gathered parameters, so that all divided ones are shards.
  explicit ModelParameters(const nn::Module& model);
  /// The part of a parameter's tensor that this rank has, or null if it has all.
  const ShardedParam* shard_of(const std::string& name) const;
  /// The name of a parameter of the optimizer.
  const std::string& name_of(const Tensor& param) const;

 private:
  std::unordered_map<const void*, const ShardedParam*> shards_;
  std::unordered_map<std::string, const void*> parameters_;
  std::unordered_map<const void*, std::string> names_;
};

inline constexpr const char *kModelPrefix = "model.", *kOptimizerPrefix = "optimizer.",
                            *kStatePrefix = "optimizer.state.";

void add_model(const nn::Module& model, const ModelParameters& parameters, Contents& contents);
void add_optimizer(const optim::Optimizer& optimizer, const ModelParameters& parameters,
                   Contents& contents);

}  // namespace hearth::distributed::checkpoint
