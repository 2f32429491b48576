#include "hearth/indexing.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "hearth/autograd.h"
#include "hearth/cuda.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/support/fixtures.h"
#include "tests/support/throws.h"
#include "tests/support/warnings.h"

namespace {

using namespace hearth;
using namespace hearth::indexing;
using hearth::testing::Warnings;

template <class E, class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "no such error";
}

std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  size_t start = 0;
  for (size_t end; (end = text.find(separator, start)) != std::string::npos;
       start = end + separator.size())
    parts.push_back(text.substr(start, end - start));
  parts.push_back(text.substr(start));
  return parts;
}

std::vector<int64_t> numbers(const std::string& text, const std::string& separator) {
  std::vector<int64_t> values;
  if (text == "-") return values;
  for (const std::string& part : split(text, separator)) values.push_back(std::stoll(part));
  return values;
}

Tensor floats(const std::vector<int64_t>& values, const std::vector<int64_t>& sizes) {
  return tensor(values, kFloat).view(sizes);
}

TensorIndex parse_index(const std::string& text) {
  if (text == "N") return None;
  if (text == "E") return "...";
  if (text[0] == 'b') return text == "bT";
  if (text[0] == 'i') return static_cast<int64_t>(std::stoll(text.substr(1)));
  const std::vector<std::string> parts = split(text.substr(1), ":");
  if (text[0] == 's') {
    std::optional<int64_t> bounds[3];
    for (size_t i = 0; i < 3; ++i)
      if (!parts[i].empty()) bounds[i] = std::stoll(parts[i]);
    return Slice(bounds[0], bounds[1], bounds[2]);
  }
  const ScalarType type = text[0] == 'm' ? kBool : text[0] == 'u' ? kInt : kLong;
  return tensor(numbers(parts[1], ","), type).view(numbers(parts[0], "x"));
}

Tensor arange_view(const std::vector<int64_t>& sizes) {
  int64_t count = 1;
  for (int64_t size : sizes) count *= size;
  return arange(count, kFloat).view(sizes);
}

/// Checks a line of tests/fixtures/index_cases.txt, whose format tests/oracle/index_cases.py
/// describes.
void check_case(const std::string& line) {
  SCOPED_TRACE(line);
  const std::vector<std::string> fields = split(line, " | ");
  const Tensor source = arange_view(numbers(fields[0], "x")).requires_grad_();
  std::vector<TensorIndex> indices;
  for (const std::string& text : split(fields[1], " ")) indices.push_back(parse_index(text));
  if (fields[2] == "error") {
    EXPECT_EQ(error_of<IndexError>([&] { source.index(indices); }), fields[3]);
    return;
  }
  const Tensor result = source.index(indices);
  EXPECT_EQ(to_string(result.detach()),
            to_string(floats(numbers(fields[3], ","), numbers(fields[2], "x"))));
  (result * (arange_view(result.sizes().vec()) + 1)).sum().backward();
  EXPECT_EQ(to_string(source.grad()),
            to_string(floats(numbers(fields[4], ","), source.sizes().vec())));
  const Tensor target = source.detach().clone();
  target.index_put_(indices, -(arange_view(numbers(fields[5], "x")) + 1));
  EXPECT_EQ(to_string(target), to_string(floats(numbers(fields[6], ","), source.sizes().vec())));
}

TEST(Indexing, MatchesPyTorch) {
  const char* cases_path = std::getenv("HEARTH_INDEX_CASES");
  std::ifstream file(cases_path ? cases_path : hearth::testing::fixture_path("index_cases.txt"));
  int cases = 0;
  for (std::string line; std::getline(file, line); ++cases) check_case(line);
  EXPECT_GT(cases, 100);
}

TEST(Indexing, IndicesHaveATextForm) {
  EXPECT_EQ(to_string(Slice(1, 2, 3)), "1:2:3");
  EXPECT_EQ(to_string(Slice()), "0:4611686018427387903:1");
  EXPECT_EQ(to_string(Slice(None, None, -1)), "4611686018427387903:-4611686018427387904:-1");
  std::ostringstream stream;
  stream << std::vector<TensorIndex>{None,          "...", Ellipsis, 0, true, Slice(1, None, 2),
                                     tensor({1, 2})}
         << TensorIndex(false);
  EXPECT_EQ(stream.str(),
            "(None, ..., ..., 0, true, 1:4611686018427387903:2, tensor([1, 2]))false");
}

