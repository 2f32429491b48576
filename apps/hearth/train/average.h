#pragma once

#include <optional>

#include "hearth/nn.h"
#include "hearth/optim/swa_utils.h"

namespace hearth::app {

/// The exponential moving average of a model's weights.
class Average {
 public:
  Average(const nn::AnyModule& model, double decay);
  Average(const Average&) = delete;
  Average& operator=(const Average&) = delete;

  void update(const nn::Module& model) { average_.update_parameters(model); }
  /// A model with the averaged weights.
  nn::AnyModule& model();
  void save(serialize::OutputArchive& archive) const { average_.save(archive); }
  void load(serialize::InputArchive& archive) { average_.load(archive); }

 private:
  optim::swa_utils::AveragedModel<nn::Module> average_;
  nn::AnyModule model_;  // model() lets it use the average's memory
};

}  // namespace hearth::app
