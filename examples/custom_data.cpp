// Your own data: a dataset, transforms, and a loader with worker threads.
#include <hearth/hearth.h>

#include <iostream>

using namespace hearth;

/// The numbers 0, 1, 2, …; the target of each is its remainder modulo 3.
class Remainders : public data::Dataset<Remainders> {
 public:
  explicit Remainders(size_t count) : count_(count) {}

  data::Example<> get(size_t index) override {
    HEARTH_CHECK_AS(IndexError, index != 13, "number 13 is missing");
    const auto number = static_cast<int64_t>(index);
    return {full({1}, number), tensor(number % 3)};
  }
  std::optional<size_t> size() const override { return count_; }

 private:
  size_t count_;
};

int main() {
  // Halves each example's data, then stacks the examples of a batch.
  auto dataset = Remainders(7)
                     .map(data::transforms::TensorLambda<>([](const Tensor& x) { return x / 2; }))
                     .map(data::transforms::Stack<>());

  // In order, four examples per batch, prepared by two threads.
  auto loader = data::make_data_loader<data::samplers::SequentialSampler>(
      dataset, data::DataLoaderOptions().batch_size(4).workers(2));
  for (const auto& batch : *loader)
    std::cout << batch.data.flatten() << ' ' << batch.target << '\n';

  // In a new random order every epoch, without an incomplete last batch.
  manual_seed(0);
  auto shuffled =
      data::make_data_loader(dataset, data::DataLoaderOptions().batch_size(3).drop_last(true));
  for (int epoch = 0; epoch < 2; ++epoch)
    for (const auto& batch : *shuffled) std::cout << epoch << ": " << batch.target << '\n';

  // An exception in a worker thread arrives here, with the index of the example.
  auto broken = data::make_data_loader<data::samplers::SequentialSampler>(
      Remainders(20).map(data::transforms::Stack<>()),
      data::DataLoaderOptions().batch_size(5).workers(2));
  try {
    for (const auto& batch : *broken) std::cout << batch.target << '\n';
  } catch (const std::exception& error) {
    std::cout << error.what() << '\n';
  }
}
