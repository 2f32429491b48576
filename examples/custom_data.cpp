// Data of one's own: a dataset, transforms, and a loader whose threads make batches ahead.
#include <hearth/hearth.h>

#include <iostream>

using namespace hearth;

/// The numbers from 0 on, each with its remainder by three as the target.
class Remainders : public data::Dataset<Remainders> {
 public:
  explicit Remainders(size_t count) : count_(count) {}

  data::Example<> get(size_t index) override {
    HEARTH_CHECK_AS(IndexError, index != 13, "there is no 13");
    const auto number = static_cast<int64_t>(index);
    return {full({1}, number), tensor(number % 3)};
  }
  std::optional<size_t> size() const override { return count_; }

 private:
  size_t count_;
};

int main() {
  // Each example's data is halved; the examples of a batch are stacked.
  auto dataset = Remainders(7)
                     .map(data::transforms::TensorLambda<>([](const Tensor& x) { return x / 2; }))
                     .map(data::transforms::Stack<>());

  // In order, four at a time, made by two threads.
  auto loader = data::make_data_loader<data::samplers::SequentialSampler>(
      dataset, data::DataLoaderOptions().batch_size(4).workers(2));
  for (const auto& batch : *loader)
    std::cout << batch.data.flatten() << ' ' << batch.target << '\n';

  // In another order every epoch; what is too little for a batch is left out.
  manual_seed(0);
  auto shuffled =
      data::make_data_loader(dataset, data::DataLoaderOptions().batch_size(3).drop_last(true));
  for (int epoch = 0; epoch < 2; ++epoch)
    for (const auto& batch : *shuffled) std::cout << epoch << ": " << batch.target << '\n';

  // An example that cannot be made is reported with its index, from whichever thread.
  auto broken = data::make_data_loader<data::samplers::SequentialSampler>(
      Remainders(20).map(data::transforms::Stack<>()),
      data::DataLoaderOptions().batch_size(5).workers(2));
  try {
    for (const auto& batch : *broken) std::cout << batch.target << '\n';
  } catch (const std::exception& error) {
    std::cout << error.what() << '\n';
  }
}
