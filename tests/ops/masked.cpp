// Operators with masks, take, take_along_dim, embedding and one_hot.
#include <gtest/gtest.h>

#include "hearth/autograd.h"
#include "hearth/stream.h"
#include "hearth/tensor_literal.h"
#include "tests/ops/index_input.h"
#include "tests/support/op_table.h"
#include "tests/support/throws.h"
#include "tests/support/warnings.h"

namespace hearth::testing {
namespace {

Input mask(std::vector<int64_t> sizes) { return {std::move(sizes), Draw::kBool}; }

Row masked_fill_row() {
  Row row;
  row.name = "masked_fill";
  row.covers = {"masked_fill"};
  row.cases = {
      {{{3, 5}}, mask({3, 5})}, {{{3, 5}}, mask({5})}, {{{4}}, mask({2, 1})}, {{{}}, mask({})}};
  row.dtypes = dtypes::kRealAndBool;
  row.call = [](const Tensors& in) { return Tensors{in[0].masked_fill(in[1], 2)}; };
  row.reference = [](const Arrays& in) {
    return Arrays{map(in, [](const double* x) { return x[1] != 0 ? 2 : x[0]; })};
  };
  row.inplace = [](Tensor& self, const Tensors& in) { self.masked_fill_(in[1], 2); };
  const Tensor full_mask = ones({3}, kBool);
  row.refusals = {{[] { ones({3}).masked_fill(zeros({3}), 1); },
                   "masked_fill_ only supports boolean masks, but got mask with dtype float"},
                  {[=] { ones({3}, kChar).masked_fill(full_mask, 300); },
                   "value cannot be converted to type int8_t without overflow"},
                  {[=] { ones({3}).masked_fill(full_mask, ones({3})); },
                   "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with 1 "
                   "dimension(s)."},
                  {[] {
                     ones({3}).masked_fill_(ones({2, 1}, kBool), 2);
                   },
                   "output with shape [3] doesn't match the broadcast shape [2, 3]"}};
  return row;
}

Row masked_fill_tensor_row() {
  Row row = masked_fill_row();
  row.name = "masked_fill_tensor";
  row.cases = {{{{3, 5}}, mask({3, 5}), {{}}}, {{{4}}, mask({2, 1}), {{}}}};
  row.call = [](const Tensors& in) { return Tensors{in[0].masked_fill(in[1], in[2])}; };
  row.reference = [](const Arrays& in) {
    return Arrays{map(in, [](const double* x) { return x[1] != 0 ? x[2] : x[0]; })};
  };
  row.inplace = [](Tensor& self, const Tensors& in) { self.masked_fill_(in[1], in[2]); };
  return row;
}

Row masked_select_row() {
  Row row;
  row.name = "masked_select";
  row.covers = {"index"};
  row.cases = {{{{3, 5}}, mask({3, 5})}, {{{2, 3}}, mask({3})}, {{{}}, mask({})}};
  row.dtypes = dtypes::kRealAndBool;
  row.mixes_devices = true;  // the error for two devices has another text
  row.call = [](const Tensors& in) { return Tensors{in[0].masked_select(in[1])}; };
  row.reference = [](const Arrays& in) {
    const Array chosen = map(in, [](const double* x) { return x[1]; });
    const Array values = map(in, [](const double* x) { return x[0]; });
    Array out{{0}, {}};
    for (size_t i = 0; i < values.values.size(); ++i)
      if (chosen.values[i] != 0) out.values.push_back(values.values[i]);
    out.sizes[0] = int64_t(out.values.size());
    return Arrays{out};
  };
  row.out = [](Tensor& out, const Tensors& in) { masked_select_out(out, in[0], in[1]); };
  row.refusals = {
      {[] { ones({3}).masked_select(zeros({3})); }, "masked_select: expected BoolTensor for mask"}};
  return row;
}

Row masked_scatter_row() {
  Row row;
  row.name = "masked_scatter";
  row.covers = {"index_put"};
  row.cases = {{{{3, 5}}, mask({3, 5}), {{15}}}, {{{2, 3}}, mask({3}), {{7}}}};
  row.dtypes = dtypes::kRealAndBool;
  row.mixes_devices = true;  // the error for two devices has another text
  row.call = [](const Tensors& in) { return Tensors{in[0].masked_scatter(in[1], in[2])}; };
  row.reference = [](const Arrays& in) {
    const Array chosen = map({in[0], in[1]}, [](const double* x) { return x[1]; });
    Array out = in[0];
    size_t next = 0;
    for (size_t i = 0; i < out.values.size(); ++i)
      if (chosen.values[i] != 0) out.values[i] = in[2].values[next++];
    return Arrays{out};
  };
  row.inplace = [](Tensor& self, const Tensors& in) { self.masked_scatter_(in[1], in[2]); };
  const Tensor full_mask = ones({3}, kBool);
  row.refusals = {{[=] { ones({3}).masked_scatter(full_mask, ones({2})); },
                   "Number of elements of source < number of ones in mask"},
                  {[=] { ones({3}).masked_scatter(full_mask, ones({3}, kLong)); },
                   "masked_scatter: expected self and source to have same dtypes but gotFloat and "
                   "Long"}};
  return row;
}

Row take_row() {
  Row row;
  row.name = "take";
  row.covers = {"index"};
  row.cases = {{{{3, 5}}, indices({2, 2}, 15)}, {{{4}}, indices({}, 4)}};
  row.dtypes = dtypes::kRealAndBool;
  row.call = [](const Tensors& in) { return Tensors{in[0].take(in[1])}; };
  row.reference = [](const Arrays& in) {
    return Arrays{
        build(in[1].sizes, [&](const Position& p) { return in[0].values[size_t(at(in[1], p))]; })};
  };
  row.out = [](Tensor& out, const Tensors& in) { take_out(out, in[0], in[1]); };
  row.refusals = {
      {[] { ones({6}).take(zeros({1}, kInt)); },
       "take(): Expected a long tensor for index, but got Int"},
      {[] { ones({0}).take(zeros({1}, kLong)); }, "take(): tried to take from an empty tensor"}};
  return row;
}

Row take_along_dim_row() {
  Row row;
  row.name = "take_along_dim";
  row.covers = {"gather"};
  row.cases = {{{{3, 5}}, indices({1, 4}, 5)}, {{{1, 5}}, indices({3, 2}, 5)}};
  row.dtypes = dtypes::kRealAndBool;
  row.call = [](const Tensors& in) { return Tensors{in[0].take_along_dim(in[1], 1)}; };
  row.reference = [](const Arrays& in) {
    return Arrays{build({3, in[1].sizes[1]}, [&](Position p) {
      const int64_t column = int64_t(at(in[1], {in[1].sizes[0] == 1 ? 0 : p[0], p[1]}));
      return at(in[0], {in[0].sizes[0] == 1 ? 0 : p[0], column});
    })};
  };
  row.out = [](Tensor& out, const Tensors& in) { take_along_dim_out(out, in[0], in[1], 1); };
  row.refusals = {{[] {
                     ones({2, 3}).take_along_dim(zeros({1}, kLong), 1);
                   },
                   "torch.take_along_dim(): input and indices should have the same number of "
                   "dimensions, but got 2 dimensions for input, and 1 dimensions for indices"}};
  return row;
}

Row embedding_row(std::string name, int64_t padding, bool by_frequency) {
  Row row;
  row.name = std::move(name);
  row.covers = {"embedding", "embedding_dense_backward"};
  row.cases = {
      {{{5, 3}}, indices({2, 3}, 5)}, {{{4, 2}}, indices({}, 4)}, {{{4, 2}}, indices({0}, 4)}};
  row.dtypes = dtypes::kRealAndBool;
  // With padding or frequencies, backward does not compute the derivative.
  row.orders = padding >= 0 || by_frequency ? 0 : 2;
  row.call = [=](const Tensors& in) {
    return Tensors{embedding(in[0], in[1], padding, by_frequency)};
  };
  row.reference = [](const Arrays& in) {
    std::vector<int64_t> sizes = in[1].sizes;
    sizes.push_back(in[0].sizes[1]);
    return Arrays{build(sizes, [&](Position p) {
      const int64_t column = p.back();
      p.pop_back();
      return at(in[0], {int64_t(at(in[1], p)), column});
    })};
  };
  row.refusals = {{[] { embedding(ones({3}), zeros({1}, kLong)); }, "'weight' must be 2-D"},
                  {[] {
                     embedding(ones({3, 2}), zeros({1}));
                   },
                   "Expected tensor for argument #1 'indices' to have one of the following scalar "
                   "types: Long, Int; but got CPUFloatType instead (while checking arguments "
                   "for embedding)"}};
  for (const Device device : devices())
    row.refusals.push_back(refusal_on(
        device,
        [](Device where) {
          embedding(ones({3, 2}).to(where, kFloat), full({1}, 3, kLong).to(where, kLong));
        },
        device.is_cpu() ? "index out of range in self (index 3, dimension 0 with size 3)"
                        : "index 3 is out of bounds for dimension 0 with size 3"));
  return row;
}

Row one_hot_row() {
  Row row;
  row.name = "one_hot";
  row.covers = {"scatter"};
  row.cases = {{indices({2, 3}, 4)}, {indices({}, 4)}, {indices({0}, 4)}};
  row.dtypes = dtypes::kLong;
  row.results = {Result::kLong};
  row.orders = 0;
  row.call = [](const Tensors& in) { return Tensors{one_hot(in[0], 4)}; };
  row.reference = [](const Arrays& in) {
    std::vector<int64_t> sizes = in[0].sizes;
    sizes.push_back(4);
    return Arrays{build(sizes, [&](Position p) {
      const int64_t label = p.back();
      p.pop_back();
      return at(in[0], p) == double(label);
    })};
  };
  row.refusals = {
      {[] { one_hot(full({2}, -2, kLong)); }, "Class values must be non-negative."},
      {[] { one_hot(full({2}, 2, kLong), 2); }, "Class values must be smaller than num_classes."},
      {[] { one_hot(zeros({2}, kInt)); },
       "one_hot is only applicable to index tensor of type LongTensor."},
      {[] { one_hot(zeros({0}, kLong)); },
       "Can not infer total number of classes from empty tensor."}};
  return row;
}

const Register registered_masked[] = {Register(masked_fill_row()),
                                      Register(masked_fill_tensor_row()),
                                      Register(masked_select_row()),
                                      Register(masked_scatter_row()),
                                      Register(take_row()),
                                      Register(take_along_dim_row()),
                                      Register(embedding_row("embedding", -1, false)),
                                      Register(embedding_row("embedding_padding", 1, false)),
                                      Register(embedding_row("embedding_by_frequency", -1, true)),
                                      Register(one_hot_row())};

TEST(MaskedFill, FillsExpandedTensorsWithAWarning) {
  const Tensor row = ones({1, 3});
  const Tensor mask = zeros({4, 3}, kBool);
  mask.select(0, 2).select(0, 1).fill_(true);
  [[maybe_unused]] const Warnings warnings;
  row.expand({4, 3}).masked_fill_(mask, 2);
  EXPECT_TRUE(row.equal(tensor({1.f, 2.f, 1.f}).view({1, 3})));
  EXPECT_TRUE(Warnings::contains("Use of masked_fill_ on expanded tensors is deprecated."));
  row.expand({4, 3}).masked_fill_(tensor({true, false, false}), full({}, 5));
  EXPECT_TRUE(row.equal(tensor({5.f, 2.f, 1.f}).view({1, 3})));
}

TEST(MaskedFill, OfAnExpandedTensorHasADerivative) {
  const Tensor x = ones({3}).requires_grad_();
  const Tensor copy = x * 1;
  copy.view({1, 3}).expand({2, 3}).masked_fill_(tensor({true, false, false}), 2);
  copy.sum().backward();
  EXPECT_TRUE(x.grad().equal(tensor({0.f, 1.f, 1.f})));
}

TEST(Embedding, PaddingRowHasGradientZero) {
  for (const Device device : devices()) {
    const Tensor weight = ones({3, 2}, TensorOptions(device).requires_grad(true));
    const Tensor index = zeros({4}, TensorOptions(kLong).device(device));
    index.select(0, 0).fill_(2);
    embedding(weight, index, 0).sum().backward();
    EXPECT_EQ(weight.grad().sum().item<float>(), 2) << device;
    EXPECT_EQ(weight.grad().select(0, 2).sum().item<float>(), 2) << device;
  }
}

TEST(Embedding, OneHotInfersTheNumberOfClasses) {
  EXPECT_EQ(one_hot(arange(3)).sizes().vec(), (std::vector<int64_t>{3, 3}));
}

TEST(Masked, TakeAcceptsNegativeIndices) {
  EXPECT_EQ(arange(6).view({2, 3}).take(full({1}, -1, kLong)).item<int64_t>(), 5);
}

TEST(Masked, ScatterChecksLeavesEvenIfTheMaskIsEmpty) {
  const Tensor leaf = ones({2}).requires_grad_();
  EXPECT_ERROR(leaf.masked_scatter_(zeros({2}, kBool), ones({2})),
               "a leaf Variable that requires grad is being used in an in-place operation.");
}

TEST(Embedding, AddsManyHalfGradientsExactly) {
  for (const ScalarType type : {kHalf, kBFloat16}) {
    const Tensor weight = zeros({2, 1}, type).requires_grad_();
    embedding(weight, zeros({1000}, kLong)).sum().backward();
    EXPECT_EQ(weight.grad()[0][0].item<double>(), 1000);
  }
}

TEST(Masked, ReadsNumbersAndSourcesOfSelfBeforeWriting) {
  const Tensor x = tensor({1.f, 2.f, 3.f, 4.f}), mask = tensor({true, false, true, false});
  x.masked_fill_(mask, x[1]);
  EXPECT_TRUE(x.equal(tensor({2.f, 2.f, 2.f, 4.f})));
  x.copy_(arange(4, kFloat));
  x.masked_scatter_(x.gt(0), x.narrow(0, 0, 3));
  EXPECT_TRUE(x.equal(tensor({0.f, 0.f, 1.f, 2.f})));
  const Tensor bits = tensor({1.f, 2.f, 3.f, 4.f}).view(kInt);
  const Tensor two = bits.view(kFloat)[1];
  EXPECT_EQ(bits.masked_fill(mask, two).dtype(), kInt);
  bits.masked_fill_(mask, two);
  EXPECT_TRUE(bits.equal(tensor({2, 1073741824, 2, 1082130432}, kInt)));
}

TEST(Masked, RefusesWhatPyTorchRefuses) {
  const Tensor bytes = ones({2}, kByte), flags = tensor({true, false, true, false});
  const Tensor some = tensor({true, false});
  EXPECT_ERROR(bytes.masked_fill_(some, tensor(300)),
               "value cannot be converted to type uint8_t without overflow");
  EXPECT_ERROR(bytes.index_fill_(0, tensor({1}), tensor(300)),
               "value cannot be converted to type uint8_t without overflow");
  EXPECT_ERROR(flags.narrow(0, 0, 3).masked_fill_(flags.narrow(0, 1, 3), false),
               "refer to a single memory location");
  EXPECT_ERROR(ones({2}).expand({2, 2}).masked_scatter_(tensor({{true, false}, {false, false}}),
                                                        full({1}, 5.0)),
               "more than one element of the written-to tensor");
}

}  // namespace
}  // namespace hearth::testing
