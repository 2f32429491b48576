// Helpers for tests of samplers and loaders.
#pragma once

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "hearth/data.h"
#include "hearth/generator.h"

namespace hearth::testing {

using Batches = std::vector<std::vector<size_t>>;

/// A dataset of the numbers first, first + 1, first + 2, …
struct Count : data::datasets::Dataset<Count, size_t> {
  explicit Count(size_t size, size_t first = 0) : size_(size), first_(first) {}
  size_t get(size_t index) override {
    HEARTH_CHECK_AS(IndexError, index < size_, "no example ", index);
    return first_ + index;
  }
  std::optional<size_t> size() const override { return size_; }

 private:
  size_t size_, first_;
};

/// The remaining batches of a sampler's epoch.
template <class Sampler>
Batches rest_of(Sampler& sampler, size_t batch_size) {
  Batches batches;
  while (auto batch = sampler.next(batch_size)) batches.push_back(std::move(*batch));
  return batches;
}

/// The remaining batches of a loader's epoch; after its end, those of the next epoch.
template <class Loader>
Batches epoch_of(Loader& loader) {
  Batches batches;
  for (auto& batch : loader) batches.push_back(batch);
  return batches;
}

/// Loads the state of one sampler into another.
template <class Sampler>
void copy_state(const Sampler& from, Sampler& to) {
  serialize::OutputArchive saved;
  from.save(saved);
  serialize::InputArchive archive(saved);
  to.load(archive);
}

/// Checks that `other` continues from the state of `sampler` after one batch.
template <class Sampler>
void expect_continues(Sampler sampler, Sampler other, size_t batch_size) {
  (void)sampler.next(batch_size);
  copy_state(sampler, other);
  EXPECT_EQ(other.index(), sampler.index());
  EXPECT_EQ(rest_of(other, batch_size), rest_of(sampler, batch_size));
}

/// Checks that a loader with two workers continues from the state of one without workers after two
/// batches: the rest of the epoch and the next one are the same. `make` creates a sampler.
template <class Make>
void expect_loader_continues(size_t size, const Make& make, size_t batch_size) {
  const auto loader_of = [&](size_t workers) {
    return data::make_data_loader(Count(size), make(),
                                  data::DataLoaderOptions(batch_size).workers(workers));
  };
  manual_seed(6);
  auto first = loader_of(0);
  auto iterator = first->begin();
  (void)*iterator;
  (void)*++iterator;
  const serialize::OutputArchive state = first->state_dict();
  const Tensor generator = default_generator().get_state();
  Batches expected;
  while (++iterator != first->end()) expected.push_back(*iterator);
  for (auto& batch : epoch_of(*first)) expected.push_back(batch);

  manual_seed(7);
  auto second = loader_of(2);
  Generator(default_generator()).set_state(generator);
  second->load_state_dict(state);
  Batches continued = epoch_of(*second);
  for (auto& batch : epoch_of(*second)) continued.push_back(batch);
  EXPECT_GE(continued.size(), 3U);
  EXPECT_EQ(continued, expected);
}

}  // namespace hearth::testing