TEST(Indexing, BracketsSelect) {
  const Tensor t = arange(12).view({3, 4});
  EXPECT_EQ(to_string(t[1]), "tensor([4, 5, 6, 7])");
  EXPECT_EQ(t[-1][2].item<int64_t>(), 10);
  EXPECT_EQ(t[Scalar(2)][tensor(1)].item<int64_t>(), 9);
  EXPECT_EQ(error_of<IndexError>([&] { t[3]; }),
            "select(): index 3 out of range for tensor of size [3, 4] at dimension 0");
  EXPECT_EQ(error_of<IndexError>([&] { t[Scalar(1.5)]; }),
            "Can only index tensors with integral scalars");
  EXPECT_EQ(error_of<IndexError>([&] { t[Tensor()]; }),
            "Can only index with tensors that are defined");
  EXPECT_EQ(error_of<IndexError>([&] { t[tensor({1})]; }),
            "Can only index with tensors that are scalars (zero-dim)");
}

TEST(Indexing, AssignmentToATemporaryWritesToTheTensor) {
  const Tensor t = zeros({2, 3});
  t[0][1] = 5;
  t[1] = tensor({1., 2., 3.});
  t[0][0] = tensor(-1.);
  t[0][2] = t[1][2];
  EXPECT_EQ(to_string(t), "tensor([[-1.,  5.,  3.],\n        [ 1.,  2.,  3.]])");
  Tensor named = t[0];
  named = ones({1});  // assignment to a variable rebinds it
  EXPECT_EQ(t[0][0].item<float>(), -1);
}

TEST(Indexing, ViewsShareMemory) {
  const Tensor t = arange(12).view({3, 4});
  const Tensor whole = t.index({"..."});
  EXPECT_FALSE(whole.is_same(t));
  EXPECT_TRUE(whole.is_alias_of(t));
  EXPECT_TRUE(t.index({Slice(), 1}).is_alias_of(t));
  EXPECT_TRUE(t.index({tensor(1)}).is_alias_of(t));
  EXPECT_FALSE(t.index({tensor({1})}).is_alias_of(t));
}

TEST(Indexing, PutAcceptsNumbersAndAccumulates) {
  const Tensor t = zeros({2, 3});
  t.index_put_({0, Slice(1)}, 4);
  t.index_put_({tensor({1, 1}), tensor({0, 0})}, tensor({1., 2.}), true);
  t.index_put_({"...", 0}, ones({2}), true);
  EXPECT_EQ(to_string(t), "tensor([[1., 4., 4.],\n        [4., 0., 0.]])");
  t.index_put_({t > 3}, 7.5);
  EXPECT_EQ(to_string(t), "tensor([[1.0000, 7.5000, 7.5000],\n        [7.5000, 0.0000, 0.0000]])");
  const Tensor integers = arange(3);
  integers.index_put_({integers > 0}, tensor(7.9));  // a 0-d value may have another dtype
  EXPECT_EQ(to_string(integers), "tensor([0, 7, 7])");
  integers.index_put_({integers == 7}, integers.index({Slice(0, 1)}));
  EXPECT_EQ(to_string(integers), "tensor([0, 0, 0])");
}

TEST(Indexing, PutIsDifferentiable) {
  const Tensor x = ones({4}, requires_grad()), v = tensor({5., 6.}, requires_grad());
  const Tensor w = tensor({1., 10., 100., 1000.});
  Tensor y = x * 1;
  y.index_put_({tensor({2, 0})}, v);
  EXPECT_EQ(y.grad_fn()->name(), "IndexPutBackward0");
  (y * w).sum().backward();
  EXPECT_EQ(to_string(x.grad()), "tensor([   0.,   10.,    0., 1000.])");
  EXPECT_EQ(to_string(v.grad()), "tensor([100.,   1.])");
}

