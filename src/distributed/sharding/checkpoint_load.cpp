// Loading of checkpoints: everything is read and checked on all ranks before the model is changed.
// If it fails on a rank, the optimizers of all ranks get their former state back.

#include "distributed/sharding/checkpoint_contents.h"
#include "distributed/sharding/checkpoint_files.h"
#include "distributed/sharding/plain_mode.h"
#include "distributed/sharding/same_on_all_ranks.h"
#include "hearth/distributed/checkpoint.h"
#include "hearth/io/key_hint.h"

namespace hearth::distributed::checkpoint {

namespace {

/// The new values of a model and its optimizer, read from a checkpoint.
class Loading {
 public:
  Loading(const nn::Module& model, const std::string& path)
      : reader_(Folder(path)), path_(path), parameters_(model) {}

  void read_model(const nn::Module& model, bool strict) {
    Contents own;
    add_model(model, parameters_, own);
    std::vector<std::string> keys = keys_with(kModelPrefix);
    for (const Piece& piece : own.pieces) {
      const auto found = std::find(keys.begin(), keys.end(), piece.key);
      if (found == keys.end()) {
        HEARTH_CHECK(!strict, "the checkpoint '", path_, "' has no '", piece.key, "'",
                     io::key_hint(piece.key, keys), ". The checkpoint is of another model");
        continue;
      }
      keys.erase(found);
      read_piece(piece);
    }
    HEARTH_CHECK(!strict || keys.empty(), "the checkpoint '", path_, "' has '",
                 keys.empty() ? "" : keys[0],
                 "', which the model does not have. The checkpoint is of another model");
  }

  /// Reads the state dict for the optimizer of this rank.
  void read_optimizer(const optim::Optimizer& optimizer) {
    HEARTH_CHECK(!keys_with(kOptimizerPrefix).empty() || has_values(), "the checkpoint '", path_,
                 "' was saved without an optimizer");
    size_t index = 0;
    for (const optim::OptimizerParamGroup& group : optimizer.param_groups())
      for (const Tensor& param : group.params())
        read_state(detail::str("state.", index++), parameters_.name_of(param));
    const std::string prefix = kOptimizerPrefix;
    for (const auto& item : reader_.index().values)
      if (item.key().starts_with(prefix) && !item.key().starts_with(kStatePrefix))
        state_.insert(item.key().substr(prefix.size()), item.value());
  }

  const optim::StateDict& optimizer_state() const { return state_; }
  void copy_to_model() const {
    const PlainMode plain;
    for (const auto& [target, value] : model_) target.copy_(value);
  }

 private:
  std::vector<std::string> keys_with(const std::string& prefix) const {
    std::vector<std::string> keys;
    for (const auto& [key, parts] : reader_.index().parts)
      if (key.starts_with(prefix)) keys.push_back(key);
    return keys;
  }

  bool has_values() const { return !reader_.index().values.empty(); }

  void read_piece(const Piece& piece) {
    const std::vector<int64_t> sizes = reader_.sizes(piece.key);
    HEARTH_CHECK(sizes == piece.sizes, "'", piece.key, "' has the sizes ", IntArrayRef(sizes),
                 " in the checkpoint '", path_, "', but ", IntArrayRef(piece.sizes),
                 " in the model");
    model_.emplace_back(piece.local, piece.is_divided()
                                         ? reader_.rows(piece.key, piece.begin, piece.local.size(0))
                                         : reader_.whole(piece.key));
  }

  /// Reads the state of one parameter, whose key in the state dict is "state.3".
  void read_state(const std::string& target, const std::string& name) {
    const std::string prefix = kStatePrefix + name + ".";
    const ShardedParam* const shard = parameters_.shard_of(name);
    for (const std::string& key : keys_with(prefix)) {
      const std::vector<int64_t> sizes = reader_.sizes(key);
      const bool is_divided = shard && !sizes.empty();
      HEARTH_CHECK(!is_divided || sizes == shard->sizes, "'", key, "' has the sizes ",
                   IntArrayRef(sizes), " in the checkpoint '", path_, "', but the parameter has ",
                   is_divided ? IntArrayRef(shard->sizes) : IntArrayRef());
      state_.insert(target + "." + key.substr(prefix.size()),
                    is_divided ? reader_.rows(key, shard->begin, shard->rows) : reader_.whole(key));
    }
    for (const auto& item : reader_.index().values)
      if (item.key().starts_with(prefix))
        state_.insert(target + "." + item.key().substr(prefix.size()), item.value());
  }

  Reader reader_;
  std::string path_;
  ModelParameters parameters_;
  std::vector<std::pair<Tensor, Tensor>> model_;  // the model's tensors, and their new values
  optim::StateDict state_;
};

void load_contents(nn::Module& model, optim::Optimizer* optimizer, const std::string& path,
                   const Options& options) {
  std::unique_ptr<Loading> loading;
  std::string error;
  optim::StateDict former;
  bool is_optimizer_loaded = false;
  try {
    loading = std::make_unique<Loading>(model, path);
    loading->read_model(model, options.strict());
    if (optimizer) {
      loading->read_optimizer(*optimizer);
      former = optimizer->state_dict();
      optimizer->load_state_dict(loading->optimizer_state());
      is_optimizer_loaded = true;
    }
  } catch (const std::exception& failure) {
    error = failure.what();
  }
  try {
    check_all_succeeded(error, options.process_group());
  } catch (...) {
    if (is_optimizer_loaded) optimizer->load_state_dict(former);
    throw;
  }
  loading->copy_to_model();
}

}  // namespace

void load(nn::Module& model, const std::string& checkpoint_id, const Options& options) {
  load_contents(model, nullptr, checkpoint_id, options);
}

void load(nn::Module& model, optim::Optimizer& optimizer, const std::string& checkpoint_id,
          const Options& options) {
  load_contents(model, &optimizer, checkpoint_id, options);
}

}  // namespace hearth::distributed::checkpoint
