#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "hearth/arg.h"
#include "hearth/nn/any.h"
#include "hearth/nn/cloneable.h"
#include "hearth/nn/enum.h"
#include "hearth/nn/pimpl.h"

namespace hearth::nn {

/// The reduction of a bag's rows: kSum, kMean or kMax.
using EmbeddingBagMode = std::variant<enumtype::kSum, enumtype::kMean, enumtype::kMax>;

/// The options that EmbeddingBag, from_pretrained() and functional::embedding_bag() share.
#define HEARTH_EMBEDDING_BAG_OPTIONS                                                             \
  HEARTH_ARG(std::optional<double>, max_norm);    /**< rows used are scaled down to this norm */ \
  HEARTH_ARG(double, norm_type) = 2.;             /**< the p of the p-norm for max_norm */       \
  HEARTH_ARG(bool, scale_grad_by_freq) = false;   /**< divides gradients by counts of indices */ \
  HEARTH_CHOICE(EmbeddingBagMode, mode) = kMean;  /**< kSum, kMean or kMax */                    \
  HEARTH_ARG(bool, sparse) = false;               /**< must be false */                          \
  HEARTH_ARG(bool, include_last_offset) = false;  /**< the last offset is the last bag's end */  \
  HEARTH_ARG(std::optional<int64_t>, padding_idx) /**< row that is skipped */

/// Options of EmbeddingBag.
struct HEARTH_API EmbeddingBagOptions {
  EmbeddingBagOptions(int64_t num_embeddings, int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}
  HEARTH_ARG(int64_t, num_embeddings);  ///< rows of the table
  HEARTH_ARG(int64_t, embedding_dim);   ///< columns of the table
  HEARTH_EMBEDDING_BAG_OPTIONS;
  HEARTH_ARG(Tensor, _weight);  ///< initial table, by default random
};
/// Options of EmbeddingBag::from_pretrained.
struct HEARTH_API EmbeddingBagFromPretrainedOptions {
  HEARTH_ARG(bool, freeze) = true;  ///< whether the table requires no gradient
  HEARTH_EMBEDDING_BAG_OPTIONS;
};

/// The sum, mean or maximum of the table's rows for each bag of indices, [bags, embedding_dim],
/// computed without a copy of the rows.
class HEARTH_API EmbeddingBagImpl : public Cloneable<EmbeddingBagImpl> {
 public:
  EmbeddingBagImpl(int64_t num_embeddings, int64_t embedding_dim);
  explicit EmbeddingBagImpl(EmbeddingBagOptions options_);
  void reset() override;
  void reset_parameters();  ///< draws new initial values
  void pretty_print(std::ostream& stream) const override;
  /// input is [bags, indices], or [indices] with the start of each bag in `offsets`;
  /// per_sample_weights (kSum only) has the input's sizes.
  Tensor forward(const Tensor& input, const Tensor& offsets = {},
                 const Tensor& per_sample_weights = {});

  EmbeddingBagOptions options;
  Tensor weight;  ///< the table, [num_embeddings, embedding_dim]

 protected:
  HEARTH_DECLARE_DEFAULT_ARGS
};

/// The holder of EmbeddingBagImpl.
class HEARTH_API EmbeddingBag : public ModuleHolder<EmbeddingBagImpl> {
 public:
  using ModuleHolder<EmbeddingBagImpl>::ModuleHolder;
  using Impl = EmbeddingBagImpl;
  /// An EmbeddingBag with the table `embeddings`.
  static EmbeddingBag from_pretrained(const Tensor& embeddings,
                                      const EmbeddingBagFromPretrainedOptions& options = {});
};

namespace functional {

/// Options of embedding_bag.
struct HEARTH_API EmbeddingBagFuncOptions {
  HEARTH_ARG(Tensor, offsets);             ///< the start of each bag, for 1-d indices
  HEARTH_ARG(Tensor, per_sample_weights);  ///< factors of the rows, with kSum
  HEARTH_EMBEDDING_BAG_OPTIONS;
};
#undef HEARTH_EMBEDDING_BAG_OPTIONS

/// As EmbeddingBag.
HEARTH_API Tensor embedding_bag(const Tensor& input, const Tensor& weight,
                                const EmbeddingBagFuncOptions& options = {});

}  // namespace functional

}  // namespace hearth::nn