TEST(Indexing, PutWithAMaskAcceptsANumber) {
  const Tensor t = zeros({2, 2, 3}), mask = tensor({true, false});
  t.index_put_({Slice(), mask}, tensor({5.}));
  t.index_put_({1, 1, tensor({false, true, true})}, 6);
  EXPECT_EQ(to_string(t[1]), "tensor([[5., 5., 5.],\n        [0., 6., 6.]])");
  const Tensor c = zeros({2}, kComplexFloat);
  c.index_put_({mask}, 2);
  EXPECT_EQ(to_string(c), "tensor([2.+0.j, 0.+0.j])");
  const Tensor x = ones({2}, requires_grad()), v = tensor(3., requires_grad());
  Tensor y = x * 2;
  y.index_put_({mask}, v);
  (y * tensor({10., 100.})).sum().backward();
  EXPECT_EQ(to_string(x.grad()), "tensor([  0., 200.])");
  EXPECT_EQ(to_string(v.grad()), "tensor(10.)");
}

TEST(Indexing, AccumulationThroughAViewIsDifferentiable) {
  const Tensor x = ones({2, 2}, requires_grad()), v = tensor({3.}, requires_grad());
  const Tensor w = tensor({{1., 10.}, {100., 1000.}});
  Tensor y = x * 1;
  y.index_put_({1, tensor({0, 1, 1})}, v, true);
  EXPECT_EQ(to_string(y.detach()), "tensor([[1., 1.],\n        [4., 7.]])");
  (y * w).sum().backward();
  EXPECT_EQ(to_string(x.grad()), "tensor([[   1.,   10.],\n        [ 100., 1000.]])");
  EXPECT_EQ(to_string(v.grad()), "tensor([2100.])");
}

TEST(Indexing, HasSecondDerivatives) {
  const Tensor x = tensor({1., 2., 3.}, requires_grad());
  const Tensor picked = x.index({tensor({0, 2, 2})});
  EXPECT_EQ(picked.grad_fn()->name(), "IndexBackward0");
  const Tensor y = (picked * picked * picked).sum();
  const Tensor g = autograd::grad({y}, {x}, {}, {}, true)[0];
  EXPECT_EQ(to_string(g.detach()), "tensor([ 3.,  0., 54.])");
  EXPECT_EQ(to_string(autograd::grad({g.sum()}, {x})[0]), "tensor([ 6.,  0., 36.])");
}

TEST(Indexing, ModifiedIndicesThrowInBackward) {
  const Tensor x = ones({3}, requires_grad()), index = tensor({0, 1});
  const Tensor y = x.index({index}).sum();
  index.add_(1);
  EXPECT_NE(error_of<Error>([&] { y.backward(); }).find("modified by an inplace operation"),
            std::string::npos);
}

TEST(Indexing, PutRefusesTheTargetAsSource) {
  const Tensor t = tensor({1, 2, 0});
  constexpr char kText[] = "some elements of the input tensor and the written-to tensor refer to";
  EXPECT_ERROR(t.index_put_({t}, t), kText);
  EXPECT_ERROR(t.index_put_({tensor({0, 1})}, t.slice(0, 1)), kText);
  EXPECT_EQ(to_string(t), "tensor([1, 2, 0])");
  t.index_put_({tensor({0, 1})}, t.slice(0, 1).clone());
  EXPECT_EQ(to_string(t), "tensor([2, 0, 0])");
}

TEST(Indexing, WorksInInferenceMode) {
  const InferenceMode guard;
  const Tensor t = arange(4);
  t.index_put_({tensor({1, 2})}, t.index({Slice(2)}).clone());
  EXPECT_EQ(to_string(t), "tensor([0, 2, 3, 3])");
}

TEST(Indexing, PredictsShapesOnMeta) {
  const Tensor t = empty({2, 3, 4}, device(kMeta));
  EXPECT_EQ(t.index({tensor({1, 0, 1}), "...", tensor({{2}, {3}})}).sizes(),
            IntArrayRef({2, 3, 3}));
  EXPECT_EQ(t.index({1, None, Slice(1)}).sizes(), IntArrayRef({1, 2, 4}));
}

