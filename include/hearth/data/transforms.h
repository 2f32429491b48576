#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "hearth/data/example.h"
#include "hearth/data/workers.h"

namespace hearth::data::transforms {

/// Base of transforms, which map a batch to another.
template <class InputBatch, class OutputBatch>
class BatchTransform {
 public:
  using InputBatchType = InputBatch;
  using OutputBatchType = OutputBatch;

  virtual ~BatchTransform() = default;
  virtual OutputBatch apply_batch(InputBatch input_batch) = 0;  ///< the transformed batch
};

/// Base of transforms that map each example of a batch to another.
template <class Input, class Output>
class Transform : public BatchTransform<std::vector<Input>, std::vector<Output>> {
 public:
  using InputType = Input;
  using OutputType = Output;

  virtual OutputType apply(InputType input) = 0;  ///< the transformed example

  std::vector<Output> apply_batch(std::vector<Input> input_batch) override {
    std::vector<Output> output_batch;
    output_batch.reserve(input_batch.size());
    const detail::PositionGuard position;  // of the example, for error texts
    for (size_t i = 0; i < input_batch.size(); ++i) {
      position.set(i);
      output_batch.push_back(apply(std::move(input_batch[i])));
    }
    return output_batch;
  }
};

/// Applies a function to each batch.
template <class Input, class Output = Input>
class BatchLambda : public BatchTransform<Input, Output> {
 public:
  using typename BatchTransform<Input, Output>::InputBatchType;
  using typename BatchTransform<Input, Output>::OutputBatchType;
  using FunctionType = std::function<OutputBatchType(InputBatchType)>;

  explicit BatchLambda(FunctionType function) : function_(std::move(function)) {}
  OutputBatchType apply_batch(InputBatchType input_batch) override {
    return function_(std::move(input_batch));
  }

 private:
  FunctionType function_;
};

/// Applies a function to each example.
template <class Input, class Output = Input>
class Lambda : public Transform<Input, Output> {
 public:
  using typename Transform<Input, Output>::InputType;
  using typename Transform<Input, Output>::OutputType;
  using FunctionType = std::function<Output(Input)>;

  explicit Lambda(FunctionType function) : function_(std::move(function)) {}
  OutputType apply(InputType input) override { return function_(std::move(input)); }

 private:
  FunctionType function_;
};

/// Base of transforms that combine a list of examples into one.
template <class T, class BatchType = std::vector<T>>
using Collation = BatchTransform<BatchType, T>;
template <class T, class BatchType = std::vector<T>>
using Collate = BatchLambda<BatchType, T>;  ///< a Collation by a function

/// Stacks the examples' tensors along a new first dimension.
template <class T = Example<>>
struct Stack;
template <>
struct HEARTH_API Stack<Example<>> : Collation<Example<>> {
  Example<> apply_batch(std::vector<Example<>> examples) override;
};
template <>
struct HEARTH_API Stack<TensorExample> : Collation<TensorExample> {
  TensorExample apply_batch(std::vector<TensorExample> examples) override;
};

/// Base of transforms of each example's data tensor.
template <class Target = Tensor>
class TensorTransform : public Transform<Example<Tensor, Target>, Example<Tensor, Target>> {
 public:
  using E = Example<Tensor, Target>;
  using typename Transform<E, E>::InputType;
  using typename Transform<E, E>::OutputType;

  virtual Tensor operator()(Tensor input) = 0;  ///< the transformed data
  OutputType apply(InputType input) override {
    input.data = (*this)(std::move(input.data));
    return input;
  }
};

/// Applies a function to each example's data tensor.
template <class Target = Tensor>
class TensorLambda : public TensorTransform<Target> {
 public:
  using FunctionType = std::function<Tensor(Tensor)>;

  explicit TensorLambda(FunctionType function) : function_(std::move(function)) {}
  Tensor operator()(Tensor input) override { return function_(std::move(input)); }

 private:
  FunctionType function_;
};

/// Applies a transform of tensors, such as Normalize, to a whole batch of stacked examples at once,
/// for example of datasets::BatchedTensors. A random transform then treats all examples of a batch
/// alike.
template <class Transformation>
class WholeBatch : public BatchTransform<Example<>, Example<>> {
 public:
  explicit WholeBatch(Transformation transformation) : transformation_(std::move(transformation)) {}
  Example<> apply_batch(Example<> batch) override {
    batch.data = transformation_(std::move(batch.data));
    return batch;
  }

 private:
  Transformation transformation_;
};

namespace detail {
/// The values as a tensor [channels, 1, 1].
HEARTH_API Tensor per_channel(ArrayRef<double> values);
HEARTH_API Tensor normalize(const Tensor& input, const Tensor& mean, const Tensor& stddev);
HEARTH_API Tensor image_to_tensor(const Tensor& image);
}  // namespace detail

/// (data - mean) / stddev for each channel of [channels, height, width].
template <class Target = Tensor>
struct Normalize : TensorTransform<Target> {
  Normalize(ArrayRef<double> mean_, ArrayRef<double> stddev_)
      : mean(detail::per_channel(mean_)), stddev(detail::per_channel(stddev_)) {}
  Tensor operator()(Tensor input) override { return detail::normalize(input, mean, stddev); }

  Tensor mean, stddev;
};

/// [height, width, channels] or [height, width] to [channels, height, width]; bytes become floats
/// from 0 to 1.
template <class Target = Tensor>
struct ToTensor : TensorTransform<Target> {
  Tensor operator()(Tensor input) override { return detail::image_to_tensor(input); }
};

}  // namespace hearth::data::transforms
