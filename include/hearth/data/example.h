#pragma once

#include <utility>

#include "hearth/tensor.h"

namespace hearth::data {

/// One example of a dataset or a batch of them: data and target.
template <class Data = Tensor, class Target = Tensor>
struct Example {
  using DataType = Data;
  using TargetType = Target;

  Example() = default;
  Example(Data data_, Target target_) : data(std::move(data_)), target(std::move(target_)) {}

  Data data;
  Target target;
};

namespace example {
using NoTarget = void;
}

/// An example without a target; converts to its data.
template <class Data>
struct Example<Data, example::NoTarget> {
  using DataType = Data;
  using TargetType = example::NoTarget;

  Example() = default;
  Example(Data data_) : data(std::move(data_)) {}
  operator Data&() { return data; }
  operator const Data&() const { return data; }

  Data data;
};

using TensorExample = Example<Tensor, example::NoTarget>;  ///< a tensor without a target

}  // namespace hearth::data
