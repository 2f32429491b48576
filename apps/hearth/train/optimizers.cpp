#include "optimizers.h"

#include "../names.h"

namespace hearth::app {

const std::vector<std::string>& optimizer_names() {
  static const std::vector<std::string> names{"adam", "adamw", "sgd", "rmsprop", "adagrad"};
  return names;
}

std::unique_ptr<optim::Optimizer> make_optimizer(const std::string& name,
                                                 const std::vector<Tensor>& parameters, double lr) {
  using namespace optim;
  if (name == "adam") return std::make_unique<Adam>(parameters, AdamOptions(lr));
  if (name == "adamw") return std::make_unique<AdamW>(parameters, AdamWOptions(lr));
  if (name == "sgd") return std::make_unique<SGD>(parameters, SGDOptions(lr));
  if (name == "rmsprop") return std::make_unique<RMSprop>(parameters, RMSpropOptions(lr));
  if (name == "adagrad") return std::make_unique<Adagrad>(parameters, AdagradOptions(lr));
  throw ValueError(unknown_name("optimizer", name, optimizer_names()));
}

}  // namespace hearth::app
