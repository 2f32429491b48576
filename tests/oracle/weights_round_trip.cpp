// Loads the weights of vision and language models that Python saved, runs the models and saves the
// weights again. weights_round_trip.py compiles and calls it; the argument is the folder of the
// files.
#include <functional>
#include <iostream>

#include "tests/zoo/models.h"

namespace {

using namespace hearth;

std::string folder;

/// For the model's .pt and for its .safetensors file: loads the weights, runs the model, and writes
/// the weights in the same format.
void round_trip(const std::string& name, nn::Module& model, const std::function<Tensor()>& run) {
  const NoGradGuard no_grad;
  model.eval();
  for (const std::string format : {".pt", ".safetensors"}) {
    const std::string path = folder + "/" + name, out = path + "_back" + format;
    for (const Tensor& parameter : model.parameters()) nn::init::zeros_(parameter);
    model.load_state_dict(io::load_tensors(path + format));
    io::save_tensors(io::named_tensors(model.state_dict()), out);
    io::save_npy(run(), out + ".npy");
  }
  std::cout << name << '\n';
}

}  // namespace

int main(int, char** argv) {
  folder = argv[1];
  hearth::testing::for_each_vision_model(round_trip);
  hearth::testing::for_each_language_model(round_trip);
}
