#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hearth/distributed/collectives.h"
#include "hearth/distributed/fully_shard.h"
#include "hearth/ordered_dict.h"
#include "hearth/shards.h"
#include "hearth/tensor.h"

namespace hearth::distributed {

/// "path.key", or the key alone if the path is empty.
inline std::string joined_path(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

/// Blocks of rows of a tensor, one per rank. All but the last ones have `chunk` rows.
struct RowBlocks {
  RowBlocks(int64_t rows, int ranks) : rows_(rows), chunk((rows + ranks - 1) / ranks) {}
  int64_t begin(int rank) const { return std::min(rows_, rank * chunk); }
  int64_t size(int rank) const { return begin(rank + 1) - begin(rank); }

 private:
  int64_t rows_;

 public:
  int64_t chunk;
};

/// One parameter of which each rank keeps a block of rows.
struct ShardedParam {
  ShardedParam(std::string key, Tensor param, int rank, int ranks);
  /// The sizes and the number of elements of `count` rows.
  std::vector<int64_t> sizes_of(int64_t count) const;
  int64_t numel_of(int64_t count) const { return count * row_numel; }

  std::string key;             // its path in the sharded module
  Tensor param;                // the module's: a shard, or the whole parameter while it is gathered
  std::vector<int64_t> sizes;  // of the whole parameter
  RowBlocks blocks;
  int64_t row_numel;
  int64_t begin, rows;   // of this rank's block
  int64_t padded_numel;  // of a block of `chunk` rows
  int64_t offset = 0;    // of this rank's block in the flat shard

  std::unique_ptr<ShardRegistration> registration;

  Tensor whole;         // memory of the gathered parameter, freed while it is not gathered
  int64_t version = 0;  // of the gathered parameter when it was gathered
  Tensor set_aside;   // the shard's gradient while backward accumulates that of the whole parameter
  Tensor whole_grad;  // accumulated, not yet reduced
};

/// The parameters of one module, which are gathered together and whose gradients are reduced
/// together.
class ShardedParams : public std::enable_shared_from_this<ShardedParams> {
 public:
  using Named = std::vector<std::pair<std::string, Tensor>>;
  /// Throws unless the parameters have one dtype and one device. `path` is that of the module, for
  /// errors.
  static void check_one_kind(const std::string& path, const Named& params);
  /// The parameters must be of one kind.
  ShardedParams(std::string path, const Named& params, ProcessGroupPtr group,
                MixedPrecisionPolicy policy);
  /// Registers the hooks that collect gradients, and call on_gradient after each.
  void watch_gradients(const std::function<void()>& on_gradient);

  void start_unshard();   ///< begins to gather the parameters, unless they are gathered
  void unshard();         ///< gathers the parameters and waits for them
  void cancel_unshard();  ///< drops parameters that have begun to be gathered
  /// Frees the gathered parameters. This rank's rows of those that the program has changed become
  /// its shards; throws if they have another dtype or other sizes.
  void reshard();
  bool is_unsharded() const { return is_unsharded_; }

  /// Begins to reduce the whole gradients, if there are any; the shards get them in
  /// finish_reduction().
  void start_reduction();
  void finish_reduction();
  void restore_gradients();  ///< of shards for which backward computed no gradient
  /// Finishes the reduction that runs, and drops the gradients that an interrupted backward pass
  /// has not begun to reduce. Reduced ones stay, as gradients do in a module without shards.
  void drop_unreduced();

  /// Replaces whole parameters in a dictionary by this rank's rows. `path` is that of the module.
  void take_rows(OrderedDict<std::string, Tensor>& state, const std::string& path);

  std::string name_of(const ShardedParam& param) const;  ///< the path that errors show
  const std::vector<ShardedParam>& params() const { return params_; }
  const ProcessGroupPtr& group() const { return group_; }

 private:
  struct Gathering {
    Tensor input, output;  // the flat shard; one row per rank
    WorkPtr work;
  };
  struct Reduction {
    std::vector<size_t> params;
    Tensor input, output;  // whole gradients, one row per rank; those of the shards
    WorkPtr work;
  };
  Tensor shard_of(const ShardedParam& param, const Tensor& flat) const;
  bool is_packed() const;
  void pack_shards();
  void finish_gathering();
  bool was_written(const ShardedParam& param) const;
  std::string keep_rows(const ShardedParam& param);
  void set_gradient_aside(size_t index);
  void take_gradient(size_t index);
  ScalarType reduce_dtype(const ShardedParam& param) const;
  void add_gradient(ShardedParam& param, const Tensor& shard) const;

  std::string path_;
  std::vector<ShardedParam> params_;
  ProcessGroupPtr group_;
  MixedPrecisionPolicy policy_;
  int ranks_;
  int64_t shard_numel_ = 0;
  Tensor flat_;  // the shards of all parameters, each padded to a block of `chunk` rows
  bool is_unsharded_ = false;
  std::optional<Gathering> gathering_;
  std::optional<Reduction> reduction_;
};

}  // namespace hearth::distributed
