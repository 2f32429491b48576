#include "optimizers.h"

#include "../names.h"

namespace hearth::app {

namespace {

using optim::Optimizer;

template <class Kind, class Options>
std::unique_ptr<Optimizer> make(const std::vector<Tensor>& parameters, double lr) {
  return std::make_unique<Kind>(parameters, Options(lr));
}

struct OptimizerKind {
  const char* name;
  std::unique_ptr<Optimizer> (*make)(const std::vector<Tensor>& parameters, double lr);
};

constexpr OptimizerKind kOptimizers[] = {
    {"adam", make<optim::Adam, optim::AdamOptions>},
    {"adamw", make<optim::AdamW, optim::AdamWOptions>},
    {"sgd", make<optim::SGD, optim::SGDOptions>},
    {"rmsprop", make<optim::RMSprop, optim::RMSpropOptions>},
    {"adagrad", make<optim::Adagrad, optim::AdagradOptions>},
};

}  // namespace

const std::vector<std::string>& optimizer_names() {
  static const std::vector<std::string> names = names_in(kOptimizers);
  return names;
}

std::unique_ptr<Optimizer> make_optimizer(const std::string& name,
                                          const std::vector<Tensor>& parameters, double lr) {
  const OptimizerKind* kind = find_named(kOptimizers, name);
  if (!kind) throw ValueError(unknown_name("optimizer", name, optimizer_names()));
  return kind->make(parameters, lr);
}

}  // namespace hearth::app
