#include "tests/support/op_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <random>

#include "hearth/cuda.h"

namespace hearth::testing {

namespace {

std::vector<Row>& mutable_rows() {
  static std::vector<Row> table;
  return table;
}

double draw_value(const Input& input, std::mt19937& random, int64_t index, int64_t count) {
  std::uniform_real_distribution<double> unit(0, 1);
  switch (input.draw) {
    case Draw::kPositive: return 0.2 + 1.8 * unit(random);
    case Draw::kUnit: return 1.8 * unit(random) - 0.9;
    case Draw::kAboveOne: return 1.1 + 1.8 * unit(random);
    case Draw::kDistinct: {
      // Evenly spaced values in a fixed order: 7919 is a prime that does not divide `count`.
      const int64_t rank = (index * 7919 + 13) % (count > 0 ? count : 1);
      return double(rank) * 0.25 - double(count) * 0.125;
    }
    case Draw::kIndex: return double(random() % uint32_t(input.below));
    case Draw::kBool: return double(random() % 2);
    case Draw::kSmall: return double(int(random() % 5) - 2);
    default: {
      const double magnitude = 0.15 + 1.6 * unit(random);
      return unit(random) < 0.5 ? -magnitude : magnitude;
    }
  }
}

ScalarType input_dtype(const Input& input, ScalarType dtype) {
  if (input.draw == Draw::kIndex) return kLong;
  if (input.draw == Draw::kBool) return kBool;
  return input.float_only && is_reduced_float(dtype) ? kFloat : dtype;
}

/// The sizes of the allocation whose view in this layout has the wanted sizes.
std::vector<int64_t> allocated_sizes(std::vector<int64_t> sizes, MemoryLayout layout) {
  if (sizes.empty()) return sizes;
  if (layout == MemoryLayout::kTransposed) std::swap(sizes.front(), sizes.back());
  if (layout == MemoryLayout::kSliced) sizes.back() = 2 * sizes.back() + 1;
  if (layout == MemoryLayout::kExpanded && sizes.front() > 0) sizes.front() = 1;
  return sizes;
}

/// The view of an allocation with the wanted sizes in this layout.
Tensor view_in_layout(const Tensor& memory, const std::vector<int64_t>& sizes,
                      MemoryLayout layout) {
  if (sizes.empty()) return memory;
  if (layout == MemoryLayout::kTransposed) return memory.transpose(0, memory.dim() - 1);
  if (layout == MemoryLayout::kSliced) return memory.slice(-1, 1, 1 + 2 * sizes.back(), 2);
  if (layout == MemoryLayout::kExpanded) return memory.expand(sizes);
  return memory;
}

/// A random value for an integer tensor: four times as large, rounded away from zero, unless it is
/// whole by its distribution.
double as_integer(double value, const Input& input) {
  if (input.draw == Draw::kIndex || input.draw == Draw::kSmall) return value;
  return value < 0 ? std::floor(4 * value) : std::ceil(4 * value);
}

/// The value in this dtype: integers wrap, bools are 0 or 1, numbers too large for a floating dtype
/// are infinite. Values of half types keep more digits than the type has.
double as_stored(double value, ScalarType dtype) {
  const bool is_representable = std::fabs(value) < 0x1p62;
  switch (dtype) {
    case kBool: return value != 0;
    case kByte: return is_representable ? uint8_t(int64_t(value)) : value;
    case kChar: return is_representable ? int8_t(int64_t(value)) : value;
    case kShort: return is_representable ? int16_t(int64_t(value)) : value;
    case kInt: return is_representable ? int32_t(int64_t(value)) : value;
    case kHalf: return std::fabs(value) >= 65520 ? std::copysign(INFINITY, value) : value;
    case kFloat:
    case kBFloat16: return double(float(value));  // both have float32's range
    default: return value;
  }
}

}  // namespace

double relative_tolerance(ScalarType dtype) {
  switch (dtype) {
    case kDouble: return 1e-11;
    case kFloat: return 1e-5;
    case kHalf: return 2e-3;
    case kBFloat16: return 1.6e-2;
    default: return 0;
  }
}

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
  return build(sizes, [&](const Position& position) {
    double arguments[4];
    for (size_t i = 0; i < in.size(); ++i) {
      const size_t shift = sizes.size() - in[i].sizes.size();
      Position source(position.begin() + int64_t(shift), position.end());
      for (size_t d = 0; d < source.size(); ++d)
        if (in[i].sizes[d] == 1) source[d] = 0;
      arguments[i] = at(in[i], source);
    }
    return f(arguments);
  });
}

