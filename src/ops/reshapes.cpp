// Shape operators composed of views and copies.
#include <algorithm>

#include "hearth/autograd.h"
#include "ops/define.h"
#include "ops/promote.h"
#include "ops/view_shape.h"

namespace hearth {

namespace {

Tensor moved(const Tensor& self, IntArrayRef source, IntArrayRef destination) {
  HEARTH_CHECK(source.size() == destination.size(),
               "movedim: Invalid source or destination dims: source (", source,
               " dims) should contain the same number of dims as destination (", destination,
               " dims)");
  Dims order(size_t(self.dim()), -1);
  uint32_t taken = 0;
  for (size_t i = 0; i < source.size(); ++i) {
    const int64_t from = wrap_dim(source[i], self.dim()), to = wrap_dim(destination[i], self.dim());
    HEARTH_CHECK(!(taken >> from & 1u), "movedim: repeated dim in `source` (", source, ")");
    if (self.dim() == 0) continue;
    HEARTH_CHECK(order[size_t(to)] < 0, "movedim: repeated dim in `destination` (", destination,
                 ")");
    order[size_t(to)] = from;
    taken |= 1u << from;
  }
  int64_t next = 0;
  for (int64_t& source_dim : order) {
    if (source_dim >= 0) continue;
    while (taken >> next & 1u) ++next;
    source_dim = next++;
  }
  return self.permute(order);
}

Tensor unflattened(const Tensor& self, int64_t dim, IntArrayRef sizes) {
  dim = wrap_dim(dim, self.dim());
  HEARTH_CHECK(!sizes.empty(), "unflatten: sizes must be non-empty");
  Dims inferred;
  try {
    inferred = infer_sizes(sizes, self.size(dim));
  } catch (const Error& error) {
    HEARTH_CHECK(std::string_view(error.what()).find("is invalid for input of size") ==
                     std::string_view::npos,
                 "unflatten: Provided sizes ", sizes, " don't multiply up to the size of dim ", dim,
                 " (", self.size(dim), ") in the input tensor");
    detail::fail<Error>("unflatten got an unexpected error:\n", error.what());
  }
  Dims new_sizes(self.sizes());
  new_sizes.erase(size_t(dim));
  for (size_t i = 0; i < inferred.size(); ++i) new_sizes.insert(size_t(dim) + i, inferred[i]);
  return self.view(new_sizes);
}

Tensor matrices_transposed(const Tensor& self) {
  HEARTH_CHECK(self.dim() >= 2,
               "tensor.mT is only supported on matrices or batches of matrices. Got ", self.dim(),
               "-D tensor.");
  return self.transpose(-2, -1);
}

Tensor reversed_dims(const Tensor& self) {
  Dims order;
  for (int64_t d = self.dim(); d-- > 0;) order.push_back(d);
  return self.permute(order);
}

/// A size of a result: `size` times `repeats`, which may be negative.
int64_t repeated_size(int64_t size, int64_t repeats) {
  int64_t product = 0;
  HEARTH_CHECK(!__builtin_mul_overflow(size, repeats, &product),
               "Storage size calculation overflowed: a dimension of size ", size, " is repeated ",
               repeats, " times");
  return product;
}

/// Inserts a dimension before each repeated one, expands it, and merges the two in a copy.
Tensor repeated(const Tensor& self, IntArrayRef repeats) {
  HEARTH_CHECK(repeats.size() >= size_t(self.dim()),
               "Number of dimensions of repeat dims can not be smaller than number of dimensions "
               "of tensor");
  const size_t added_dims = repeats.size() - size_t(self.dim());
  Dims result_sizes, with_ones, expanded;
  for (size_t d = 0; d < repeats.size(); ++d) {
    const int64_t size = d < added_dims ? 1 : self.sizes()[d - added_dims];
    result_sizes.push_back(repeated_size(size, repeats[d]));
    if (repeats[d] != 1) {
      with_ones.push_back(1);
      expanded.push_back(repeats[d]);
    }
    with_ones.push_back(size);
    expanded.push_back(size);
  }
  for (int64_t size : result_sizes)
    HEARTH_CHECK(size >= 0, "Trying to create tensor with negative dimension ", size, ": ",
                 result_sizes);
  for (int64_t& size : expanded) size = std::max<int64_t>(size, 0);
  return self.reshape(with_ones)
      .expand(expanded)
      .clone(MemoryFormat::Contiguous)
      .view(result_sizes);
}

Tensor tiled(const Tensor& self, IntArrayRef dims) {
  Dims repeats(dims);
  while (repeats.size() < size_t(self.dim())) repeats.insert(0, 1);
  return self.repeat(repeats);
}

void check_output_size(std::optional<int64_t> wanted, int64_t size) {
  HEARTH_CHECK(!wanted || *wanted == size, "repeat_interleave: Invalid output_size, expected ",
               size, " but got ", *wanted);
}

Tensor interleaved(const Tensor& self, int64_t repeats, std::optional<int64_t> dim,
                   std::optional<int64_t> output_size) {
  const Tensor input = dim ? self : self.reshape({-1});
  const int64_t d = wrap_dim(dim.value_or(0), input.dim());
  HEARTH_CHECK(repeats >= 0, "Repeats must be non-negative");
  HEARTH_CHECK_AS(IndexError, input.dim() > 0,
                  "Dimension out of range (expected to be in range of [-1, 0], but got 1)");
  Dims sizes(input.sizes()), target = sizes;
  sizes.insert(size_t(d) + 1, repeats);
  target[size_t(d)] = repeated_size(input.size(d), repeats);
  check_output_size(output_size, target[size_t(d)]);
  return input.unsqueeze(d + 1).expand(sizes).clone(MemoryFormat::Contiguous).view(target);
}

Tensor interleaved_by(const Tensor& self, const Tensor& repeats, std::optional<int64_t> dim,
                      std::optional<int64_t> output_size) {
  const Tensor input = dim ? self : self.reshape({-1});
  const int64_t d = wrap_dim(dim.value_or(0), input.dim());
  HEARTH_CHECK_AS(IndexError, input.dim() > 0, "Dimension specified as ", *dim,
                  " but tensor has no dimensions");
  const int64_t size = input.size(d);
  Tensor counts = repeats;
  if (repeats.dim() == 0 || (repeats.dim() == 1 && repeats.size(0) == 1))
    counts = repeats.reshape({1}).expand({size});
  HEARTH_CHECK(counts.dim() == 1, "repeats must be 0-dim or 1-dim tensor");
  HEARTH_CHECK(counts.size(0) == size,
               "repeats must have the same size as input along dim, but got repeats.size(0) = ",
               counts.size(0), " and input.size(", d, ") = ", size);
  return input.index_select(d, repeat_interleave(counts, output_size));
}

void check_has_dims(const Tensor& self) {
  HEARTH_CHECK(self.dim() > 0,
               "tensor_split expected at least a 1-dimensional tensor, but got a tensor with ",
               self.dim(), " dims");
}

std::vector<Tensor> split_sections(const Tensor& self, int64_t sections, int64_t dim) {
  check_has_dims(self);
  HEARTH_CHECK(sections > 0, "number of sections must be larger than 0, got ", sections);
  const int64_t size = self.size(dim);
  std::vector<Tensor> pieces;
  for (int64_t i = 0, start = 0; i < sections; ++i) {
    const int64_t length = size / sections + (i < size % sections);
    pieces.push_back(self.slice(dim, start, start + length));
    start += length;
  }
  return pieces;
}

std::vector<Tensor> split_at(const Tensor& self, IntArrayRef indices, int64_t dim) {
  check_has_dims(self);
  std::vector<Tensor> pieces;
  int64_t start = 0;
  for (int64_t end : indices) {
    pieces.push_back(self.slice(dim, start, end));
    start = end;
  }
  pieces.push_back(self.slice(dim, start, self.size(dim)));
  return pieces;
}

std::vector<Tensor> split_by_tensor(const Tensor& self, const Tensor& indices_or_sections,
                                    int64_t dim) {
  constexpr const char* kExpected = "tensor_split expected tensor_indices_or_sections to ";
  check_has_dims(self);
  HEARTH_CHECK(indices_or_sections.is_cpu(), kExpected, "be on cpu, but it's on ",
               indices_or_sections.device());
  HEARTH_CHECK(indices_or_sections.scalar_type() == kLong, kExpected,
               "have dtype of long, but got ", name_of(indices_or_sections.scalar_type()));
  HEARTH_CHECK(indices_or_sections.dim() <= 1, kExpected,
               "be a zero-dimensional or one-dimensional tensor, but got a tensor with ",
               indices_or_sections.dim(), " dims");
  if (indices_or_sections.dim() == 0)
    return split_sections(self, indices_or_sections.item<int64_t>(), dim);
  const Tensor list = indices_or_sections.contiguous();
  return split_at(self, {list.data_ptr<int64_t>(), size_t(list.numel())}, dim);
}

/// The dimension that hsplit, vsplit or dsplit splits.
int64_t split_dim(const Tensor& self, const char* name, int64_t min_dims, int64_t dim,
                  int64_t sections) {
  HEARTH_CHECK(self.dim() >= min_dims, "torch.", name, " requires a tensor with at least ",
               min_dims, " dimension, but got a tensor with ", self.dim(), " dimensions!");
  dim = std::min(dim, self.dim() - 1);
  HEARTH_CHECK(sections == 0 || self.size(dim) % sections == 0, "torch.", name,
               " attempted to split along dimension ", dim, ", but the size of the dimension ",
               self.size(dim), " is not divisible by the split_size ", sections, "!");
  return dim;
}

}  // namespace

#define HEARTH_DEFINE_SPLIT(name, min_dims, dim)                                       \
  HEARTH_DEFINE_METHOD(                                                                \
      std::vector<Tensor>, name, (int64_t sections),                                   \
      split_sections(self, sections, split_dim(self, #name, min_dims, dim, sections))) \
  HEARTH_DEFINE_METHOD(std::vector<Tensor>, name, (IntArrayRef indices),               \
                       split_at(self, indices, split_dim(self, #name, min_dims, dim, 0)))
HEARTH_DEFINE_SPLIT(hsplit, 1, 1)
HEARTH_DEFINE_SPLIT(vsplit, 2, 0)
HEARTH_DEFINE_SPLIT(dsplit, 3, 2)
#undef HEARTH_DEFINE_SPLIT
HEARTH_DEFINE_METHOD(std::vector<Tensor>, tensor_split, (int64_t sections, int64_t dim),
                     split_sections(self, sections, dim))
HEARTH_DEFINE_METHOD(std::vector<Tensor>, tensor_split, (IntArrayRef indices, int64_t dim),
                     split_at(self, indices, dim))
HEARTH_DEFINE_METHOD(std::vector<Tensor>, tensor_split,
                     (const Tensor& indices_or_sections, int64_t dim),
                     split_by_tensor(self, indices_or_sections, dim))

HEARTH_DEFINE_METHOD(Tensor, swapaxes, (int64_t axis0, int64_t axis1), self.transpose(axis0, axis1))
HEARTH_DEFINE_METHOD(Tensor, swapdims, (int64_t dim0, int64_t dim1), self.transpose(dim0, dim1))
HEARTH_DEFINE_METHOD(Tensor, movedim, (IntArrayRef source, IntArrayRef destination),
                     moved(self, source, destination))
HEARTH_DEFINE_METHOD(Tensor, movedim, (int64_t source, int64_t destination),
                     moved(self, source, destination))
HEARTH_DEFINE_METHOD(Tensor, moveaxis, (IntArrayRef source, IntArrayRef destination),
                     moved(self, source, destination))
HEARTH_DEFINE_METHOD(Tensor, moveaxis, (int64_t source, int64_t destination),
                     moved(self, source, destination))
HEARTH_DEFINE_METHOD_ONLY(Tensor, mT, (), matrices_transposed(self))
HEARTH_DEFINE_METHOD_ONLY(Tensor, numpy_T, (), reversed_dims(self))
HEARTH_DEFINE_METHOD(Tensor, unflatten, (int64_t dim, IntArrayRef sizes),
                     unflattened(self, dim, sizes))
HEARTH_DEFINE_METHOD(Tensor, ravel, (), self.contiguous().view({-1}))
HEARTH_DEFINE_METHOD(Tensor, broadcast_to, (IntArrayRef size), self.expand(size))
HEARTH_DEFINE_METHOD_ONLY(Tensor, repeat, (IntArrayRef repeats), repeated(self, repeats))
HEARTH_DEFINE_METHOD(Tensor, tile, (IntArrayRef dims), tiled(self, dims))
HEARTH_DEFINE_METHOD(Tensor, repeat_interleave,
                     (int64_t repeats, std::optional<int64_t> dim,
                      std::optional<int64_t> output_size),
                     interleaved(self, repeats, dim, output_size))
HEARTH_DEFINE_METHOD(Tensor, repeat_interleave,
                     (const Tensor& repeats, std::optional<int64_t> dim,
                      std::optional<int64_t> output_size),
                     interleaved_by(self, repeats, dim, output_size))

Tensor repeat_interleave(const Tensor& repeats, std::optional<int64_t> output_size) {
  HEARTH_CHECK(repeats.dim() == 1, "repeat_interleave only accept 1D vector as repeat");
  HEARTH_CHECK_AS(
      NotImplementedError, repeats.scalar_type() == kLong || repeats.scalar_type() == kInt,
      "\"repeat_interleave_cpu\" not implemented for '", name_of(repeats.scalar_type()), "'");
  HEARTH_CHECK_AS(NotImplementedError, !repeats.is_meta(),
                  "repeat_interleave: the result's size depends on data, which meta tensors lack");
  const Tensor host = repeats.cpu().to(kLong).contiguous();
  const int64_t* const counts = host.data_ptr<int64_t>();
  int64_t total = 0;
  for (int64_t i = 0; i < host.numel(); ++i) {
    HEARTH_CHECK(counts[i] >= 0, "repeats can not be negative");
    HEARTH_CHECK(!__builtin_add_overflow(total, counts[i], &total),
                 "repeat_interleave: the sum of the repeats overflows int64");
  }
  check_output_size(output_size, total);
  const Tensor index = empty({total}, kLong);
  int64_t* end = index.data_ptr<int64_t>();
  for (int64_t i = 0; i < host.numel(); ++i) end = std::fill_n(end, counts[i], i);
  return index.to(repeats.device(), repeats.scalar_type());
}

std::vector<Tensor> broadcast_tensors(TensorList tensors) {
  Dims sizes;
  for (const Tensor& t : tensors) sizes = broadcast_sizes(sizes, t.sizes());
  std::vector<Tensor> result;
  for (const Tensor& t : tensors) result.push_back(t.expand(sizes));
  return result;
}

}  // namespace hearth
