#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "functors/hd.h"
#include "hearth/tensor.h"

namespace hearth::testing {

using Tensors = std::vector<Tensor>;

/// What references compute with: sizes and row-major values in double.
struct Array {
  std::vector<int64_t> sizes;
  std::vector<double> values;
};
using Arrays = std::vector<Array>;

/// How an input's elements are drawn.
enum class Draw {
  kNormal,    // real numbers around 0, none of them close to 0
  kPositive,  // 0.2 … 2
  kUnit,      // -0.9 … 0.9
  kAboveOne,  // 1.1 … 2.9
  kDistinct,  // all different, so that a maximum is unique
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
  bool float_only = false;  // keeps float32 where the case is half
  bool constant = false;    // has no gradient though it is real
};
using Case = std::vector<Input>;

/// An output's dtype for inputs of one dtype.
enum class Result {
  kSame,   // the inputs'
  kFloat,  // float32 for integers and bools
  kLong,   // int64
  kBool,
  kDouble,
  kStatistics,  // float32 for half types
  kSum,         // int64 for integers and bools
};
ScalarType result_dtype(Result result, ScalarType input);

/// How a tensor lies in memory.
enum class Form { kContiguous, kTransposed, kSliced, kExpanded };

/// A call that must fail, and what its error must say.
struct Refusal {
  std::function<void()> call;
  std::string says;
};

/// One operator in the table: everything the harness needs to derive its tests.
struct Row {
  std::string name;
  std::vector<std::string> covers;  // the full names of the ops it exercises
  std::vector<Case> cases;
  std::function<Tensors(const Tensors&)> call;
  std::function<Arrays(const Arrays&)> reference;
  DtypeSet dtypes = dtypes::kFloating;
  std::vector<Result> results{Result::kSame};  // per output; the last stands for all that follow
  double slack = 1;                            // times the usual tolerance
  double gradient_slack = 1;         // times the usual tolerance, for gradients of half types
  int orders = 2;                    // of derivatives
  bool special_values = false;       // the reference also holds for ±0, ±inf and NaN
  bool promotes = false;             // its inputs may have different dtypes
  bool keeps_memory_format = false;  // channels_last in, channels_last out
  bool mixes_devices = false;        // its inputs may be on different devices
  std::function<void(Tensor&, const Tensors&)> out;      // the out= form
  std::function<void(Tensor&, const Tensors&)> inplace;  // the in-place form on input 0
  std::vector<Refusal> refusals;
};
std::ostream& operator<<(std::ostream& stream, const Row& row);

const std::vector<Row>& rows();
/// At namespace scope: `const Register gelu{Row{...}};`
struct Register {
  explicit Register(Row row);
};

/// A row for an elementwise op of one or two inputs, its reference a function of doubles.
Row unary_row(std::string name, Tensor (*op)(const Tensor&), double (*reference)(double),
              Draw draw = Draw::kNormal);
Row binary_row(std::string name, std::function<Tensor(const Tensor&, const Tensor&)> op,
               double (*reference)(double, double), Draw draw = Draw::kNormal);

/// The position of an element in a row-major array, and what it is the position of.
using Position = std::vector<int64_t>;
Position position_of(int64_t linear, const std::vector<int64_t>& sizes);
int64_t linear_of(const Position& position, const std::vector<int64_t>& sizes);
int64_t count_of(const std::vector<int64_t>& sizes);
/// An array of these sizes whose elements are f(position).
Array build(std::vector<int64_t> sizes, const std::function<double(const Position&)>& f);
/// The element of an array.
double at(const Array& array, const Position& position);

/// A refusal that differs between devices only by when it comes: at once, or at the next
/// synchronisation.
Refusal refusal_on(Device device, std::function<void(Device)> call, std::string says);

/// The dtype of a row's output k for inputs of one dtype.
ScalarType result_dtype(const Row& row, size_t k, ScalarType input);

/// "add case 2 Half on cpu form 1", for messages.
std::string describe(const Row& row, size_t number, ScalarType dtype, Device device, Form form);
Arrays arrays_of(const Tensors& tensors);

/// The elements of a tensor, wherever it is.
Array to_array(const Tensor& tensor);
/// Applies f over broadcast arrays.
Array map(const Arrays& in, const std::function<double(const double*)>& f);

/// An input of a case, drawn from `seed`.
Tensor make_input(const Input& input, ScalarType dtype, Device device, Form form, uint32_t seed);
Tensors make_inputs(const Case& inputs, ScalarType dtype, Device device, Form form, uint32_t seed);

/// The devices the tests run on: the CPU, and CUDA (simulated or not) where there is one.
std::vector<Device> devices();
std::vector<ScalarType> dtypes_in(DtypeSet set);

/// Fails the current test unless the tensor has the reference's sizes and values, within what its
/// dtype allows.
void expect_close(const Tensor& got, const Array& wanted, double slack, const std::string& what);

/// Whether a number may be called equal to another one. Infinities and NaN must be the same.
bool is_close(double got, double wanted, double relative, double absolute);

/// How exact one operation in this dtype is, relative to the result.
double relative_tolerance(ScalarType dtype);

/// Which inputs of a case have a gradient.
std::vector<size_t> differentiable_inputs(const Case& inputs, const Tensors& tensors);

/// Whether results of any of the row's outputs can require a gradient.
bool promises_gradients(const Row& row);

/// 0, infinities, NaN and large numbers of both signs, as the inputs of an elementwise row: one by
/// one, or as all pairs.
Tensors special_inputs(size_t inputs, ScalarType dtype, Device device);

}  // namespace hearth::testing
