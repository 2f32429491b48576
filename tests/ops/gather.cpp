#include <gtest/gtest.h>

#include <functional>

#include "hearth/cuda.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/ops/index_input.h"
#include "tests/support/op_table.h"

namespace hearth::testing {
namespace {

Row gather_row() {
  Row row;
  row.name = "gather";
  row.covers = {"gather"};
  row.cases = {{{{3, 5}}, indices({3, 4}, 5)},
               {{{4, 2, 3}}, indices({2, 7, 3}, 2)},
               {{{2, 3}}, indices({0, 2}, 3)},
               {{{2, 3}}, indices({1, 1}, 3)}};
  row.dtypes = dtypes::kRealAndBool;
  row.call = [](const Tensors& in) { return Tensors{in[0].gather(1, in[1])}; };
  row.reference = [](const Arrays& in) {
    return Arrays{build(in[1].sizes, [&](Position p) {
      const int64_t index = int64_t(at(in[1], p));
      p[1] = index;
      return at(in[0], p);
    })};
  };
  row.out = [](Tensor& out, const Tensors& in) { gather_out(out, in[0], 1, in[1]); };
  row.refusals = {{[] {
                     ones({2, 3}).gather(2, zeros({2, 3}, kLong));
                   },
                   "Dimension out of range"},
                  {[] {
                     ones({2, 3}).gather(1, zeros({2, 3}));
                   },
                   "gather(): Expected dtype int32/int64 for index"},
                  {[] {
                     ones({2, 3}).gather(1, zeros({2}, kLong));
                   },
                   "Index tensor must have the same number of dimensions as input tensor"},
                  {[] {
                     ones({2, 3}).gather(1, zeros({3, 1}, kLong));
                   },
                   "Size does not match at dimension 0 expected index [3, 1] to be no larger than "
                   "self [2, 3] apart from dimension 1"}};
  for (const Device device : devices()) {
    const auto with_index = [](double value) {
      return [value](Device where) {
        ones({2, 3}).to(where, kFloat).gather(1, full({2, 1}, value, kLong).to(where, kLong));
      };
    };
    row.refusals.push_back(
        refusal_on(device, with_index(3), "index 3 is out of bounds for dimension 1 with size 3"));
    row.refusals.push_back(refusal_on(device, with_index(-1),
                                      "index -1 is out of bounds for dimension 1 with size 3"));
  }
  return row;
}

Row index_select_row() {
  Row row;
  row.name = "index_select";
  row.covers = {"index_select"};
  row.cases = {{{{3, 5}}, indices({4}, 5)},
               {{{2, 3, 4}}, indices({2}, 3)},
               {{{2, 3}}, indices({}, 3)},
               {{{0, 3}}, indices({2}, 3)},
               {{{2, 3}}, indices({0}, 3)}};
  row.dtypes = dtypes::kRealAndBool;
  row.call = [](const Tensors& in) { return Tensors{in[0].index_select(1, in[1])}; };
  row.reference = [](const Arrays& in) {
    std::vector<int64_t> sizes = in[0].sizes;
    sizes[1] = int64_t(in[1].values.size());
    return Arrays{build(sizes, [&](Position p) {
      p[1] = int64_t(in[1].values[size_t(p[1])]);
      return at(in[0], p);
    })};
  };
  row.out = [](Tensor& out, const Tensors& in) { index_select_out(out, in[0], 1, in[1]); };
  row.refusals = {{[] {
                     ones({3}).index_select(0, zeros({1, 1}, kLong));
                   },
                   "index_select(): Index is supposed to be a vector"},
                  {[] { ones({3}).index_select(0, zeros({1})); },
                   "index_select(): Expected dtype int32 or int64 for index"},
                  {[] { ones({}).index_select(0, zeros({2}, kLong)); },
                   "index_select(): Index to scalar can have only 1 value, got 2 value(s)"}};
  for (const Device device : devices())
    row.refusals.push_back(refusal_on(
        device,
        [](Device where) {
          ones({3}).to(where, kFloat).index_select(0, full({1}, -1, kLong).to(where, kLong));
        },
        device.is_cpu() ? "index out of range in self (index -1, dimension 0 with size 3)"
                        : "index -1 is out of bounds for dimension 0 with size 3"));
  return row;
}

Row nonzero_row() {
  Row row;
  row.name = "nonzero";
  row.covers = {"nonzero"};
  row.cases = {{{{4, 5}, Draw::kSmall}},
               {{{}, Draw::kSmall}},
               {{{0, 3}}},
               {{{2, 3, 4}, Draw::kSmall}},
               {{{6}, Draw::kBool}}};
  row.dtypes = dtypes::kRealAndBool;
  row.results = {Result::kLong};
  row.orders = 0;
  row.call = [](const Tensors& in) { return Tensors{in[0].nonzero()}; };
  row.reference = [](const Arrays& in) {
    Array out{{0, int64_t(in[0].sizes.size())}, {}};
    for (int64_t i = 0; i < int64_t(in[0].values.size()); ++i) {
      if (in[0].values[size_t(i)] == 0) continue;
      ++out.sizes[0];
      for (int64_t p : position_of(i, in[0].sizes)) out.values.push_back(double(p));
    }
    return Arrays{out};
  };
  row.out = [](Tensor& out, const Tensors& in) { nonzero_out(out, in[0]); };
  return row;
}

TEST(IndexAlong, IndicesMayBeInt32) {
  for (const Device device : devices()) {
    const Tensor index = arange(3, TensorOptions(kInt).device(device));
    const Tensor x = ones({4}, TensorOptions(device).requires_grad(true));
    const Tensor sums = x.scatter_add(0, index, x);
    EXPECT_EQ(sums.sum().item<float>(), 7);
    sums.sum().backward();
    EXPECT_EQ(x.grad()[0].item<float>(), 2);
    EXPECT_EQ(x.grad()[3].item<float>(), 1);
  }
}

const Register registered_gather[] = {Register(gather_row()), Register(index_select_row()),
                                      Register(nonzero_row())};

TEST(IndexAlong, ComplexTensors) {
  const Tensor x = full({3}, Scalar(complex<double>(1, 2)), kComplexDouble);
  const Tensor index = zeros({2}, kLong);
  EXPECT_EQ(x.gather(0, index).sum().item<complex<double>>(), complex<double>(2, 4));
  EXPECT_EQ(x.scatter_add(0, index, x).select(0, 0).item<complex<double>>(), complex<double>(3, 6));
}

// The errors of indices out of range on the CPU have LibTorch's types and texts.
struct IndexErrorCase {
  const char* name;
  std::function<void()> call;
  bool is_index_error;  // else an Error
  const char* text;
};

void expect_error(const IndexErrorCase& c) {
  SCOPED_TRACE(c.name);
  try {
    c.call();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(dynamic_cast<const IndexError*>(&error) != nullptr, c.is_index_error);
    EXPECT_NE(std::string(error.what()).find(c.text), std::string::npos) << error.what();
  }
}

TEST(IndexErrors, HaveLibTorchsTypesAndTexts) {
  const Tensor x = arange(12, kFloat).view({3, 4}), nine = tensor({0, 9}), row = nine.view({1, 2});
  const Tensor cube = ones({2, 3, 4}), some = ones({3, 2});
  const char* text = "index 9 is out of bounds for dimension 1 with size 4";
  const char* in_self = "index out of range in self";
  const IndexErrorCase cases[] = {
      {"gather", [&] { x.gather(1, row); }, false, text},
      {"scatter", [&] { x.scatter(1, row, x); }, false, text},
      {"scatter of a number", [&] { x.scatter(1, row, 1); }, false, text},
      {"scatter_add", [&] { x.scatter_add(1, row, x); }, false, text},
      {"scatter_reduce", [&] { x.scatter_reduce(1, row, x, "amax"); }, false, text},
      {"index_select of rows", [&] { x.index_select(0, nine); }, true, in_self},
      {"index_select of columns", [&] { x.index_select(1, nine); }, false,
       "INDICES element is out of DATA bounds, id=9 axis_dim=4"},
      {"index_select of elements", [&] { x.select(0, 0).index_select(0, nine); }, true, in_self},
      {"index_select of dimension 2", [&] { cube.index_select(2, nine); }, true, in_self},
      {"index_select of nothing",
       [&] {
         ones({0, 4}).index_select(0, nine);
       },
       false, "index_select(): self indexing axis dim should be positive"},
      {"index_add", [&] { x.index_add(1, nine, some); }, false, text},
      {"index_add in between",
       [&] {
         cube.index_add(1, nine, ones({2, 2, 4}));
       },
       true, in_self},
      {"index_add of elements", [&] { ones(3).index_add(0, nine, ones(2)); }, true, in_self},
      {"index_copy", [&] { x.index_copy(1, nine, some); }, true,
       "index_copy_(): index 9 is out of bounds for dimension 1 with size 4"},
      {"index_reduce", [&] { x.index_reduce(1, nine, some, "amax"); }, true, in_self},
      {"index_fill", [&] { x.index_fill(1, nine, 1); }, true, text},
      {"take", [&] { x.take(tensor({-13})); }, true,
       "out of range: tried to access index -13 on a tensor of 12 elements."},
      {"put", [&] { x.put(tensor({12}), ones(1)); }, true,
       "out of range: tried to access index 12 on a tensor of 12 elements."},
      {"take_along_dim", [&] { x.take_along_dim(tensor({-1})); }, false,
       "index -1 is out of bounds for dimension 0 with size 12"},
      {"embedding", [&] { embedding(x, nine); }, true, in_self},
      {"embedding_renorm_", [&] { embedding_renorm(x, nine, 1, 2); }, true,
       "select(): index 9 out of range for tensor of size [3, 4] at dimension 0"},
      {"searchsorted", [&] { searchsorted(ones(2), ones(2), false, false, {}, nine); }, false,
       "torch.searchsorted(): sorter index out of range"}};
  for (const IndexErrorCase& c : cases) expect_error(c);
}

TEST(IndexErrors, OfEmbeddingBagHaveTheTextOfAtensKernel) {
  const Tensor x = arange(12, kFloat).view({3, 4}), offsets = tensor({0});
  const auto bag = [&](ScalarType type, int64_t index, int64_t mode,
                       std::optional<int64_t> padding = {}) {
    return [=] {
      embedding_bag(x.to(type), tensor({int64_t{0}, index}), offsets, false, mode, false, {}, false,
                    padding);
    };
  };
  const char* fast = "Index 1 of input takes value -1 which is not in the valid range [0, 3)";
  const char* slow =
      "embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be -1";
  expect_error({"sum", bag(kFloat, -1, 0), false, fast});
  expect_error({"mean", bag(kHalf, -1, 1), false, fast});
  expect_error({"double", bag(kDouble, -1, 0), false, slow});
  expect_error({"max", bag(kFloat, -1, 2), false, slow});
  expect_error({"padding", bag(kFloat, -1, 0, 0), false, slow});
}

TEST(IndexErrors, EmbeddingRenormCountsNegativeIndicesFromTheEnd) {
  Tensor x = ones({3, 4});
  embedding_renorm_(x, tensor({-1, 0}), 1, 2);  // norms of 2
  for (const int64_t row : {0, 1, 2})
    EXPECT_NEAR(x.select(0, row).norm().item<double>(), row == 1 ? 2 : 1, 1e-5);
}

}  // namespace
}  // namespace hearth::testing
