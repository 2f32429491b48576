#include "examples.h"

#include <algorithm>
#include <numeric>

#include "hearth/hearth.h"
#include "hearth/vision/functional.h"

namespace hearth::app {

namespace {

Tensor index_tensor(ArrayRef<size_t> indices) {
  const Tensor tensor = empty({static_cast<int64_t>(indices.size())}, kLong);
  std::copy(indices.begin(), indices.end(), tensor.data_ptr<int64_t>());
  return tensor;
}

/// Loads rows of a tensor; bytes become numbers from 0 to 1.
Examples::LoadInputs rows_in(const Tensor& inputs) {
  return [inputs](ArrayRef<size_t> indices) {
    const Tensor rows = inputs.index_select(0, index_tensor(indices));
    const bool is_bytes = rows.scalar_type() == kByte;
    return is_bytes ? vision::transforms::functional::convert_image_dtype(rows) : rows;
  };
}

}  // namespace

Examples::Examples(LoadInputs load_inputs, std::vector<int64_t> input_sizes, Tensor targets)
    : load_inputs_(std::move(load_inputs)),
      input_sizes_(std::move(input_sizes)),
      targets_(std::move(targets)) {}

Examples::Examples(Tensor inputs, Tensor targets)
    : Examples(rows_in(inputs), inputs.sizes().slice(1).vec(), std::move(targets)) {}

data::Example<> Examples::at(ArrayRef<size_t> indices) const {
  return {load_inputs_(indices), targets_.index_select(0, index_tensor(indices))};
}

data::Example<> Examples::batch(int64_t start, int64_t count) const {
  std::vector<size_t> indices(static_cast<size_t>(count));
  std::iota(indices.begin(), indices.end(), static_cast<size_t>(start));
  return at(indices);
}

Examples Examples::part(int64_t rank, int64_t count) const {
  const int64_t begin = this->count() * rank / count, end = this->count() * (rank + 1) / count;
  const auto shifted = [load = load_inputs_, begin](ArrayRef<size_t> indices) {
    std::vector<size_t> of_all = indices.vec();
    for (size_t& index : of_all) index += static_cast<size_t>(begin);
    return load(of_all);
  };
  return {shifted, input_sizes_, targets_.narrow(0, begin, end - begin)};
}

Examples Examples::first(int64_t count) const {
  return {load_inputs_, input_sizes_, targets_.narrow(0, 0, std::min(count, this->count()))};
}

Examples Examples::transformed(std::function<Tensor(Tensor)> change,
                               std::vector<int64_t> input_sizes) const {
  const auto changed = [load = load_inputs_, change](ArrayRef<size_t> indices) {
    std::vector<Tensor> examples = load(indices).unbind(0);
    for (Tensor& example : examples) example = change(std::move(example));
    return stack(examples);
  };
  return {changed, std::move(input_sizes), targets_};
}

}  // namespace hearth::app