TEST(Indexing, WorksOnAGpu) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_not();
  const Tensor t = arange(6, device(kCUDA)).view({2, 3});
  EXPECT_EQ(to_string(t.index({1, tensor({2, 0})})), "tensor([5, 3], device='cuda:0')");
  EXPECT_EQ(to_string(t.index({t > 3})), "tensor([4, 5], device='cuda:0')");
  EXPECT_EQ(to_string(t.index({tensor({false, true})})), "tensor([[3, 4, 5]], device='cuda:0')");
  t.index_put_({Slice(), tensor({0, 0}, device(kCUDA))}, tensor({1}, device(kCUDA)), true);
  t.index_put_({t == 5}, -1);
  t[0][1] = tensor(7);
  EXPECT_EQ(to_string(t.cpu()), "tensor([[ 2,  7,  2],\n        [-1,  4, -1]])");
  EXPECT_EQ(error_of<IndexError>([&] { t.index({tensor({5})}).cpu(); }),
            "index 5 is out of bounds for dimension 0 with size 2");
}

TEST(Indexing, ByteMasksWarn) {
  const Warnings warnings;
  const Tensor t = arange(3), mask = tensor({1, 0, 1}, kByte);
  EXPECT_EQ(to_string(t.index({mask})), "tensor([0, 2])");
  t.index_put_({mask}, 9);
  EXPECT_EQ(to_string(t), "tensor([9, 1, 9])");
  ASSERT_EQ(warnings.said().size(), 2u);
  for (const std::string& text : warnings.said())
    EXPECT_NE(text.find("indexing with dtype torch.uint8 is now deprecated"), std::string::npos);
}

TEST(Indexing, IndexReportsErrors) {
  const Tensor t = arange(12).view({3, 4});
  EXPECT_EQ(error_of<IndexError>([&] {
              t.index({None, 0, 7});
            }),
            "index 7 is out of bounds for dimension 2 with size 4");
  EXPECT_EQ(error_of<IndexError>([&] { t.index({tensor({5})}); }),
            "index 5 is out of bounds for dimension 0 with size 3");
  EXPECT_EQ(error_of<IndexError>([&] { t.index({tensor({0.5})}); }),
            "tensors used as indices must be long, int, byte or bool tensors");
  EXPECT_EQ(error_of<IndexError>([&] {
              zeros({0, 3}).index({tensor({0})});
            }),
            "index is out of bounds for dimension with size 0");
  EXPECT_NE(
      error_of<IndexError>([&] { tensor(1).index({0}); }).find("invalid index of a 0-dim tensor"),
      std::string::npos);
  EXPECT_EQ(error_of<Error>([&] { t.index(std::vector<TensorIndex>()); }),
            "Passing an empty index list to Tensor::index() is not valid syntax");
  EXPECT_EQ(error_of<ValueError>([&] { t.index({Slice(None, None, -1)}); }),
            "step must be greater than zero");
  EXPECT_EQ(error_of<ValueError>([&] { t.index({Slice(None, None, 0)}); }),
            "slice step cannot be zero");
  EXPECT_EQ(error_of<ValueError>([&] { t.index({".."}); }),
            "Expected \"...\" to represent an ellipsis index, but got \"..\"");
}

TEST(Indexing, PutReportsErrors) {
  const Tensor t = arange(12).view({3, 4});
  EXPECT_EQ(error_of<Error>([&] { t.index_put_({tensor({0})}, tensor({0.5})); }),
            "Index put requires the source and destination dtypes match, got Long for the "
            "destination and Float for the "
            "source.");
  EXPECT_EQ(error_of<Error>([&] {
              t.index_put_({tensor({0, 1})}, tensor({1, 2, 3}));
            }),
            "shape mismatch: value tensor of shape [3] cannot be broadcast to indexing result of "
            "shape [2, 4]");
  EXPECT_EQ(error_of<Error>([&] {
              t.index_put_({0}, tensor({1, 2, 3}));
            }),
            "The expanded size of the tensor (4) must match the existing size (3) at non-singleton "
            "dimension 0.  Target "
            "sizes: [4].  Tensor sizes: [3]");
  const Tensor leaf = ones({3}, requires_grad());
  EXPECT_NE(error_of<Error>([&] {
              leaf.index_put_({tensor({0})}, 1);
            }).find("leaf Variable that requires grad"),
            std::string::npos);
}

}  // namespace