Tensor make_input(const Input& input, ScalarType dtype, Device device, MemoryLayout layout,
                  uint32_t seed) {
  if (input.absent) return {};
  std::mt19937 random(seed);
  const std::vector<int64_t> sizes = allocated_sizes(input.sizes, layout);
  Tensor memory = empty(sizes, kDouble);
  double* data = memory.numel() ? memory.data_ptr<double>() : nullptr;
  const ScalarType type = input_dtype(input, dtype);
  for (int64_t i = 0; i < memory.numel(); ++i) {
    data[i] = draw_value(input, random, i, memory.numel());
    if (is_integral(type, false)) data[i] = as_integer(data[i], input);
    if (type == kByte) data[i] = std::fabs(data[i]);
  }
  return view_in_layout(memory.to(type).to(device, type), input.sizes, layout);
}

Tensors make_inputs(const Case& inputs, ScalarType dtype, Device device, MemoryLayout layout,
                    uint32_t seed) {
  Tensors tensors;
  for (const Input& input : inputs)
    tensors.push_back(make_input(input, dtype, device, layout, seed++));
  return tensors;
}

std::vector<Device> devices() {
  std::vector<Device> result{Device(DeviceType::CPU)};
  if (cuda::is_available()) result.push_back(Device(DeviceType::CUDA, 0));
  return result;
}

std::vector<ScalarType> dtypes_in(DtypeSet set) {
  std::vector<ScalarType> types;
  for (int i = 0; i < kScalarTypeSlots; ++i)
    if (set >> i & 1u) types.push_back(ScalarType(i));
  return types;
}

void expect_close(const Tensor& got, const Array& wanted, double slack,
                  const std::string& description) {
  ASSERT_TRUE(got.defined()) << description;
  const Array values = to_array(got);
  ASSERT_EQ(values.sizes, wanted.sizes) << description;
  const double relative = relative_tolerance(got.scalar_type()) * slack;
  for (size_t i = 0; i < values.values.size(); ++i) {
    const double a = values.values[i], b = as_stored(wanted.values[i], got.scalar_type());
    EXPECT_TRUE(is_close(a, b, relative, 0.1 * relative))
        << description << ", element " << i << ": " << a << " for " << b;
  }
}

bool is_close(double got, double wanted, double relative, double absolute) {
  if (std::isnan(wanted)) return std::isnan(got);
  if (std::isinf(wanted) || std::isinf(got)) return got == wanted;
  return std::fabs(got - wanted) <= relative * std::fabs(wanted) + absolute;
}

std::vector<size_t> differentiable_inputs(const Case& inputs, const Tensors& tensors) {
  std::vector<size_t> indices;
  for (size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].defined() && tensors[i].is_floating_point() && !inputs[i].constant)
      indices.push_back(i);
  return indices;
}

bool has_differentiable_outputs(const Row& row) {
  if (row.orders < 1) return false;
  for (const Result result : row.results)
    if (result != Result::kLong && result != Result::kBool) return true;
  return false;
}

Tensors special_inputs(size_t num_inputs, ScalarType dtype, Device device) {
  const double specials[] = {0.0, -0.0, kInf, -kInf, std::nan(""), 1,   -1,
                             20,  -20,  100,  -100,  1e4,          -1e4};
  constexpr int64_t kCount = std::size(specials);
  const int64_t total = num_inputs == 1 ? kCount : kCount * kCount;
  Tensors result;
  for (size_t k = 0; k < num_inputs; ++k) {
    const Tensor values = empty({total}, kDouble);
    for (int64_t i = 0; i < total; ++i)
      values.data_ptr<double>()[i] = specials[k == 0 ? i % kCount : i / kCount];
    result.push_back(values.to(dtype).to(device, dtype));
  }
  return result;
}

