// Your own data: a dataset, a chain of transforms, a loader with threads, tensors from vectors.
#include <torch/torch.h>

#include <cmath>
#include <iostream>
#include <vector>

/// Waves of two kinds: sine waves have label 0, sawtooth waves label 1.
class Waves : public torch::data::datasets::Dataset<Waves> {
 public:
  explicit Waves(size_t count) : count_(count) {}

  torch::data::Example<> get(size_t index) override {
    const auto label = static_cast<int64_t>(index % 2);
    std::vector<float> samples;
    for (int i = 0; i < 32; ++i) {
      const auto t = static_cast<float>(i) / 8 + static_cast<float>(index % 7) / 7;
      samples.push_back(label == 0 ? std::sin(6.2831853F * t) : 2 * (t - std::floor(t)) - 1);
    }
    auto data = torch::from_blob(samples.data(), {32}, torch::kFloat).clone();
    return {data, torch::tensor(label, torch::kLong)};
  }
  torch::optional<size_t> size() const override { return count_; }

 private:
  size_t count_;
};

int main() {
  torch::manual_seed(5);
  auto dataset = Waves(100)
                     .map(torch::data::transforms::TensorLambda<>(
                         [](torch::Tensor wave) { return wave.mul(0.5).add(0.1); }))
                     .map(torch::data::transforms::Stack<>());
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      dataset, torch::data::DataLoaderOptions().batch_size(16).workers(2).drop_last(true));

  torch::nn::Sequential model(torch::nn::Conv1d(torch::nn::Conv1dOptions(1, 4, 5).stride(4)),
                              torch::nn::ReLU(), torch::nn::Flatten(), torch::nn::Linear(4 * 7, 2));
  torch::optim::Adam optimizer(model->parameters(), 0.01);
  for (int epoch = 1; epoch <= 3; ++epoch) {
    double sum = 0;
    int batches = 0;
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      auto loss = torch::cross_entropy_loss(model->forward(batch.data.unsqueeze(1)), batch.target);
      loss.backward();
      optimizer.step();
      sum += loss.item<double>();
      ++batches;
    }
    std::cout << "epoch " << epoch << ": " << batches << " batches, loss " << sum / batches << '\n';
  }

  auto in_order = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      Waves(5), /*options=*/2);
  for (auto& examples : *in_order) {
    for (auto& example : examples)
      std::cout << example.target.item<int64_t>() << ' ' << example.data.abs().sum().item<float>()
                << "; ";
    std::cout << '\n';
  }
}
