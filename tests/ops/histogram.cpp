// histc, histogram and histogramdd.
#include <gtest/gtest.h>

#include <cmath>

#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/support/op_table.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

TEST(Histc, BinsAndRanges) {
  for (const Device device : devices()) {
    const Tensor x = tensor({0.f, 0.1f, 0.5f, 0.9f, 1.f, 2.f, NAN}).to(device, kFloat);
    EXPECT_TRUE(x.histc(4, 0, 1).cpu().equal(tensor({2.f, 0.f, 1.f, 2.f})));
  }
  EXPECT_TRUE(tensor({1.f, 1.f}).histc(4).equal(tensor({0.f, 0.f, 2.f, 0.f})));
  EXPECT_TRUE(empty({0}).histc(2).equal(zeros({2})));
  EXPECT_EQ(ones({2}, kHalf).histc(3).scalar_type(), kHalf);
  EXPECT_EQ(ones({5000}, kHalf).histc(1).item<float>(), 5000);
}

TEST(Histc, Refusals) {
  EXPECT_ERROR(ones({2}, kLong).histc(), "\"histogram_cpu\" not implemented for 'Long'");
  EXPECT_ERROR(ones({2}).histc(0),
               "torch.histogram(): bins must be > 0, but got 0 for dimension 0");
  EXPECT_ERROR(ones({2}).histc(4, 3, 1), "torch.histc: max must be larger than min");
  EXPECT_ERROR(tensor({1.f, NAN}).histc(4), "is not finite");
}

TEST(Histogram, EqualBins) {
  const auto [hist, edges] = tensor({1.f, 1.f}).histogram(4);
  EXPECT_TRUE(hist.equal(tensor({0.f, 0.f, 2.f, 0.f})));
  EXPECT_TRUE(edges.equal(tensor({0.5f, 0.75f, 1.f, 1.25f, 1.5f})));
  EXPECT_TRUE(std::get<0>(empty({0}).histogram(4)).equal(zeros({4})));
  const std::vector<double> range{0, 2};
  EXPECT_TRUE(std::get<0>(tensor({0.f, 1.f, 2.f, 3.f}).histogram(2, ArrayRef<double>(range)))
                  .equal(tensor({1.f, 2.f})));
}

TEST(Histogram, GivenEdgesWeightsAndDensity) {
  const Tensor x = tensor({1.f, 2.f, 3.f, 7.f}), edges = tensor({1.f, 2.f, 4.f});
  EXPECT_TRUE(std::get<0>(histogram(x, edges)).equal(tensor({1.f, 2.f})));
  const Tensor weight = tensor({1.f, 2.f, 3.f, 4.f});
  EXPECT_TRUE(std::get<0>(histogram(x, edges, weight)).equal(tensor({1.f, 5.f})));
  const auto [density, same] = histogram(x, edges, weight, true);
  EXPECT_TRUE(density.allclose(tensor({1.f / 6, 5.f / 12})));
  EXPECT_TRUE(same.equal(edges));
  EXPECT_NE(same.data_ptr(), edges.data_ptr());
  Tensor hist = empty({0}), bins = empty({0});
  histogram_out(hist, bins, x, edges);
  EXPECT_TRUE(hist.equal(tensor({1.f, 2.f})));
}

TEST(Histogram, Refusals) {
  const Tensor x = tensor({1.f, 2.f, 3.f});
  EXPECT_ERROR(x.to(kLong).histogram(3), "\"histogramdd\" not implemented for 'Long'");
  EXPECT_ERROR(x.histogram(0), "torch.histogram(): bins must be > 0, but got 0 for dimension 0");
  EXPECT_ERROR(histogram(x, tensor({1.f})), "bins must be > 0, but got 0 for dimension 0");
  EXPECT_ERROR(histogram(x, ones({2}, kDouble)),
               "but got input with dtype float and bins for dimension 0 with dtype double");
  EXPECT_ERROR(histogram(x, tensor({1.f, 2.f}), ones({1})),
               "but got input with shape [3, 1] and weight with shape [1]");
  const std::vector<double> falling{3, 1}, infinite{3, INFINITY}, odd{1, 2, 3};
  EXPECT_ERROR(x.histogram(3, ArrayRef<double>(falling)), "min should not exceed max");
  EXPECT_ERROR(x.histogram(3, ArrayRef<double>(infinite)), "range [3, inf] is not finite");
  EXPECT_ERROR(x.histogram(3, ArrayRef<double>(odd)),
               "for a 1-dimensional histogram range should have 2 elements, but got 3");
}

TEST(Histogramdd, PointsOfTwoCoordinates) {
  const Tensor points = tensor({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
  const auto [hist, edges] = histogramdd(points, IntArrayRef{2, 3});
  EXPECT_TRUE(hist.equal(tensor({{1.f, 0.f, 0.f}, {0.f, 1.f, 1.f}})));
  ASSERT_EQ(edges.size(), 2u);
  EXPECT_TRUE(edges[0].equal(tensor({1.f, 3.f, 5.f})));
  const auto given = histogramdd(points, TensorList(edges));
  EXPECT_TRUE(std::get<0>(given).equal(hist));
  EXPECT_EQ(std::get<0>(histogramdd(points, 2)).sizes().vec(), (std::vector<int64_t>{2, 2}));
  EXPECT_ERROR(histogramdd(points, IntArrayRef{2}),
               "The size of bins must be equal to the innermost dimension of the input.");
  EXPECT_ERROR(histogramdd(ones({3}), IntArrayRef{2}),
               "input tensor should have at least 2 dimensions");
}

}  // namespace
}  // namespace hearth::testing
