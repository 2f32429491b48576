#include "tests/support/op_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "hearth/cuda.h"

namespace hearth::testing {

namespace {

std::vector<Row>& mutable_rows() {
  static std::vector<Row> all;
  return all;
}

double draw_value(const Input& input, std::mt19937& random, int64_t index, int64_t count) {
  std::uniform_real_distribution<double> unit(0, 1);
  switch (input.draw) {
    case Draw::kPositive: return 0.2 + 1.8 * unit(random);
    case Draw::kDistinct: {
      // A fixed permutation of evenly spaced values.
      const int64_t place = (index * 7919 + 13) % (count > 0 ? count : 1);
      return double(place) * 0.25 - double(count) * 0.125;
    }
    case Draw::kIndex: return double(random() % uint32_t(input.below));
    case Draw::kBool: return double(random() % 2);
    default: {
      const double size = 0.15 + 1.6 * unit(random);
      return unit(random) < 0.5 ? -size : size;
    }
  }
}

ScalarType input_dtype(const Input& input, ScalarType dtype) {
  if (input.draw == Draw::kIndex) return kLong;
  if (input.draw == Draw::kBool) return kBool;
  return input.float_only && is_reduced_float(dtype) ? kFloat : dtype;
}

/// The sizes to allocate so that the form yields the wanted ones.
std::vector<int64_t> allocated_sizes(std::vector<int64_t> sizes, Form form) {
  if (sizes.empty()) return sizes;
  if (form == Form::kTransposed) std::swap(sizes.front(), sizes.back());
  if (form == Form::kSliced) sizes.back() = 2 * sizes.back() + 1;
  if (form == Form::kExpanded && sizes.front() > 0) sizes.front() = 1;
  return sizes;
}

Tensor shaped(const Tensor& memory, const std::vector<int64_t>& sizes, Form form) {
  if (sizes.empty()) return memory;
  if (form == Form::kTransposed) return memory.transpose(0, memory.dim() - 1);
  if (form == Form::kSliced) return memory.slice(-1, 1, 1 + 2 * sizes.back(), 2);
  if (form == Form::kExpanded) return memory.expand(sizes);
  return memory;
}

double relative_tolerance(ScalarType dtype) {
  switch (dtype) {
    case kDouble: return 1e-11;
    case kFloat: return 1e-5;
    case kHalf: return 2e-3;
    case kBFloat16: return 1.6e-2;
    default: return 0;
  }
}

}  // namespace

std::ostream& operator<<(std::ostream& stream, const Row& row) { return stream << row.name; }
const std::vector<Row>& rows() { return mutable_rows(); }
Register::Register(Row row) { mutable_rows().push_back(std::move(row)); }

Array to_array(const Tensor& tensor) {
  Array array;
  array.sizes = tensor.sizes().vec();
  const Tensor host = tensor.detach().cpu().to(kDouble).contiguous();
  const double* data = host.numel() ? host.data_ptr<double>() : nullptr;
  array.values.assign(data, data + host.numel());
  return array;
}

Array map(const Arrays& in, const std::function<double(const double*)>& f) {
  std::vector<int64_t> sizes;
  for (const Array& a : in) {
    while (sizes.size() < a.sizes.size()) sizes.insert(sizes.begin(), 1);
    for (size_t k = 1; k <= a.sizes.size(); ++k) {
      int64_t& size = sizes[sizes.size() - k];
      if (size == 1) size = a.sizes[a.sizes.size() - k];
    }
  }
  Array out{sizes, {}};
  int64_t count = 1;
  for (int64_t size : sizes) count *= size;
  for (int64_t linear = 0; linear < count; ++linear) {
    double arguments[4];
    for (size_t i = 0; i < in.size(); ++i) {
      int64_t rest = linear, at = 0, step = 1;
      for (size_t k = 1; k <= in[i].sizes.size(); ++k) {
        const int64_t size = in[i].sizes[in[i].sizes.size() - k], full = sizes[sizes.size() - k];
        at += (size == 1 ? 0 : rest % full) * step;
        rest /= full;
        step *= size;
      }
      arguments[i] = in[i].values[size_t(at)];
    }
    out.values.push_back(f(arguments));
  }
  return out;
}

Tensor make_input(const Input& input, ScalarType dtype, Device device, Form form, uint32_t seed) {
  if (input.absent) return {};
  std::mt19937 random(seed);
  const std::vector<int64_t> sizes = allocated_sizes(input.sizes, form);
  Tensor memory = empty(sizes, kDouble);
  double* data = memory.numel() ? memory.data_ptr<double>() : nullptr;
  for (int64_t i = 0; i < memory.numel(); ++i) data[i] = draw_value(input, random, i, memory.numel());
  const ScalarType type = input_dtype(input, dtype);
  if (is_integral(type, false) && input.draw != Draw::kIndex) memory.mul_(4);
  if (type == kByte) memory = memory.abs();
  return shaped(memory.to(type).to(device, type), input.sizes, form);
}

Tensors make_inputs(const Case& inputs, ScalarType dtype, Device device, Form form, uint32_t seed) {
  Tensors tensors;
  for (const Input& input : inputs) tensors.push_back(make_input(input, dtype, device, form, seed++));
  return tensors;
}

std::vector<Device> devices() {
  std::vector<Device> all{Device(DeviceType::CPU)};
  if (cuda::is_available()) all.push_back(Device(DeviceType::CUDA, 0));
  return all;
}

std::vector<ScalarType> dtypes_in(DtypeSet set) {
  std::vector<ScalarType> types;
  for (int i = 0; i < kScalarTypeSlots; ++i)
    if (set >> i & 1u) types.push_back(ScalarType(i));
  return types;
}

void expect_close(const Tensor& got, const Array& wanted, double slack, const std::string& what) {
  ASSERT_TRUE(got.defined()) << what;
  const Array values = to_array(got);
  ASSERT_EQ(values.sizes, wanted.sizes) << what;
  const double relative = relative_tolerance(got.scalar_type()) * slack;
  for (size_t i = 0; i < values.values.size(); ++i) {
    const double a = values.values[i], b = wanted.values[i];
    if (std::isnan(a) && std::isnan(b)) continue;
    if (a == b) continue;
    const bool half_overflow = got.scalar_type() == kHalf && std::isinf(a) && std::fabs(b) > 65000;
    if (half_overflow) continue;
    EXPECT_LE(std::fabs(a - b), relative * (std::fabs(b) + 0.1)) << what << ", element " << i << ": " << a << " for " << b;
  }
}

Row unary_row(std::string name, Tensor (*op)(const Tensor&), double (*reference)(double), Draw draw) {
  Row row;
  row.name = name;
  row.covers = {name};
  row.cases = {{{{3, 5}, draw}}, {{{2, 3, 4}, draw}}, {{{}, draw}}, {{{0, 3}, draw}}, {{{67}, draw}}};
  row.call = [op](const Tensors& in) { return Tensors{op(in[0])}; };
  row.reference = [reference](const Arrays& in) {
    return Arrays{map(in, [reference](const double* x) { return reference(x[0]); })};
  };
  row.special_values = true;
  return row;
}

Row binary_row(std::string name, std::function<Tensor(const Tensor&, const Tensor&)> op,
               double (*reference)(double, double), Draw draw) {
  Row row;
  row.name = name;
  row.covers = {name};
  row.cases = {{{{3, 5}, draw}, {{3, 5}, draw}}, {{{3, 1, 4}, draw}, {{2, 1}, draw}}, {{{5}, draw}, {{}, draw}},
               {{{}, draw}, {{}, draw}},         {{{0, 4}, draw}, {{1, 4}, draw}},    {{{4, 19}, draw}, {{19}, draw}}};
  row.call = [op](const Tensors& in) { return Tensors{op(in[0], in[1])}; };
  row.reference = [reference](const Arrays& in) {
    return Arrays{map(in, [reference](const double* x) { return reference(x[0], x[1]); })};
  };
  return row;
}

}  // namespace hearth::testing
