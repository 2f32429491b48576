#pragma once

#include <cstdint>
#include <optional>

#include "hearth/arg.h"
#include "hearth/nn/cloneable.h"
#include "hearth/nn/pimpl.h"

namespace hearth::nn {

/// The options that Embedding, from_pretrained() and functional::embedding() share.
#define HEARTH_EMBEDDING_OPTIONS                               \
  /** Its row gets no gradient, and starts as 0. */            \
  HEARTH_ARG(std::optional<int64_t>, padding_idx);             \
  /** Rows that are looked up are scaled down to this norm. */ \
  HEARTH_ARG(std::optional<double>, max_norm);                 \
  HEARTH_ARG(double, norm_type) = 2.;                          \
  HEARTH_ARG(bool, scale_grad_by_freq) = false;                \
  HEARTH_ARG(bool, sparse) = false

struct HEARTH_API EmbeddingOptions {
  EmbeddingOptions(int64_t num_embeddings, int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}
  HEARTH_ARG(int64_t, num_embeddings);
  HEARTH_ARG(int64_t, embedding_dim);
  HEARTH_EMBEDDING_OPTIONS;
  /// The table to start with, instead of one that is drawn.
  HEARTH_ARG(Tensor, _weight);
};
struct HEARTH_API EmbeddingFromPretrainedOptions {
  /// Whether the table is left as it is.
  HEARTH_ARG(bool, freeze) = true;
  HEARTH_EMBEDDING_OPTIONS;
};

/// weight[input]: a row of the table for each index.
class HEARTH_API EmbeddingImpl : public Cloneable<EmbeddingImpl> {
 public:
  EmbeddingImpl(int64_t num_embeddings, int64_t embedding_dim);
  explicit EmbeddingImpl(EmbeddingOptions options_);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& indices);

  EmbeddingOptions options;
  Tensor weight;

 private:
  Tensor look_up(const Tensor& indices);
};

class HEARTH_API Embedding : public ModuleHolder<EmbeddingImpl> {
 public:
  using ModuleHolder<EmbeddingImpl>::ModuleHolder;
  using Impl = EmbeddingImpl;
  /// An embedding over this table.
  static Embedding from_pretrained(const Tensor& embeddings,
                                   const EmbeddingFromPretrainedOptions& options = {});
};

namespace functional {

struct HEARTH_API EmbeddingFuncOptions {
  HEARTH_EMBEDDING_OPTIONS;
};
#undef HEARTH_EMBEDDING_OPTIONS

HEARTH_API Tensor embedding(const Tensor& input, const Tensor& weight,
                            const EmbeddingFuncOptions& options = {});
HEARTH_API Tensor one_hot(const Tensor& tensor, int64_t num_classes = -1);

}  // namespace functional

}  // namespace hearth::nn
