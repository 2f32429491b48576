// Pieces that GPT-2 and BERT share.
#pragma once

#include <hearth/hearth.h>

#include <cmath>
#include <string>

namespace models {

using namespace hearth;

/// [N, L, heads * width] -> [N, heads, L, width].
inline Tensor split_heads(const Tensor& x, int64_t heads) {
  return x.unflatten(2, {heads, x.size(2) / heads}).transpose(1, 2);
}

/// [N, heads, L, width] -> [N, L, heads * width].
inline Tensor merge_heads(const Tensor& x) { return x.transpose(1, 2).flatten(2); }

/// Draws matrices and embeddings from N(0, 0.02^2) and sets biases to 0.
inline void init_parameters(nn::Module& module) {
  for (const auto& item : module.named_parameters()) {
    if (item->dim() > 1) nn::init::normal_(item.value(), 0, 0.02);
    if (item.key().ends_with("bias")) nn::init::zeros_(item.value());
  }
}

/// Throws unless the ids are int64 [N, L] and fit into the positions after `seen` earlier tokens.
inline void check_tokens(const Tensor& ids, int64_t positions, int64_t seen = 0) {
  HEARTH_CHECK(ids.dim() == 2 && ids.scalar_type() == kLong,
               "expected int64 token ids [N, L], but got ", name_of(ids.scalar_type()), " ",
               ids.sizes());
  HEARTH_CHECK(seen + ids.size(1) <= positions, "a sequence of ", seen + ids.size(1),
               " tokens is longer than ", positions, " positions");
}

using State = OrderedDict<std::string, Tensor>;

/// The state dict with each name replaced by rename(name); drops tensors whose new name is empty.
template <class Rename>
State renamed(const State& state, Rename rename) {
  State result;
  for (const auto& item : state)
    if (const std::string name = rename(item.key()); !name.empty())
      result.insert(name, item.value());
  return result;
}

/// The tensors of a folder's model.safetensors, or of all its shards.
inline State load_state(const std::string& folder) {
  State state;
  for (const auto& [name, tensor] : io::load_sharded_safetensors(folder))
    state.insert(name, tensor);
  return state;
}

/// The number of layers, counted by the names prefix + number + suffix.
inline int64_t count_layers(const State& state, const std::string& prefix,
                            const std::string& suffix) {
  int64_t count = 0;
  while (state.contains(prefix + std::to_string(count) + suffix)) ++count;
  return count;
}

}  // namespace models
