#pragma once

#include <cstdint>
#include <optional>

#include "hearth/arg.h"
#include "hearth/nn/cloneable.h"
#include "hearth/nn/pimpl.h"

namespace hearth::nn {

/// The options that Embedding, from_pretrained() and functional::embedding() share.
#define HEARTH_EMBEDDING_OPTIONS                                                                  \
  HEARTH_ARG(std::optional<int64_t>, padding_idx); /**< row without gradient; 0 at random init */ \
  HEARTH_ARG(std::optional<double>, max_norm);     /**< rows used are scaled down to this norm */ \
  HEARTH_ARG(double, norm_type) = 2.;              /**< the p of the p-norm for max_norm */       \
  HEARTH_ARG(bool, scale_grad_by_freq) = false;    /**< divides gradients by counts of indices */ \
  HEARTH_ARG(bool, sparse) = false                 /**< must be false */

/// Options of Embedding.
struct HEARTH_API EmbeddingOptions {
  EmbeddingOptions(int64_t num_embeddings, int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}
  HEARTH_ARG(int64_t, num_embeddings);  ///< rows of the table
  HEARTH_ARG(int64_t, embedding_dim);   ///< columns of the table
  HEARTH_EMBEDDING_OPTIONS;
  HEARTH_ARG(Tensor, _weight);  ///< initial table, by default random
};
/// Options of Embedding::from_pretrained.
struct HEARTH_API EmbeddingFromPretrainedOptions {
  HEARTH_ARG(bool, freeze) = true;  ///< whether the table requires no gradient
  HEARTH_EMBEDDING_OPTIONS;
};

/// weight[indices], a row of the table for each index: […] to […, embedding_dim].
class HEARTH_API EmbeddingImpl : public Cloneable<EmbeddingImpl> {
 public:
  EmbeddingImpl(int64_t num_embeddings, int64_t embedding_dim);
  explicit EmbeddingImpl(EmbeddingOptions options_);
  void reset() override;
  void reset_parameters();  ///< draws new initial values
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& indices);

  EmbeddingOptions options;
  Tensor weight;  ///< the table, [num_embeddings, embedding_dim]

 private:
  Tensor look_up(const Tensor& indices);
};

/// The holder of EmbeddingImpl.
class HEARTH_API Embedding : public ModuleHolder<EmbeddingImpl> {
 public:
  using ModuleHolder<EmbeddingImpl>::ModuleHolder;
  using Impl = EmbeddingImpl;
  /// An embedding with the table `embeddings`.
  static Embedding from_pretrained(const Tensor& embeddings,
                                   const EmbeddingFromPretrainedOptions& options = {});
};

namespace functional {

/// Options of embedding.
struct HEARTH_API EmbeddingFuncOptions {
  HEARTH_EMBEDDING_OPTIONS;
};
#undef HEARTH_EMBEDDING_OPTIONS

/// weight[input].
HEARTH_API Tensor embedding(const Tensor& input, const Tensor& weight,
                            const EmbeddingFuncOptions& options = {});
/// […] to […, num_classes]: 1 at each index, else 0; num_classes -1: the largest index + 1.
HEARTH_API Tensor one_hot(const Tensor& tensor, int64_t num_classes = -1);

}  // namespace functional

}  // namespace hearth::nn
