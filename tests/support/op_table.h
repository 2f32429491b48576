// The op table: rows for the operators, from which tests/ops/op_*.cpp and other tests derive their
// cases.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "functors/hd.h"
#include "hearth/tensor.h"

namespace hearth::testing {

using Tensors = std::vector<Tensor>;

/// An input or output of a reference: sizes and row-major values in double.
struct Array {
  std::vector<int64_t> sizes;
  std::vector<double> values;
};
using Arrays = std::vector<Array>;

inline constexpr double kInf = std::numeric_limits<double>::infinity();

/// The distribution of an input's random elements.
enum class Draw {
  kNormal,    // real numbers of both signs, none close to 0
  kPositive,  // 0.2 … 2
  kUnit,      // -0.9 … 0.9
  kAboveOne,  // 1.1 … 2.9
  kDistinct,  // no two are equal, so that a maximum is unique
  kSmall,     // whole numbers from -2 to 2: zeros and ties
  kIndex,     // integers below `below`, int64
  kBool,      // truth values, dtype bool
};

/// One input of a case.
struct Input {
  std::vector<int64_t> sizes;
  Draw draw = Draw::kNormal;
  int64_t below = 0;
  bool absent = false;      // an undefined tensor
  bool float_only = false;  // float32 when the other inputs are of a half type
  bool constant = false;    // without a gradient, although floating-point
};
using Case = std::vector<Input>;

/// An output's dtype for inputs of one dtype.
enum class Result {
  kSame,   // the inputs' dtype
  kFloat,  // float32 for integers and bools
  kLong,   // int64
  kBool,
  kDouble,
  kStatistics,  // float32 for half types
  kSum,         // int64 for integers and bools
};
ScalarType result_dtype(Result result, ScalarType input);

/// The memory layout of an input.
enum class MemoryLayout { kContiguous, kTransposed, kSliced, kExpanded };

/// A call that must throw, and a part of the expected message.
struct Refusal {
  std::function<void()> call;
  std::string message;
};

/// A row of the table: an operator with certain arguments, and the data of all derived tests.
struct Row {
  std::string name;
  std::vector<std::string> covers;  // the full names of the ops that `call` exercises
  std::vector<Case> cases;
  std::function<Tensors(const Tensors&)> call;
  std::function<Arrays(const Arrays&)> reference;  // the expected outputs
  DtypeSet dtypes = dtypes::kFloating;
  std::vector<Result> results{Result::kSame};  // per output; the last stands for all that follow
  double slack = 1;                            // a factor of the usual tolerance
  double gradient_slack = 1;         // the same factor for gradients in float32 and half types
  int orders = 2;                    // orders of derivatives: 0, 1 or 2
  bool special_values = false;       // whether the reference also holds for ±0, ±inf and NaN
  bool promotes = false;             // the inputs may have different dtypes
  bool keeps_memory_format = false;  // channels_last in, channels_last out
  bool mixes_devices = false;        // the inputs may be on different devices
  bool of_complex = false;           // the inputs are real and imaginary parts, which `call` joins
  std::function<void(Tensor&, const Tensors&)> out;      // the out= form
  std::function<void(Tensor&, const Tensors&)> inplace;  // the in-place form on input 0
  std::vector<Refusal> refusals;
};
std::ostream& operator<<(std::ostream& stream, const Row& row);

const std::vector<Row>& rows();
/// Adds a row to the table, at namespace scope: `const Register gelu{Row{...}};`
struct Register {
  explicit Register(Row row);
};

/// A row for an elementwise op of one or two inputs, its reference a function of doubles.
Row unary_row(std::string name, Tensor (*op)(const Tensor&), double (*reference)(double),
              Draw draw = Draw::kNormal);
Row binary_row(std::string name, std::function<Tensor(const Tensor&, const Tensor&)> op,
               double (*reference)(double, double), Draw draw = Draw::kNormal);

/// An element's index in each dimension.
using Position = std::vector<int64_t>;
/// Convert between positions and linear indices of a row-major array.
Position position_of(int64_t linear, const std::vector<int64_t>& sizes);
int64_t linear_of(const Position& position, const std::vector<int64_t>& sizes);
int64_t count_of(const std::vector<int64_t>& sizes);
/// An array of these sizes whose elements are f(position).
Array build(std::vector<int64_t> sizes, const std::function<double(const Position&)>& f);
/// The element at a position.
double at(const Array& array, const Position& position);

/// A call that must throw on the device. On a GPU, which reports some errors only at the next
/// synchronisation, it synchronises after the call.
Refusal refusal_on(Device device, std::function<void(Device)> call, std::string message);

/// The dtype of a row's output k for inputs of one dtype.
ScalarType result_dtype(const Row& row, size_t k, ScalarType input);

/// "add case 2 Half on cpu layout 1", for messages.
std::string describe(const Row& row, size_t case_index, ScalarType dtype, Device device,
                     MemoryLayout layout);
Arrays arrays_of(const Tensors& tensors);

/// The elements of a tensor on any device.
Array to_array(const Tensor& tensor);
/// Applies f to corresponding elements of the arrays, which are broadcast to one shape.
Array map(const Arrays& in, const std::function<double(const double*)>& f);

/// A tensor for an input of a case, with random elements from `seed`.
Tensor make_input(const Input& input, ScalarType dtype, Device device, MemoryLayout layout,
                  uint32_t seed);
Tensors make_inputs(const Case& inputs, ScalarType dtype, Device device, MemoryLayout layout,
                    uint32_t seed);

/// The devices that tests run on: the CPU and, if available, the first GPU (simulated or real).
std::vector<Device> devices();
std::vector<ScalarType> dtypes_in(DtypeSet set);

/// Fails the current test unless the tensor has the reference's sizes and, within its dtype's
/// tolerance times `slack`, its values.
void expect_close(const Tensor& got, const Array& wanted, double slack,
                  const std::string& description);

/// Whether two numbers are equal within the tolerances. Infinities are equal only to themselves;
/// NaN counts as equal to NaN.
bool is_close(double got, double wanted, double relative, double absolute);

/// The relative rounding error allowed for one operation in this dtype.
double relative_tolerance(ScalarType dtype);

/// The indices of a case's inputs that have gradients.
std::vector<size_t> differentiable_inputs(const Case& inputs, const Tensors& tensors);

/// Whether any of the row's outputs is differentiable.
bool has_differentiable_outputs(const Row& row);

/// Inputs of an elementwise row: 0, infinities and numbers from 1 to 10,000 of both signs, and NaN;
/// each value for one input, all pairs for two.
Tensors special_inputs(size_t num_inputs, ScalarType dtype, Device device);

}  // namespace hearth::testing
