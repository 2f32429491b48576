// The out= forms of functions whose result is made first and written then.
#include "hearth/autograd.h"
#include "ops/binding.h"
#include "ops/composed_out.h"

namespace hearth {

namespace {

TensorOptions like(const Tensor& out) {
  HEARTH_CHECK(out.defined(), "Expected a proper Tensor but got an undefined one for argument out");
  return TensorOptions(out.scalar_type()).device(out.device());
}

/// `out` with new sizes, for a filler.
Tensor& resized(Tensor& out, IntArrayRef size) {
  prepare_out(out, Dims(size), like(out).dtype_or_default());
  return out;
}

}  // namespace

Tensor& empty_out(Tensor& out, IntArrayRef size, std::optional<MemoryFormat> format) {
  return format ? out.resize_(size, format) : resized(out, size);
}
Tensor& zeros_out(Tensor& out, IntArrayRef size) { return resized(out, size).zero_(); }
Tensor& ones_out(Tensor& out, IntArrayRef size) { return resized(out, size).fill_(1); }
Tensor& full_out(Tensor& out, IntArrayRef size, const Scalar& value) {
  return resized(out, size).fill_(value);
}
Tensor& arange_out(Tensor& out, const Scalar& end) { return arange_out(out, 0, end); }
Tensor& arange_out(Tensor& out, const Scalar& start, const Scalar& end, const Scalar& step) {
  return write_out("arange", out, [&] { return arange(start, end, step, like(out)); });
}
Tensor& linspace_out(Tensor& out, const Scalar& start, const Scalar& end, int64_t steps) {
  return write_out("linspace", out, [&] { return linspace(start, end, steps, like(out)); });
}
Tensor& linspace_out(Tensor& out, const Tensor& start, const Tensor& end, int64_t steps) {
  return write_out("linspace", out, [&] { return linspace(start, end, steps, like(out)); });
}
Tensor& linspace_out(Tensor& out, const Tensor& start, const Scalar& end, int64_t steps) {
  return write_out("linspace", out, [&] { return linspace(start, end, steps, like(out)); });
}
Tensor& linspace_out(Tensor& out, const Scalar& start, const Tensor& end, int64_t steps) {
  return write_out("linspace", out, [&] { return linspace(start, end, steps, like(out)); });
}
Tensor& logspace_out(Tensor& out, const Scalar& start, const Scalar& end, int64_t steps,
                     double base) {
  return write_out("logspace", out, [&] { return logspace(start, end, steps, base, like(out)); });
}
Tensor& eye_out(Tensor& out, int64_t n) { return eye_out(out, n, n); }
Tensor& eye_out(Tensor& out, int64_t n, int64_t m) {
  return write_out("eye", out, [&] { return eye(n, m, like(out)); });
}

Tensor& rand_out(Tensor& out, IntArrayRef size, std::optional<Generator> generator) {
  return resized(out, size).uniform_(0, 1, generator);
}
Tensor& randn_out(Tensor& out, IntArrayRef size, std::optional<Generator> generator) {
  return resized(out, size).normal_(0, 1, generator);
}
Tensor& randint_out(Tensor& out, int64_t high, IntArrayRef size,
                    std::optional<Generator> generator) {
  return randint_out(out, 0, high, size, generator);
}
Tensor& randint_out(Tensor& out, int64_t low, int64_t high, IntArrayRef size,
                    std::optional<Generator> generator) {
  return resized(out, size).random_(low, high, generator);
}
Tensor& randperm_out(Tensor& out, int64_t n, std::optional<Generator> generator) {
  return write_out("randperm", out, [&] { return randperm(n, generator, like(out)); });
}
Tensor& bernoulli_out(Tensor& out, const Tensor& self, std::optional<Generator> generator) {
  return write_out("bernoulli", out, [&] { return self.bernoulli(generator); });
}
Tensor& bernoulli_out(Tensor& out, const Tensor& self, double p,
                      std::optional<Generator> generator) {
  return write_out("bernoulli", out, [&] { return self.bernoulli(p, generator); });
}
Tensor& bernoulli_out(Tensor& out, const Tensor& self, const Tensor& p,
                      std::optional<Generator> generator) {
  return write_out("bernoulli", out, [&] { return self.bernoulli(p, generator); });
}
Tensor& normal_out(Tensor& out, const Tensor& mean, double std,
                   std::optional<Generator> generator) {
  return write_out("normal", out, [&] { return normal(mean, std, generator); });
}
Tensor& normal_out(Tensor& out, double mean, const Tensor& std,
                   std::optional<Generator> generator) {
  return write_out("normal", out, [&] { return normal(mean, std, generator); });
}
Tensor& normal_out(Tensor& out, const Tensor& mean, const Tensor& std,
                   std::optional<Generator> generator) {
  return write_out("normal", out, [&] { return normal(mean, std, generator); });
}
Tensor& normal_out(Tensor& out, double mean, double std, IntArrayRef size,
                   std::optional<Generator> generator) {
  return resized(out, size).normal_(mean, std, generator);
}
Tensor& multinomial_out(Tensor& out, const Tensor& self, int64_t num_samples, bool replacement,
                        std::optional<Generator> generator) {
  return write_out("multinomial", out,
                   [&] { return self.multinomial(num_samples, replacement, generator); });
}

Tensor& mean_out(Tensor& out, const Tensor& self, std::optional<ScalarType> dtype) {
  return write_out("mean", out, [&] { return self.mean(dtype); });
}
Tensor& mean_out(Tensor& out, const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
                 std::optional<ScalarType> dtype) {
  return write_out("mean", out, [&] { return self.mean(dim, keepdim, dtype); });
}
TensorRefPair aminmax_out(Tensor& min, Tensor& max, const Tensor& self, std::optional<int64_t> dim,
                          bool keepdim) {
  const auto [least, largest] = self.aminmax(dim, keepdim);
  write_out("aminmax", min, [&, value = least] { return value; });
  write_out("aminmax", max, [&, value = largest] { return value; });
  return {min, max};
}
Tensor& concat_out(Tensor& out, TensorList tensors, int64_t dim) {
  return cat_out(out, tensors, dim);
}
Tensor& concatenate_out(Tensor& out, TensorList tensors, int64_t dim) {
  return cat_out(out, tensors, dim);
}
Tensor& hstack_out(Tensor& out, TensorList tensors) {
  return write_out("hstack", out, [&] { return hstack(tensors); });
}
Tensor& vstack_out(Tensor& out, TensorList tensors) {
  return write_out("vstack", out, [&] { return vstack(tensors); });
}
Tensor& row_stack_out(Tensor& out, TensorList tensors) { return vstack_out(out, tensors); }
Tensor& dstack_out(Tensor& out, TensorList tensors) {
  return write_out("dstack", out, [&] { return dstack(tensors); });
}
Tensor& column_stack_out(Tensor& out, TensorList tensors) {
  return write_out("column_stack", out, [&] { return column_stack(tensors); });
}
Tensor& tensordot_out(Tensor& out, const Tensor& self, const Tensor& other, IntArrayRef dims_self,
                      IntArrayRef dims_other) {
  return write_out("tensordot", out, [&] { return tensordot(self, other, dims_self, dims_other); });
}
Tensor& stack_out(Tensor& out, TensorList tensors, int64_t dim) {
  return write_out("stack", out, [&] { return stack(tensors, dim); });
}
Tensor& searchsorted_out(Tensor& out, const Tensor& sorted_sequence, const Tensor& self,
                         bool out_int32, bool right, std::optional<std::string_view> side,
                         const std::optional<Tensor>& sorter) {
  return write_out("searchsorted", out, [&] {
    return searchsorted(sorted_sequence, self, out_int32, right, side, sorter);
  });
}
Tensor& searchsorted_out(Tensor& out, const Tensor& sorted_sequence, const Scalar& self,
                         bool out_int32, bool right, std::optional<std::string_view> side,
                         const std::optional<Tensor>& sorter) {
  return write_out("searchsorted", out, [&] {
    return searchsorted(sorted_sequence, self, out_int32, right, side, sorter);
  });
}
Tensor& bucketize_out(Tensor& out, const Tensor& self, const Tensor& boundaries, bool out_int32,
                      bool right) {
  return write_out("bucketize", out, [&] { return bucketize(self, boundaries, out_int32, right); });
}
Tensor& linear_out(Tensor& out, const Tensor& input, const Tensor& weight,
                   const std::optional<Tensor>& bias) {
  return write_out("linear", out, [&] { return linear(input, weight, bias); });
}
Tensor& adaptive_avg_pool2d_out(Tensor& out, const Tensor& self, IntArrayRef output_size) {
  return write_out("adaptive_avg_pool2d", out,
                   [&] { return adaptive_avg_pool2d(self, output_size); });
}

}  // namespace hearth
