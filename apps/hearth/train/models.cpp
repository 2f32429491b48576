#include "models.h"

#include <functional>
#include <utility>

#include "../names.h"
#include "hearth/hearth.h"

namespace hearth::app {

namespace {

/// The network of the tutorials on training (docs/tutorials.md): two convolutions, three linear
/// layers.
struct TutorialCnn : nn::Cloneable<TutorialCnn> {
  explicit TutorialCnn(int64_t classes_) : classes(classes_) { reset(); }

  void reset() override {
    conv1 = register_module("conv1", nn::Conv2d(nn::Conv2dOptions(1, 6, 5)));
    conv2 = register_module("conv2", nn::Conv2d(nn::Conv2dOptions(6, 12, 5)));
    fc1 = register_module("fc1", nn::Linear(12 * 4 * 4, 120));
    fc2 = register_module("fc2", nn::Linear(120, 60));
    out = register_module("out", nn::Linear(60, classes));
  }
  Tensor forward(Tensor t) {
    t = max_pool2d(relu(conv1(t)), 2, 2);
    t = max_pool2d(relu(conv2(t)), 2, 2);
    t = relu(fc1(t.flatten(1)));
    t = relu(fc2(t));
    return out(t);
  }

  int64_t classes;
  nn::Conv2d conv1 = nullptr, conv2 = nullptr;
  nn::Linear fc1 = nullptr, fc2 = nullptr, out = nullptr;
};

/// LeNet-5 with ReLU and max pooling; padding enlarges images of 28x28 to 32x32.
struct LeNet : nn::Cloneable<LeNet> {
  explicit LeNet(int64_t classes_) : classes(classes_) { reset(); }

  void reset() override {
    conv1 = register_module("conv1", nn::Conv2d(nn::Conv2dOptions(1, 6, 5).padding(2)));
    conv2 = register_module("conv2", nn::Conv2d(nn::Conv2dOptions(6, 16, 5)));
    fc1 = register_module("fc1", nn::Linear(16 * 5 * 5, 120));
    fc2 = register_module("fc2", nn::Linear(120, 84));
    fc3 = register_module("fc3", nn::Linear(84, classes));
  }
  Tensor forward(Tensor t) {
    t = max_pool2d(relu(conv1(t)), 2);
    t = max_pool2d(relu(conv2(t)), 2);
    t = relu(fc1(t.flatten(1)));
    t = relu(fc2(t));
    return fc3(t);
  }

  int64_t classes;
  nn::Conv2d conv1 = nullptr, conv2 = nullptr;
  nn::Linear fc1 = nullptr, fc2 = nullptr, fc3 = nullptr;
};

/// A multilayer perceptron with two hidden layers, on pixels or other numbers.
struct Mlp : nn::Cloneable<Mlp> {
  Mlp(int64_t features_, int64_t classes_) : features(features_), classes(classes_) { reset(); }

  void reset() override {
    fc1 = register_module("fc1", nn::Linear(features, 256));
    fc2 = register_module("fc2", nn::Linear(256, 128));
    out = register_module("out", nn::Linear(128, classes));
  }
  Tensor forward(Tensor t) { return out(relu(fc2(relu(fc1(t.flatten(1)))))); }

  int64_t features, classes;
  nn::Linear fc1 = nullptr, fc2 = nullptr, out = nullptr;
};

struct Model {
  const char* name;
  nn::AnyModule (*make)(int64_t pixels, int64_t classes);
};

constexpr Model kModels[] = {
    {"tutorial-cnn",
     [](int64_t, int64_t classes) {
       return nn::AnyModule(std::make_shared<TutorialCnn>(classes));
     }},
    {"mlp", [](int64_t pixels,
               int64_t classes) { return nn::AnyModule(std::make_shared<Mlp>(pixels, classes)); }},
    {"lenet",
     [](int64_t, int64_t classes) { return nn::AnyModule(std::make_shared<LeNet>(classes)); }},
};

}  // namespace

const std::vector<std::string>& model_names() {
  static const std::vector<std::string> names = names_in(kModels);
  return names;
}

std::string current_model_name(const std::string& name) {
  return name == "seed-cnn" ? "tutorial-cnn" : name;
}

nn::AnyModule make_model(const std::string& name, IntArrayRef image_sizes, int64_t classes) {
  int64_t pixels = 1;
  for (const int64_t size : image_sizes) pixels *= size;
  const Model* model = find_named(kModels, name);
  if (!model) throw ValueError(unknown_name("model", name, model_names()));
  return model->make(pixels, classes);
}

}  // namespace hearth::app
