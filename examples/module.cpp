// A module: named parameters and submodules, and a forward function.
#include <hearth/hearth.h>

#include <iostream>

using namespace hearth;

// The class holds the parameters and submodules. HEARTH_MODULE defines Classifier, a shared pointer
// to a ClassifierImpl.
struct ClassifierImpl : nn::Module {
  ClassifierImpl(int64_t inputs, int64_t hidden, int64_t classes)
      : fc1(register_module("fc1", nn::Linear(inputs, hidden))),
        dropout(register_module("dropout", nn::Dropout(0.5))),
        fc2(register_module("fc2", nn::Linear(hidden, classes))),
        scale(register_parameter("scale", ones({1}))) {}

  Tensor forward(const Tensor& x) { return scale * fc2(dropout(relu(fc1(x)))); }

  nn::Linear fc1;
  nn::Dropout dropout;
  nn::Linear fc2;
  Tensor scale;
};
HEARTH_MODULE(Classifier);

int main() {
  manual_seed(0);
  Classifier model(4, 8, 3);
  std::cout << model << '\n';

  for (const auto& [name, parameter] : model->named_parameters().pairs())
    std::cout << name << ' ' << parameter.sizes() << '\n';

  // Calling the module calls forward. Dropout is active only in training mode.
  Tensor x = randn({2, 4});
  std::cout << std::boolalpha << model(x).equal(model(x)) << '\n';
  model->eval();
  std::cout << model(x).equal(model(x)) << '\n';

  // A chain of modules needs no class.
  nn::Sequential sequential(nn::Linear(4, 8), nn::ReLU(), nn::Linear(8, 3));
  std::cout << sequential(x).sizes() << '\n';

  // apply() calls a function with the module and every submodule.
  model->apply([](nn::Module& module) {
    if (auto* linear = module.as<nn::Linear>()) nn::init::zeros_(linear->bias);
  });
  std::cout << model->fc2->bias << '\n';

  // An error inside a module names the module.
  try {
    model(randn({2, 5}));
  } catch (const Error& error) {
    std::cout << error.what() << '\n';
  }
}
