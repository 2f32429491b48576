// mnist [FOLDER [EPOCHS [BATCHES]]]: trains on the MNIST files in FOLDER (default ./data), at most
// BATCHES batches per epoch, then saves and loads the trained model.
#include <torch/torch.h>

#include <cstdlib>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <vector>

struct Net : torch::nn::Module {
  Net()
      : conv1(torch::nn::Conv2dOptions(1, 8, /*kernel_size=*/5)),
        conv2(torch::nn::Conv2dOptions(8, 16, /*kernel_size=*/5)),
        fc1(16 * 4 * 4, 64),
        fc2(64, 10) {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("drop", drop);
    register_module("fc1", fc1);
    register_module("fc2", fc2);
  }

  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(torch::max_pool2d(conv1->forward(x), 2));
    x = torch::relu(torch::max_pool2d(drop->forward(conv2->forward(x)), 2));
    x = x.view({-1, 16 * 4 * 4});
    x = torch::relu(fc1->forward(x));
    x = torch::dropout(x, /*p=*/0.25, /*train=*/is_training());
    return torch::log_softmax(fc2->forward(x), /*dim=*/1);
  }

  torch::nn::Conv2d conv1, conv2;
  torch::nn::Dropout2d drop;
  torch::nn::Linear fc1, fc2;
};

template <typename DataLoader>
void train(size_t epoch, Net& model, torch::Device device, DataLoader& data_loader,
           torch::optim::Optimizer& optimizer, size_t most_batches) {
  model.train();
  size_t batch_idx = 0;
  for (auto& batch : data_loader) {
    if (batch_idx == most_batches) break;
    auto data = batch.data.to(device), targets = batch.target.to(device);
    optimizer.zero_grad();
    auto output = model.forward(data);
    auto loss = torch::nll_loss(output, targets);
    AT_ASSERT(!std::isnan(loss.template item<float>()));
    loss.backward();
    optimizer.step();
    if (batch_idx++ % 10 == 0)
      std::cout << "train epoch " << epoch << " batch " << batch_idx << ": loss "
                << loss.template item<float>() << '\n';
  }
}

template <typename DataLoader>
void test(Net& model, torch::Device device, DataLoader& data_loader, size_t dataset_size) {
  torch::NoGradGuard no_grad;
  model.eval();
  double test_loss = 0;
  int64_t correct = 0;
  for (const auto& batch : data_loader) {
    auto data = batch.data.to(device), targets = batch.target.to(device);
    auto output = model.forward(data);
    test_loss += torch::nll_loss(output, targets, /*weight=*/{}, torch::Reduction::Sum)
                     .template item<float>();
    auto pred = output.argmax(1);
    correct += pred.eq(targets).sum().template item<int64_t>();
  }
  const auto size = static_cast<double>(dataset_size);
  std::cout << "test: loss " << test_loss / size << ", accuracy "
            << static_cast<double>(correct) / size << '\n';
}

int main(int argc, char* argv[]) {
  const std::string folder = argc > 1 ? argv[1] : "./data";
  const size_t epochs = argc > 2 ? std::stoul(argv[2]) : 3;
  const size_t most_batches = argc > 3 ? std::stoul(argv[3]) : std::numeric_limits<size_t>::max();

  torch::manual_seed(1);
  torch::DeviceType device_type = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
  torch::Device device(device_type);
  Net model;
  model.to(device);

  auto train_dataset = torch::data::datasets::MNIST(folder)
                           .map(torch::data::transforms::Normalize<>(0.1307, 0.3081))
                           .map(torch::data::transforms::Stack<>());
  auto train_loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      std::move(train_dataset), torch::data::DataLoaderOptions().batch_size(64));

  auto test_dataset =
      torch::data::datasets::MNIST(folder, torch::data::datasets::MNIST::Mode::kTest)
          .map(torch::data::transforms::Normalize<>(0.1307, 0.3081))
          .map(torch::data::transforms::Stack<>());
  const size_t test_dataset_size = test_dataset.size().value();
  auto test_loader = torch::data::make_data_loader(std::move(test_dataset), /*batch_size=*/500);

  torch::optim::SGD optimizer(model.parameters(), torch::optim::SGDOptions(0.01).momentum(0.5));
  for (size_t epoch = 1; epoch <= epochs; ++epoch) {
    train(epoch, model, device, *train_loader, optimizer, most_batches);
    test(model, device, *test_loader, test_dataset_size);
  }

  auto trained = std::make_shared<Net>(model), loaded = std::make_shared<Net>();
  torch::save(trained, "model.pt");
  torch::save(optimizer, "optimizer.pt");
  torch::load(loaded, "model.pt");
  loaded->to(device);
  torch::optim::SGD loaded_optimizer(loaded->parameters(), torch::optim::SGDOptions(1));
  torch::load(loaded_optimizer, "optimizer.pt");
  torch::NoGradGuard no_grad;
  model.eval(), loaded->eval();
  auto images = torch::rand({5, 1, 28, 28}).to(device);
  auto& options = loaded_optimizer.param_groups()[0].options();
  std::cout << "loaded: same outputs "
            << torch::equal(model.forward(images), loaded->forward(images)) << ", lr "
            << options.get_lr() << '\n';
}
