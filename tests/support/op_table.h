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
  kDistinct,  // all different, so that a maximum is unique
  kIndex,     // integers below `below`, int64
  kBool,      // truth values, dtype bool
};

/// One input of a case.
struct Input {
  std::vector<int64_t> sizes;
  Draw draw = Draw::kNormal;
  int64_t below = 0;
  bool absent = false;       // an undefined tensor
  bool float_only = false;   // keeps float32 where the case is half
  bool constant = false;     // has no gradient though it is real
};
using Case = std::vector<Input>;

/// A call that must fail, and what its error must say.
struct Refusal {
  std::function<void()> call;
  std::string says;
};

/// One operator in the table: everything the harness needs to derive its tests.
struct Row {
  std::string name;
  std::vector<std::string> covers;  // the OpInfo names it exercises
  std::vector<Case> cases;
  std::function<Tensors(const Tensors&)> call;
  std::function<Arrays(const Arrays&)> reference;
  DtypeSet dtypes = dtypes::kFloating;
  double slack = 1;          // times the usual tolerance
  int orders = 2;            // of derivatives
  bool special_values = false;   // the reference also holds for ±0, ±inf and NaN
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
Row unary_row(std::string name, Tensor (*op)(const Tensor&), double (*reference)(double), Draw draw = Draw::kNormal);
Row binary_row(std::string name, std::function<Tensor(const Tensor&, const Tensor&)> op,
               double (*reference)(double, double), Draw draw = Draw::kNormal);

/// The elements of a tensor, wherever it is.
Array to_array(const Tensor& tensor);
/// Applies f over broadcast arrays.
Array map(const Arrays& in, const std::function<double(const double*)>& f);

enum class Form { kContiguous, kTransposed, kSliced, kExpanded };
/// An input of a case, drawn from `seed`.
Tensor make_input(const Input& input, ScalarType dtype, Device device, Form form, uint32_t seed);
Tensors make_inputs(const Case& inputs, ScalarType dtype, Device device, Form form, uint32_t seed);

/// The devices the tests run on: the CPU, and CUDA (simulated or not) where there is one.
std::vector<Device> devices();
std::vector<ScalarType> dtypes_in(DtypeSet set);

/// Fails the current test unless the tensor has the reference's sizes and values, within what its dtype allows.
void expect_close(const Tensor& got, const Array& wanted, double slack, const std::string& what);

}  // namespace hearth::testing
