#pragma once

#include <map>
#include <string>
#include <vector>

#include "hearth/ivalue_containers.h"

namespace hearth::io {

/// A value as a pickle, and the storages that it refers to as "0", "1", ….
struct Pickled {
  std::string pickle;
  std::vector<Tensor> storages;  // of one dimension, on the CPU
};

/// Writes a value as Python's torch.save does. Tensors that share memory share a storage.
Pickled pickle_value(const IValue& value);

}  // namespace hearth::io
