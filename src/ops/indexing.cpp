// t.index({...}), t.index_put_({...}, x), t[i] and t[i] = x, and the texts of indices.
#include "hearth/indexing.h"

#include <cstring>
#include <ostream>

#include "ops/call.h"
#include "ops/index.h"

namespace hearth {

namespace indexing {

Slice::Slice(std::optional<int64_t> start, std::optional<int64_t> stop, std::optional<int64_t> step)
    : step_(step.value_or(1)) {
  HEARTH_CHECK_AS(ValueError, step_ != 0, "slice step cannot be zero");
  start_ = start.value_or(step_ < 0 ? INDEX_MAX : 0);
  stop_ = stop.value_or(step_ < 0 ? INDEX_MIN : INDEX_MAX);
}

TensorIndex::TensorIndex(const char* text) : kind_(Kind::kEllipsis) {
  HEARTH_CHECK_AS(ValueError, text && std::strcmp(text, "...") == 0,
                  "Expected \"...\" to represent an ellipsis index, but got \"",
                  text ? text : "nullptr", "\"");
}

std::string as_text(const Slice& slice) {
  return detail::str(slice.start(), ":", slice.stop(), ":", slice.step());
}

std::string as_text(const TensorIndex& index) {
  switch (index.kind()) {
    case TensorIndex::Kind::kNone: return "None";
    case TensorIndex::Kind::kEllipsis: return "...";
    case TensorIndex::Kind::kInteger: return std::to_string(index.integer());
    case TensorIndex::Kind::kBoolean: return index.boolean() ? "true" : "false";
    case TensorIndex::Kind::kSlice: return as_text(index.slice());
    case TensorIndex::Kind::kTensor: return hearth::to_string(index.tensor());
  }
  return "";
}

std::string as_text(const std::vector<TensorIndex>& indices) {
  std::string text;
  for (const TensorIndex& index : indices) text += (text.empty() ? "" : ", ") + as_text(index);
  return "(" + text + ")";
}

std::ostream& operator<<(std::ostream& stream, const Slice& slice) {
  return stream << as_text(slice);
}
std::ostream& operator<<(std::ostream& stream, const TensorIndex& index) {
  return stream << as_text(index);
}
std::ostream& operator<<(std::ostream& stream, const std::vector<TensorIndex>& indices) {
  return stream << as_text(indices);
}

}  // namespace indexing

namespace {

using indexing::TensorIndex;
using Kind = TensorIndex::Kind;

/// The number of dimensions of the indexed tensor that an index consumes.
int64_t dims_of(const TensorIndex& index) {
  if (index.is_tensor()) return is_mask(index.tensor()) ? index.tensor().dim() : 1;
  return index.is_integer() || index.is_slice();
}

/// An index expression. Slices, integers and None are applied as views; index tensors are kept for
/// index_by.
class Indexed {
 public:
  Indexed(const Tensor& self, ArrayRef<TensorIndex> list)
      : view_(self), is_only_index_(list.size() == 1) {
    check_defined("index", 0, "self", self);
    int64_t num_indexed = 0;
    for (const TensorIndex& index : list) num_indexed += dims_of(index);
    HEARTH_CHECK_AS(IndexError, self.dim() > 0 || !(is_only_index_ && list[0].is_integer()),
                    "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
                    "`tensor.item<T>()` in C++ to "
                    "convert a 0-dim tensor to a number");
    HEARTH_CHECK_AS(IndexError, num_indexed <= self.dim(),
                    "too many indices for tensor of dimension ", self.dim());
    const int64_t num_unindexed = self.dim() - num_indexed;
    for (size_t i = 0; i < list.size(); ++i) apply(list[i], int64_t(i), num_unindexed);
  }

  const Tensor& view() const { return view_; }
  const std::vector<Tensor>& indices() const { return indices_; }

 private:
  void apply(const TensorIndex& index, int64_t position, int64_t num_unindexed) {
    switch (index.kind()) {
      case Kind::kNone: view_ = view_.unsqueeze(dim_++); break;
      case Kind::kEllipsis: dim_ += num_unindexed; break;
      case Kind::kInteger: select(index.integer(), position); break;
      case Kind::kBoolean: take_all_or_none(index.boolean()); break;
      case Kind::kSlice: slice(index.slice()); break;
      case Kind::kTensor: take(index.tensor(), position); break;
    }
  }
  void select(int64_t index, int64_t position) {
    const int64_t size = view_.size(dim_);
    HEARTH_CHECK_AS(IndexError, index < size && index >= -size, "index ", index,
                    " is out of bounds for dimension ", position, " with size ", size);
    view_ = view_.select(dim_, index);
  }
  void slice(const indexing::Slice& slice) {
    HEARTH_CHECK_AS(ValueError, slice.step() > 0, "step must be greater than zero");
    const bool is_whole =
        slice.start() == 0 && slice.stop() >= view_.size(dim_) && slice.step() == 1;
    if (is_only_index_ || !is_whole)
      view_ = view_.slice(dim_, slice.start(), slice.stop(), slice.step());
    ++dim_;
  }
  /// A bool adds a dimension of size 1 or 0.
  void take_all_or_none(bool takes_all) {
    view_ = view_.unsqueeze(dim_);
    record(zeros({takes_all}, TensorOptions(kLong).device(view_.device())), 1);
  }
  void take(const Tensor& index, int64_t position) {
    HEARTH_CHECK_AS(IndexError, index.defined(), "Can only index with tensors that are defined");
    const ScalarType type = index.scalar_type();
    if (index.dim() == 0 && is_integral(type, false) && type != kByte)
      select(index.item<int64_t>(), position);
    else if (index.dim() == 0 && is_mask(index))
      take_all_or_none(index.item().toDouble() != 0);
    else
      record(index, dims_of(index));
  }
  void record(const Tensor& index, int64_t dims) {
    indices_.resize(size_t(dim_) + 1);
    indices_.back() = index;
    dim_ += dims;
  }

