#include "optimizers.h"

#include "../names.h"
#include "named_settings.h"

namespace hearth::app {

namespace {

using optim::Optimizer;
using Parameters = std::vector<Tensor>;

/// Makes an optimizer; Options::fields() lists the settings' names and types.
template <class Kind, class Options>
std::unique_ptr<Optimizer> make(const Parameters& parameters, double lr, SettingFields& settings) {
  Options options(lr);
  options.fields(settings);
  settings.check_all_known();
  return std::make_unique<Kind>(parameters, options);
}

struct OptimizerKind {
  const char* name;
  std::unique_ptr<Optimizer> (*make)(const Parameters& parameters, double lr,
                                     SettingFields& settings);
};

constexpr OptimizerKind kOptimizers[] = {
    {"adam", make<optim::Adam, optim::AdamOptions>},
    {"adamw", make<optim::AdamW, optim::AdamWOptions>},
    {"sgd", make<optim::SGD, optim::SGDOptions>},
    {"rmsprop", make<optim::RMSprop, optim::RMSpropOptions>},
    {"adagrad", make<optim::Adagrad, optim::AdagradOptions>},
    {"adadelta", make<optim::Adadelta, optim::AdadeltaOptions>},
    {"adafactor", make<optim::Adafactor, optim::AdafactorOptions>},
    {"adamax", make<optim::Adamax, optim::AdamaxOptions>},
    {"asgd", make<optim::ASGD, optim::ASGDOptions>},
    {"lbfgs", make<optim::LBFGS, optim::LBFGSOptions>},
    {"nadam", make<optim::NAdam, optim::NAdamOptions>},
    {"radam", make<optim::RAdam, optim::RAdamOptions>},
    {"rprop", make<optim::Rprop, optim::RpropOptions>},
};

}  // namespace

const std::vector<std::string>& optimizer_names() {
  static const std::vector<std::string> names = names_in(kOptimizers);
  return names;
}

std::unique_ptr<Optimizer> make_optimizer(const std::string& text, const Parameters& parameters,
                                          double lr) {
  const NamedSettings source = parse_named_settings(text);
  const OptimizerKind* kind = find_named(kOptimizers, source.name);
  if (!kind) throw ValueError(unknown_name("optimizer", source.name, optimizer_names()));
  for (const auto& [name, value] : source.settings)
    HEARTH_CHECK_AS(ValueError, name != "lr", "the learning rate is set by --lr ", value,
                    ", not by a setting of the optimizer");
  SettingFields settings(source);
  return kind->make(parameters, lr, settings);
}

}  // namespace hearth::app
