// Saving and loading: tensors, a model, files for Python, and resuming a training run.
#include <hearth/hearth.h>

#include <iostream>

using namespace hearth;

namespace {

double train(nn::Linear& model, optim::Optimizer& optimizer, int steps) {
  const Tensor x = eye(3), y = arange(3, kFloat).unsqueeze(1);
  double last = 0;
  for (int i = 0; i < steps; ++i) {
    optimizer.zero_grad();
    Tensor loss = mse_loss(model(x), y);
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  return last;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";

  // Save and load a tensor.
  save(arange(3), folder + "/tensor.safetensors");
  Tensor tensor;
  load(tensor, folder + "/tensor.safetensors");
  std::cout << tensor << '\n';

  // A model's weights by name, as Python's safetensors.torch.load_file reads them.
  nn::Linear model(3, 1);
  io::save_safetensors(model->state_dict(), folder + "/weights.safetensors");
  for (const auto& [name, weights] : io::load_safetensors(folder + "/weights.safetensors"))
    std::cout << name << ' ' << weights.sizes() << '\n';

  // A checkpoint holds everything needed to resume a run, with the results of an uninterrupted one.
  optim::Adam optimizer(model->parameters(), optim::AdamOptions(0.1));
  train(model, optimizer, 10);
  io::Checkpoint().add("model", model).add("optimizer", optimizer).save(folder + "/run.ckpt");
  const double without_stop = train(model, optimizer, 10);

  nn::Linear resumed(3, 1);
  optim::Adam resumed_optimizer(resumed->parameters(), optim::AdamOptions(0.1));
  io::Checkpoint()
      .add("model", resumed)
      .add("optimizer", resumed_optimizer)
      .load(folder + "/run.ckpt");
  std::cout << std::boolalpha << (train(resumed, resumed_optimizer, 10) == without_stop) << '\n';

  // Weights of other sizes are refused, and the network is unchanged.
  nn::Linear wider(4, 1);
  try {
    wider->load_state_dict(model->state_dict());
  } catch (const Error& error) {
    std::cout << error.what() << '\n';
  }
}