ScalarType result_dtype(Result result, ScalarType input) {
  switch (result) {
    case Result::kFloat: return is_integral(input, true) ? kFloat : input;
    case Result::kLong: return kLong;
    case Result::kBool: return kBool;
    case Result::kDouble: return kDouble;
    case Result::kStatistics: return is_reduced_float(input) ? kFloat : input;
    case Result::kSum: return is_integral(input, true) ? kLong : input;
    default: return input;
  }
}

ScalarType result_dtype(const Row& row, size_t k, ScalarType input) {
  return result_dtype(row.results[std::min(k, row.results.size() - 1)], input);
}

std::string describe(const Row& row, size_t case_index, ScalarType dtype, Device device,
                     MemoryLayout layout) {
  return detail::str(row.name, " case ", case_index, " ", name_of(dtype), " on ", device,
                     " layout ", int(layout));
}

Arrays arrays_of(const Tensors& tensors) {
  Arrays arrays;
  for (const Tensor& t : tensors) arrays.push_back(t.defined() ? to_array(t) : Array());
  return arrays;
}

Position position_of(int64_t linear, const std::vector<int64_t>& sizes) {
  Position position(sizes.size());
  for (size_t d = sizes.size(); d-- > 0;) {
    position[d] = linear % sizes[d];
    linear /= sizes[d];
  }
  return position;
}

int64_t linear_of(const Position& position, const std::vector<int64_t>& sizes) {
  int64_t linear = 0;
  for (size_t d = 0; d < sizes.size(); ++d) linear = linear * sizes[d] + position[d];
  return linear;
}

int64_t count_of(const std::vector<int64_t>& sizes) {
  int64_t count = 1;
  for (int64_t size : sizes) count *= size;
  return count;
}

Array build(std::vector<int64_t> sizes, const std::function<double(const Position&)>& f) {
  Array array{std::move(sizes), {}};
  const int64_t count = count_of(array.sizes);
  for (int64_t i = 0; i < count; ++i) array.values.push_back(f(position_of(i, array.sizes)));
  return array;
}

double at(const Array& array, const Position& position) {
  return array.values[size_t(linear_of(position, array.sizes))];
}

Refusal refusal_on(Device device, std::function<void(Device)> call, std::string message) {
  return {[device, call = std::move(call)] {
            call(device);
            if (device.is_cuda()) cuda::synchronize();
          },
          std::move(message)};
}

Row unary_row(std::string name, Tensor (*op)(const Tensor&), double (*reference)(double),
              Draw draw) {
  Row row;
  row.name = name;
  row.covers = {name};
  row.cases = {
      {{{3, 5}, draw}}, {{{2, 3, 4, 2}, draw}}, {{{}, draw}}, {{{0, 3}, draw}}, {{{67}, draw}}};
  row.call = [op](const Tensors& in) { return Tensors{op(in[0])}; };
  row.reference = [reference](const Arrays& in) {
    return Arrays{map(in, [reference](const double* x) { return reference(x[0]); })};
  };
  row.special_values = true;
  row.keeps_memory_format = true;
  return row;
}

Row binary_row(std::string name, std::function<Tensor(const Tensor&, const Tensor&)> op,
               double (*reference)(double, double), Draw draw) {
  Row row;
  row.name = name;
  row.covers = {name};
  row.cases = {{{{3, 5}, draw}, {{3, 5}, draw}},
               {{{3, 1, 4}, draw}, {{2, 1}, draw}},
               {{{5}, draw}, {{}, draw}},
               {{{}, draw}, {{}, draw}},
               {{{0, 4}, draw}, {{1, 4}, draw}},
               {{{4, 19}, draw}, {{19}, draw}},
               {{{2, 3, 2, 2}, draw}, {{2, 3, 2, 2}, draw}}};
  row.promotes = true;
  row.special_values = true;
  row.keeps_memory_format = true;
  row.call = [op](const Tensors& in) { return Tensors{op(in[0], in[1])}; };
  row.reference = [reference](const Arrays& in) {
    return Arrays{map(in, [reference](const double* x) { return reference(x[0], x[1]); })};
  };
  return row;
}

}  // namespace hearth::testing
