#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "hearth/hearth.h"

// Times one epoch of Fashion-MNIST, shuffled and normalised, in batches of 100 by two workers: with
// one tensor per example, and with whole batches (datasets::BatchedTensors). peer/data.sh compares
// the times with the DataLoader of PyTorch. Prints "name best median" in microseconds per batch.

namespace {

using namespace hearth::data;

constexpr size_t kBatch = 100;

template <class Dataset>
void report(const char* name, const Dataset& dataset, size_t examples) {
  const auto loader = make_data_loader<samplers::RandomSampler>(
      dataset, DataLoaderOptions().batch_size(kBatch).workers(2));
  std::vector<double> times;
  for (int epoch = 0; epoch < 5; ++epoch) {
    const auto begin = std::chrono::steady_clock::now();
    size_t seen = 0;
    for (const Example<>& batch : *loader) seen += size_t(batch.data.size(0));
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
    if (seen != examples) std::printf("%s: %zu examples\n", name, seen);
    times.push_back(time.count() / double(examples / kBatch));
  }
  std::sort(times.begin(), times.end());
  std::printf("%s %.1f %.1f\n", name, times[0], times[times.size() / 2]);
}

}  // namespace

int main() {
  const datasets::FashionMNIST images;
  const size_t examples = *images.size();
  const transforms::Normalize<> normalize({0.286}, {0.353});
  report("examples", datasets::FashionMNIST(images).map(normalize).map(transforms::Stack<>()),
         examples);
  // One measurement under two names: peer/data.py has a different measurement for each.
  for (const char* name : {"batches", "tensors"})
    report(name, images.batched().map(transforms::WholeBatch(normalize)), examples);
}
