#pragma once

#include "data_sets.h"

namespace hearth::app {

// The loaders of load_data(): each reads the data at a path.

DataSets load_cifar10(const std::string& folder, const DataOptions& options);
DataSets load_cifar100(const std::string& folder, const DataOptions& options);
/// folder/train/<class>/… and folder/val/<class>/… (or valid, validation, test); or
/// folder/<class>/…, of which a fifth is for testing.
DataSets load_image_folder(const std::string& folder, const DataOptions& options);
/// A table of numbers, standardised, whose last column names the class. A fifth of the rows is for
/// testing.
DataSets load_csv(const std::string& file, const DataOptions& options);
/// Examples of 64 characters of a text; the target of each character is the next one. The last
/// tenth is for testing.
DataSets load_text(const std::string& file, const DataOptions& options);

/// Inputs and targets of one set in memory.
struct Tensors {
  Tensor inputs, targets;
};

/// At most the first `limit` examples of each set, with checksums.
DataSets in_memory(Tensors train, Tensors test, int64_t classes, std::optional<int64_t> limit);

/// A checksum as text: "a81f03b2".
std::string checksum_of(const void* data, size_t bytes);

/// Numbers below `count`, in order, at most `limit` of them. They are chosen at random, the same in
/// every run: the first ones of a sorted set would have the same class.
std::vector<size_t> random_choice(int64_t count, std::optional<int64_t> limit);

/// A random fifth of the numbers below `count` for testing, the same in every run, and the others;
/// at most `limit` of each.
struct Split {
  std::vector<size_t> train, test;
};
Split random_split_of(int64_t count, std::optional<int64_t> limit);

}  // namespace hearth::app
