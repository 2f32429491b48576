#include "distributed/sharding/sharded_params.h"

#include "distributed/sharding/plain_mode.h"
#include "distributed/sharding/shard_ranks.h"
#include "hearth/autograd_hooks.h"
#include "hearth/memory_stats.h"
#include "hearth/operators.h"
#include "hearth/storage_resize.h"

namespace hearth::distributed {

namespace {

int64_t numel_of_row(IntArrayRef sizes) {
  int64_t numel = 1;
  for (size_t d = 1; d < sizes.size(); ++d) numel *= sizes[d];
  return numel;
}

}  // namespace

ShardedParam::ShardedParam(std::string path, Tensor parameter, int rank, int ranks)
    : key(std::move(path)),
      param(std::move(parameter)),
      sizes(param.sizes().vec()),
      blocks(param.size(0), ranks),
      row_numel(numel_of_row(param.sizes())),
      begin(blocks.begin(rank)),
      rows(blocks.size(rank)),
      padded_numel(blocks.chunk * row_numel) {}

std::vector<int64_t> ShardedParam::sizes_of(int64_t count) const {
  std::vector<int64_t> result = sizes;
  result[0] = count;
  return result;
}

void ShardedParams::check_one_kind(const std::string& path, const Named& params) {
  for (const auto& [key, param] : params) {
    const auto& [first_key, first] = params[0];
    HEARTH_CHECK(
        param.scalar_type() == first.scalar_type() && param.device() == first.device(),
        "fully_shard: the parameters of one module must have one dtype and one device, but '",
        joined_path(path, first_key), "' is ", hearth::name_of(first.scalar_type()), " on ",
        first.device(), " and '", joined_path(path, key), "' is ",
        hearth::name_of(param.scalar_type()), " on ", param.device(),
        "; convert one, or apply fully_shard to a submodule that contains only one of them");
  }
}

ShardedParams::ShardedParams(std::string path, const Named& params, ProcessGroupPtr group,
                             MixedPrecisionPolicy policy)
    : path_(std::move(path)),
      group_(std::move(group)),
      policy_(std::move(policy)),
      ranks_(get_world_size(group_)) {
  const PlainMode plain;
  for (const auto& [key, param] : params) {
    ShardedParam& added = params_.emplace_back(key, param, get_rank(group_), ranks_);
    added.offset = shard_numel_;
    shard_numel_ += added.padded_numel;
  }
  for (ShardedParam& param : params_) {
    const auto own_rows = [&param](const Tensor& whole) {
      return whole.detach().narrow(0, param.begin, param.rows).clone(MemoryFormat::Contiguous);
    };
    param.param.set_data(own_rows(param.param));
    if (Tensor& grad = param.param.mutable_grad(); grad.defined()) grad = own_rows(grad);
    if (ranks_ > 1)
      param.registration = std::make_unique<ShardRegistration>(param.param, shard_ranks(group_));
  }
  pack_shards();
}

Tensor ShardedParams::shard_of(const ShardedParam& param, const Tensor& flat) const {
  return flat.narrow(0, param.offset, param.numel_of(param.rows)).view(param.sizes_of(param.rows));
}

/// Whether all parameters are still views of the flat shard: a user may have replaced or converted
/// them.
bool ShardedParams::is_packed() const {
  if (!flat_.defined()) return false;
  for (const ShardedParam& param : params_) {
    const Tensor& shard = param.param;
    if (shard.scalar_type() != flat_.scalar_type() || shard.device() != flat_.device())
      return false;
    if (!shard.sizes().equals(param.sizes_of(param.rows)) || !shard.is_contiguous()) return false;
    if (shard.numel() > 0 && shard.data_ptr() != shard_of(param, flat_).data_ptr()) return false;
  }
  return true;
}

/// Makes the parameters views of one flat tensor, which is then gathered without a copy.
void ShardedParams::pack_shards() {
  if (params_.empty() || is_packed()) return;
  Named current;
  for (const ShardedParam& param : params_) current.emplace_back(param.key, param.param);
  check_one_kind(path_, current);
  const Tensor& first = params_[0].param;
  const MemoryTagGuard tag(MemoryTag::Parameter);
  const Tensor flat = zeros({shard_numel_}, first.options().requires_grad(false));
  for (const ShardedParam& param : params_) {
    const std::vector<int64_t> sizes = param.sizes_of(param.rows);
    HEARTH_CHECK(param.param.sizes().equals(sizes), "rank ", get_rank(group_), ": parameter '",
                 name_of(param), "' was replaced by a tensor of the sizes ", param.param.sizes(),
                 ", but its shard has the sizes ", IntArrayRef(sizes));
    shard_of(param, flat).copy_(param.param.detach());
  }
  for (const ShardedParam& param : params_) param.param.set_data(shard_of(param, flat));
  flat_ = flat;
}

std::string ShardedParams::name_of(const ShardedParam& param) const {
  return joined_path(path_, param.key);
}

void ShardedParams::take_rows(OrderedDict<std::string, Tensor>& state, const std::string& path) {
  reshard();
  for (const ShardedParam& param : params_) {
    Tensor* const value = state.find(joined_path(path, param.key));
    if (value && value->defined() && value->sizes().equals(param.sizes))
      *value = value->narrow(0, param.begin, param.rows);
  }
}

void ShardedParams::start_unshard() {
  if (is_unsharded_ || gathering_ || params_.empty()) return;
  const PlainMode plain;
  const MemoryTagGuard tag(MemoryTag::Workspace);
  pack_shards();
  Gathering& started = gathering_.emplace();
  started.input = flat_.to(policy_.param_dtype().value_or(flat_.scalar_type()));
  started.output = empty({ranks_, shard_numel_}, started.input.options());
  if (shard_numel_ > 0)
    started.work = all_gather_into_tensor(started.output, started.input, group_, true);
}

void ShardedParams::unshard() {
  start_unshard();
  if (gathering_) finish_gathering();
}

void ShardedParams::finish_gathering() {
  const Gathering gathered = *std::exchange(gathering_, std::nullopt);
  if (gathered.work) gathered.work->wait();
  const PlainMode plain;
  const MemoryTagGuard tag(MemoryTag::Parameter);
  for (ShardedParam& param : params_) {
    const std::vector<int64_t> sizes = param.sizes_of(ranks_ * param.blocks.chunk);
    const TensorOptions options = gathered.output.options();
    if (!param.whole.defined() || param.whole.device() != options.device() ||
        param.whole.scalar_type() != gathered.output.scalar_type())
      param.whole = empty(sizes, options);
    else
      resize_storage_(param.whole.storage(), param.whole.nbytes());
    param.whole.view({ranks_, param.padded_numel})
        .copy_(gathered.output.narrow(1, param.offset, param.padded_numel));
    param.param.set_data(param.whole.narrow(0, 0, param.sizes[0]));
    param.version = param.param._version();
  }
  is_unsharded_ = true;
}

void ShardedParams::cancel_unshard() {
  if (!gathering_) return;
  const Gathering unused = *std::exchange(gathering_, std::nullopt);
  if (unused.work) unused.work->wait();
}

/// Whether the program has changed the gathered parameter, or replaced it by another tensor.
bool ShardedParams::was_written(const ShardedParam& param) const {
  return param.param._version() != param.version ||
         param.param.data_ptr() != param.whole.data_ptr();
}

/// Copies this rank's rows of the gathered parameter to its shard. Returns an error text; empty if
/// that was possible.
std::string ShardedParams::keep_rows(const ShardedParam& param) {
  const Tensor whole = param.param.detach();
  if (whole.sizes().equals(param.sizes) && whole.scalar_type() == flat_.scalar_type()) {
    shard_of(param, flat_).copy_(whole.narrow(0, param.begin, param.rows));
    return "";
  }
  return detail::str("fully_shard: parameter '", name_of(param),
                     "' was changed while it was gathered as ",
                     hearth::name_of(whole.scalar_type()), " ", whole.sizes(),
                     ", but its shard is part of ", hearth::name_of(flat_.scalar_type()), " ",
                     IntArrayRef(param.sizes), ". The change is lost; change the shard instead");
}

void ShardedParams::reshard() {
  cancel_unshard();
  if (!is_unsharded_) return;
  const PlainMode plain;
  is_unsharded_ = false;
  std::string error;
  for (ShardedParam& param : params_) {
    if (was_written(param))
      if (const std::string text = keep_rows(param); error.empty()) error = text;
    param.param.set_data(shard_of(param, flat_));
    // Tensors that ops have saved keep the storage; its memory returns with the next gathering.
    resize_storage_(param.whole.storage(), 0);
  }
  HEARTH_CHECK(error.empty(), error);
}

}  // namespace hearth::distributed
