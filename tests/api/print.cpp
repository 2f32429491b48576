#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "hearth/autograd.h"
#include "hearth/cuda.h"
#include "hearth/float8.h"
#include "hearth/operators.h"
#include "hearth/tensor.h"
#include "tests/support/fixtures.h"

namespace {

using namespace hearth;

struct Case {
  std::string description;  // "case <dtype> <sizes> <requires_grad> <values>"
  std::string expected;
};

std::vector<Case> read_cases(const std::string& path) {
  std::ifstream file(path);
  std::vector<Case> cases;
  std::string line;
  while (std::getline(file, line)) {
    Case test_case;
    test_case.description = line;
    while (std::getline(file, line) && line != "end") test_case.expected += line + '\n';
    if (!test_case.expected.empty()) test_case.expected.pop_back();
    cases.push_back(test_case);
  }
  return cases;
}

ScalarType type_named(const std::string& name) {
#define HEARTH_NAMED(type, Name) \
  if (name == python_name_of(ScalarType::Name)) return ScalarType::Name;
  HEARTH_ALL_DTYPES(HEARTH_NAMED)
#undef HEARTH_NAMED
  return ScalarType::Undefined;
}

std::vector<int64_t> sizes_in(const std::string& text) {
  std::vector<int64_t> sizes;
  std::istringstream stream(text);
  for (std::string part; text != "-" && std::getline(stream, part, 'x');)
    sizes.push_back(std::stoll(part));
  return sizes;
}

template <class T>
T read_number(std::istream& stream) {
  std::string text;
  stream >> text;
  if constexpr (is_complex(dtype_of<T>)) {
    const double real = std::strtod(text.c_str(), nullptr);
    stream >> text;
    using Part = typename T::value_type;
    return T(Part(real), Part(std::strtod(text.c_str(), nullptr)));
  } else if constexpr (is_floating_point(dtype_of<T>)) {
    return static_cast<T>(std::strtod(text.c_str(), nullptr));
  } else if constexpr (dtype_of<T> == kUInt64) {
    return std::strtoull(text.c_str(), nullptr, 10);
  } else {
    return static_cast<T>(std::strtoll(text.c_str(), nullptr, 10));
  }
}

template <class T>
void fill_cyclically(const Tensor& tensor, std::istream& stream) {
  std::vector<T> values;
  while (stream >> std::ws && !stream.eof()) values.push_back(read_number<T>(stream));
  for (int64_t i = 0; i < tensor.numel(); ++i)
    tensor.data_ptr<T>()[i] = values[size_t(i) % values.size()];
}

Tensor tensor_of(const Case& test_case) {
  std::istringstream stream(test_case.description);
  std::string word, dtype, sizes;
  bool requires_grad = false;
  stream >> word >> dtype >> sizes >> requires_grad;
  Tensor tensor = empty(sizes_in(sizes), type_named(dtype));
  switch (tensor.scalar_type()) {
#define HEARTH_FILL(type, Name) \
  case ScalarType::Name: fill_cyclically<type>(tensor, stream); break;
    HEARTH_ALL_DTYPES(HEARTH_FILL)
#undef HEARTH_FILL
    default: ADD_FAILURE() << test_case.description;
  }
  if (requires_grad) tensor.requires_grad_();
  return tensor;
}

TEST(Print, MatchesPyTorch) {
  const char* cases_path = std::getenv("HEARTH_PRINT_CASES");
  const std::vector<Case> cases =
      read_cases(cases_path ? cases_path : hearth::testing::fixture_path("print_cases.txt"));
  ASSERT_GT(cases.size(), 100u);
  for (const Case& test_case : cases)
    EXPECT_EQ(to_string(tensor_of(test_case)), test_case.expected) << test_case.description;
}

TEST(Print, ShowsUndefinedTensors) { EXPECT_EQ(to_string(Tensor()), "[ Tensor (undefined) ]"); }

TEST(Print, WritesToStreams) {
  std::ostringstream stream;
  stream << arange(3) << '!';
  EXPECT_EQ(stream.str(), "tensor([0, 1, 2])!");
}

TEST(Print, ViewsShowTheirElementsOnly) {
  const Tensor t = arange(6).view({2, 3});
  EXPECT_EQ(to_string(t.t()), "tensor([[0, 3],\n        [1, 4],\n        [2, 5]])");
  EXPECT_EQ(to_string(t.select(1, 2)), "tensor([2, 5])");
  EXPECT_EQ(to_string(ones({1}).expand({3})), "tensor([1., 1., 1.])");
}

TEST(Print, ShowsGradFn) {
  const Tensor a = ones({2}, requires_grad());
  EXPECT_EQ(to_string(a), "tensor([1., 1.], requires_grad=True)");
  EXPECT_EQ(to_string(a + a), "tensor([2., 2.], grad_fn=<AddBackward0>)");
  EXPECT_EQ(to_string((a + a).detach()), "tensor([2., 2.])");
  EXPECT_EQ(to_string((a * 2).sum()), "tensor(4., grad_fn=<SumBackward0>)");
}

TEST(Print, ShowsMetaTensors) {
  const TensorOptions meta = device(kMeta);
  EXPECT_EQ(to_string(empty({2, 3}, meta)), "tensor(..., device='meta', size=(2, 3))");
  EXPECT_EQ(to_string(empty({2}, meta.dtype(kLong))),
            "tensor(..., device='meta', size=(2,), dtype=torch.int64)");
  EXPECT_EQ(to_string(empty({}, meta)), "tensor(..., device='meta', size=())");
}

TEST(Print, ShowsTheDevice) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_not();
  EXPECT_EQ(to_string(ones({2}, device(kCUDA).requires_grad(true))),
            "tensor([1., 1.], device='cuda:0', requires_grad=True)");
  const std::string large = to_string(arange(2000, device(kCUDA)));
  EXPECT_EQ(large, "tensor([   0,    1,    2,  ..., 1997, 1998, 1999], device='cuda:0')");
}

TEST(Print, WorksInInferenceMode) {
  const InferenceMode guard;
  EXPECT_EQ(to_string(ones({2})), "tensor([1., 1.])");
}

TEST(Print, OmitsTheDefaultDtype) {
  set_default_dtype(kDouble);
  const std::string as_double = to_string(ones({2}, kDouble)),
                    as_float = to_string(ones({2}, kFloat));
  set_default_dtype(kFloat);
  EXPECT_EQ(as_double, "tensor([1., 1.])");
  EXPECT_EQ(as_float, "tensor([1., 1.], dtype=torch.float32)");
}

}  // namespace
