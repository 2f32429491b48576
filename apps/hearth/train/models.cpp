#include "models.h"

#include <type_traits>
#include <utility>

#include "../names.h"
#include "checkpointed.h"
#include "hearth/hearth.h"
#include "hearth/vision/models.h"

namespace hearth::app {

namespace {

/// The network of the tutorial training_with_cuda_series_30 (docs/tutorials.md): two convolutions,
/// three linear layers.
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

/// Predicts each next character of a text from those before it.
struct CharLstm : nn::Cloneable<CharLstm> {
  explicit CharLstm(int64_t classes_) : classes(classes_) { reset(); }

  void reset() override {
    embedding = register_module("embedding", nn::Embedding(classes, 64));
    lstm = register_module("lstm", nn::LSTM(nn::LSTMOptions(64, 128).batch_first(true)));
    out = register_module("out", nn::Linear(128, classes));
  }
  /// Scores [batch, classes, length] for characters [batch, length].
  Tensor forward(Tensor t) { return out(std::get<0>(lstm(embedding(t)))).transpose(1, 2); }

  int64_t classes;
  nn::Embedding embedding = nullptr;
  nn::LSTM lstm = nullptr;
  nn::Linear out = nullptr;
};

enum class Input { kImage, kRgbImage, kNumbers, kText };

struct Model {
  const char* name;
  Input input;
  nn::AnyModule (*make)(int64_t elements, int64_t classes);  // elements of an input
  bool has_blocks;
};

/// A network of this file, whose constructor takes the number of elements of an input and that of
/// classes, or only that of classes.
template <class Net>
constexpr Model of_this_file(const char* name, Input input) {
  const auto make = [](int64_t elements, int64_t classes) {
    if constexpr (std::is_constructible_v<Net, int64_t, int64_t>)
      return nn::AnyModule(std::make_shared<Net>(elements, classes));
    else
      return (void)elements, nn::AnyModule(std::make_shared<Net>(classes));
  };
  return {name, input, make, NetworksWithBlocks::contain<Net>};
}

/// A network of vision::models, made by `function`.
template <auto function>
constexpr Model zoo(const char* name) {
  using Net = typename decltype(function(0))::ContainedType;
  const auto make = [](int64_t, int64_t classes) { return nn::AnyModule(function(classes)); };
  return {name, Input::kRgbImage, make, NetworksWithBlocks::contain<Net>};
}

constexpr Model kModels[] = {
    of_this_file<TutorialCnn>("tutorial-cnn", Input::kImage),
    of_this_file<Mlp>("mlp", Input::kNumbers),
    of_this_file<LeNet>("lenet", Input::kImage),
    of_this_file<CharLstm>("char-lstm", Input::kText),
    zoo<vision::models::resnet18>("resnet18"),
    zoo<vision::models::resnet34>("resnet34"),
    zoo<vision::models::resnet50>("resnet50"),
    zoo<vision::models::resnet101>("resnet101"),
    zoo<vision::models::resnet152>("resnet152"),
    zoo<vision::models::vgg11>("vgg11"),
    zoo<vision::models::vgg13>("vgg13"),
    zoo<vision::models::vgg16>("vgg16"),
    zoo<vision::models::vgg16_bn>("vgg16_bn"),
    zoo<vision::models::vgg19>("vgg19"),
    zoo<vision::models::alexnet>("alexnet"),
    zoo<vision::models::mobilenet_v2>("mobilenet_v2"),
    zoo<vision::models::vit_b_16>("vit_b_16"),
    zoo<vision::models::vit_b_32>("vit_b_32"),
    zoo<vision::models::vit_l_16>("vit_l_16"),
};

const Model& model_named(const std::string& name) {
  const Model* model = find_named(kModels, name);
  if (!model) throw ValueError(unknown_name("model", name, model_names()));
  return *model;
}

bool is_text(const Examples& examples) { return examples.targets().dim() > 1; }

}  // namespace

std::string model_for(const DataSets& data) {
  const std::vector<int64_t>& sizes = data.train.input_sizes();
  if (is_text(data.train)) return "char-lstm";
  if (sizes.size() == 1) return "mlp";
  return sizes == std::vector<int64_t>{1, 28, 28} ? "tutorial-cnn" : "resnet18";
}

DataSets data_for(const std::string& name, DataSets data) {
  const Model& model = model_named(name);
  const bool is_image = data.train.input_sizes().size() == 3,
             takes_text = model.input == Input::kText;
  const bool takes_image = model.input == Input::kImage || model.input == Input::kRgbImage;
  HEARTH_CHECK_AS(ValueError, takes_text == is_text(data.train) && (is_image || !takes_image),
                  "the model '", name, "' does not fit these data: try --model ", model_for(data));
  return model.input == Input::kRgbImage ? with_channels(std::move(data), 3) : std::move(data);
}

const std::vector<std::string>& model_names() {
  static const std::vector<std::string> names = names_in(kModels);
  return names;
}

std::string current_model_name(const std::string& name) {
  return name == "seed-cnn" ? "tutorial-cnn" : name;
}

void check_has_blocks(const std::string& name) {
  std::string others;
  for (const Model& model : kModels)
    if (model.has_blocks) others.append(others.empty() ? "" : ", ").append(model.name);
  HEARTH_CHECK_AS(ValueError, model_named(name).has_blocks,
                  "--checkpoint-activations recomputes the blocks of a network, but '", name,
                  "' has none; the flag works with ", others);
}

nn::AnyModule make_model(const std::string& name, IntArrayRef input_sizes, int64_t classes) {
  int64_t elements = 1;
  for (const int64_t size : input_sizes) elements *= size;
  return model_named(name).make(elements, classes);
}

}  // namespace hearth::app