  Tensor view_;
  bool is_only_index_;
  int64_t dim_ = 0;  // the dimension of view_ that the next index applies to
  std::vector<Tensor> indices_;
};

Tensor get(const Tensor& self, ArrayRef<TensorIndex> list) {
  HEARTH_CHECK(!list.empty(), "Passing an empty index list to Tensor::index() is not valid syntax");
  const Indexed indexed(self, list);
  if (!indexed.indices().empty()) return index_by(indexed.view(), indexed.indices());
  return indexed.view().is_same(self) ? self.alias() : indexed.view();
}

/// target = value, broadcast; surplus leading dimensions of size 1 are ignored.
void assign(const Tensor& target, Tensor value) {
  while (value.dim() > target.dim() && value.size(0) == 1) value = value.squeeze(0);
  if (value.dim() > 0 && !value.sizes().equals(target.sizes()))
    value = value.expand(target.sizes());
  target.copy_(value);
}

void write_at(const Tensor& self, ArrayRef<TensorIndex> list, const Tensor& value,
              bool accumulate) {
  HEARTH_CHECK(!list.empty(),
               "Passing an empty index list to Tensor::index_put_() is not valid syntax");
  const Indexed indexed(self, list);
  check_defined("index_put_", 1, "values", value);
  if (!indexed.indices().empty())
    index_put_by(indexed.view(), indexed.indices(), value, accumulate);
  else if (accumulate)
    indexed.view().add_(value);
  else
    assign(indexed.view(), value);
}

}  // namespace

Tensor Tensor::operator[](int64_t index) const { return select(0, index); }
Tensor Tensor::operator[](const Scalar& index) const {
  HEARTH_CHECK_AS(IndexError, index.isIntegral(false),
                  "Can only index tensors with integral scalars");
  return select(0, index.toLong());
}
Tensor Tensor::operator[](const Tensor& index) const {
  HEARTH_CHECK_AS(IndexError, index.defined(), "Can only index with tensors that are defined");
  HEARTH_CHECK_AS(IndexError, index.dim() == 0,
                  "Can only index with tensors that are scalars (zero-dim)");
  return (*this)[index.item()];
}

Tensor Tensor::index(ArrayRef<TensorIndex> indices) const { return get(*this, indices); }
Tensor Tensor::index(std::initializer_list<TensorIndex> indices) const {
  return get(*this, {indices.begin(), indices.size()});
}

Tensor& Tensor::index_put_(ArrayRef<TensorIndex> indices, const Tensor& values,
                           bool accumulate) const {
  write_at(*this, indices, values, accumulate);
  return const_cast<Tensor&>(*this);
}
Tensor& Tensor::index_put_(std::initializer_list<TensorIndex> indices, const Tensor& values,
                           bool accumulate) const {
  return index_put_(ArrayRef<TensorIndex>(indices.begin(), indices.size()), values, accumulate);
}
Tensor& Tensor::index_put_(ArrayRef<TensorIndex> indices, const Scalar& value) const {
  return index_put_(indices, scalar_tensor(value, options()));
}
Tensor& Tensor::index_put_(std::initializer_list<TensorIndex> indices, const Scalar& value) const {
  return index_put_(ArrayRef<TensorIndex>(indices.begin(), indices.size()), value);
}

namespace {

/// The tensors as indices; missing and undefined ones stand for whole dimensions.
std::vector<TensorIndex> as_indices(ArrayRef<std::optional<Tensor>> tensors) {
  std::vector<TensorIndex> indices;
  for (const std::optional<Tensor>& tensor : tensors)
    indices.push_back(tensor && tensor->defined() ? TensorIndex(*tensor)
                                                  : TensorIndex(indexing::Slice()));
  return indices;
}

}  // namespace

Tensor Tensor::index(ArrayRef<std::optional<Tensor>> indices) const {
  return index(as_indices(indices));
}
Tensor& Tensor::index_put_(ArrayRef<std::optional<Tensor>> indices, const Tensor& values,
                           bool accumulate) const {
  return index_put_(as_indices(indices), values, accumulate);
}
Tensor Tensor::index_put(ArrayRef<std::optional<Tensor>> indices, const Tensor& values,
                         bool accumulate) const {
  return clone().index_put_(as_indices(indices), values, accumulate);
}

Tensor& Tensor::operator=(const Tensor& value) && { return copy_(value); }
Tensor& Tensor::operator=(Tensor&& value) && { return copy_(value); }
Tensor& Tensor::operator=(const Scalar& value) && { return fill_(value); }

}  // namespace hearth
