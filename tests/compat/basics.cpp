#include <gtest/gtest.h>
#include <torch/torch.h>

// Tensors as LibTorch programs use them.

TEST(Basics, SizesAreAcceptedInManyForms) {
  EXPECT_EQ(torch::ones({2, 3}).sizes(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(torch::ones({2, 3}).sizes(), torch::IntArrayRef({2, 3}));
  EXPECT_EQ(torch::empty(4).sizes(), torch::IntArrayRef(4));
  EXPECT_EQ(torch::zeros({}).dim(), 0);
  const std::vector<int64_t> sizes = {4, 1};
  EXPECT_TRUE(sizes == torch::rand(sizes).sizes());
  EXPECT_EQ(torch::zeros(torch::ones({5}).sizes()).size(0), 5);
  EXPECT_EQ(torch::randint(10, {3, 4}).dtype(), torch::kLong);
  EXPECT_EQ(torch::randint(/*low=*/3, /*high=*/10, {4, 4}).numel(), 16);
  EXPECT_EQ(torch::full({2}, 7).dtype(), torch::kLong);
  EXPECT_EQ(torch::full({2}, 7.5).dtype(), torch::kFloat);
  EXPECT_EQ(torch::eye(3).size(-1), 3);
  EXPECT_EQ(torch::ones({2, 3}).sizes().vec(), (std::vector<int64_t>{2, 3}));
}

TEST(Basics, OptionsAreAcceptedInManyForms) {
  EXPECT_TRUE(torch::rand({2, 3}, torch::requires_grad()).requires_grad());
  EXPECT_EQ(torch::ones({2}, torch::kInt).dtype(), torch::kInt32);
  EXPECT_EQ(torch::zeros({2}, torch::dtype(torch::kDouble).device(torch::kCPU)).scalar_type(),
            torch::kFloat64);
  EXPECT_EQ(torch::zeros({2}, at::device(at::kCPU).dtype(at::kShort)).itemsize(), 2U);
  EXPECT_EQ(torch::zeros({2}, "cpu").device(), torch::Device(torch::kCPU));
  const auto options = torch::TensorOptions()
                           .dtype(torch::kFloat32)
                           .layout(torch::kStrided)
                           .device(torch::kCPU)
                           .requires_grad(true);
  const torch::Tensor a = torch::empty({2, 2}, options);
  EXPECT_TRUE(a.requires_grad() && a.layout() == torch::kStrided);
  EXPECT_EQ(torch::ones_like(a, torch::kLong).dtype(), torch::kLong);
  EXPECT_EQ(torch::arange(0, 5, torch::kDouble).dtype(), torch::kDouble);
  EXPECT_EQ(torch::empty({3}, a.options().requires_grad(false)).dtype(), a.dtype());
}

TEST(Basics, ArithmeticMixesTensorsAndNumbers) {
  torch::Tensor a = torch::arange(4, torch::kFloat).view({2, 2});
  const torch::Tensor b = 2 * a + 1 - a / 2.0;
  EXPECT_EQ(b[1][1].item<float>(), 5.5F);
  EXPECT_EQ((1 - a)[0][1].item<double>(), 0.0);
  EXPECT_EQ((6 / (a + 1))[1][0].item().toFloat(), 2.0F);
  a += 1;
  a *= a;
  a.sub_(1).mul_(2);
  EXPECT_EQ(a.sum().item<int64_t>(), 2 * (0 + 3 + 8 + 15));
  EXPECT_EQ((a > 5).dtype(), torch::kBool);
  EXPECT_EQ((-a).min().item().to<int>(), -30);
  EXPECT_EQ((torch::ones({2}, torch::kInt) + 1.5).dtype(), torch::kFloat);
  EXPECT_EQ((torch::ones({2}, torch::kInt) + torch::ones({2}, torch::kLong)).dtype(), torch::kLong);
  EXPECT_EQ((torch::ones({2}, torch::kInt) / 2).dtype(), torch::kFloat);
  EXPECT_EQ((torch::ones({2}, torch::kBool) + true).dtype(), torch::kBool);
  EXPECT_TRUE(torch::allclose(torch::add(a, a, 2), a * 3));
}

TEST(Basics, ReductionsAcceptADimOrAList) {
  const auto a = torch::arange(6, torch::kFloat).reshape({2, 3});
  EXPECT_EQ(a.sum(0).sizes(), torch::IntArrayRef({3}));
  EXPECT_EQ(a.sum({0, 1}).item<float>(), 15);
  EXPECT_EQ(a.mean(-1, /*keepdim=*/true).sizes(), torch::IntArrayRef({2, 1}));
  EXPECT_EQ(a.sum({0}, false, torch::kDouble).dtype(), torch::kDouble);
  EXPECT_EQ(a.sum(torch::kDouble).dtype(), torch::kDouble);
  const auto [values, indices] = a.max(1);
  EXPECT_EQ(values[1].item<float>(), 5);
  EXPECT_EQ(indices[0].item<int64_t>(), 2);
  EXPECT_EQ(std::get<1>(torch::min(a, 0))[2].item<int>(), 0);
}

TEST(Basics, ViewsShareMemory) {
  const auto a = torch::zeros({2, 3, 4});
  a.permute({2, 0, 1})[1].fill_(3);
  a.select(0, 0).narrow(1, 0, 1).add_(1);
  EXPECT_EQ(a.sum().item<float>(), 18 + 3);
  EXPECT_EQ(a.transpose(0, 1).stride(0), 4);
  EXPECT_EQ(a.unsqueeze(0).squeeze().flatten().size(0), 24);
  EXPECT_EQ(a.slice(/*dim=*/2, /*start=*/1, /*end=*/4, /*step=*/2).size(2), 2);
  EXPECT_TRUE(a.is_alias_of(a.view({-1})));
}

TEST(Basics, JoinsAndSplits) {
  const auto a = torch::ones({2, 3}), b = torch::zeros({2, 3});
  EXPECT_EQ(torch::cat({a, b}, 1).sizes(), torch::IntArrayRef({2, 6}));
  EXPECT_EQ(torch::stack({a, b}).dim(), 3);
  const std::vector<torch::Tensor> list = {a, b};
  EXPECT_EQ(torch::cat(list).size(0), 4);
  EXPECT_EQ(a.split(2, 1).size(), 2U);
  EXPECT_EQ(torch::chunk(a, 3, 1)[2].size(1), 1);
}

TEST(Basics, FromBlobUsesTheCallersMemory) {
  float data[] = {1, 2, 3, 4};
  const auto a = torch::from_blob(data, {2, 2});
  a[0][0] = 10;
  EXPECT_EQ(data[0], 10);
  bool freed = false;
  {
    const auto b = torch::from_blob(
        data, {4}, [&](void*) { freed = true; }, torch::TensorOptions().dtype(torch::kInt));
    EXPECT_EQ(b.dtype(), torch::kInt);
  }
  EXPECT_TRUE(freed);
  EXPECT_EQ(a.data_ptr<float>(), data);
  auto access = a.accessor<float, 2>();
  access[1][0] = 30;
  EXPECT_EQ(data[2], 30);
  EXPECT_EQ(access.size(1), 2);
}

TEST(Basics, ConvertsDtypesAndDevices) {
  const auto a = torch::tensor({1.6, -1.6});
  EXPECT_EQ(a.to(torch::kInt)[1].item<int>(), -1);
  EXPECT_EQ(a.to(torch::kCPU, torch::kDouble).dtype(), torch::kDouble);
  EXPECT_EQ(a.to(torch::Device("cpu")).data_ptr(), a.data_ptr());
  EXPECT_EQ(a.to(torch::ones({1}, torch::kLong)).dtype(), torch::kLong);
  EXPECT_EQ(a.toType(torch::kHalf).element_size(), 2);
  EXPECT_EQ(a.clone().cpu().contiguous().is_contiguous(), true);
  EXPECT_NE(a.to(torch::kFloat, /*non_blocking=*/false, /*copy=*/true).data_ptr(), a.data_ptr());
  EXPECT_EQ(torch::Scalar(3).to<int>() + torch::Scalar(2.5).toDouble(), 5.5);
}

TEST(Basics, SeedsGivePyTorchNumbers) {
  torch::manual_seed(0);
  const auto a = torch::rand({3});
  EXPECT_FLOAT_EQ(a[0].item<float>(), 0.4962566F);
  EXPECT_FLOAT_EQ(a[1].item<float>(), 0.7682218F);
  EXPECT_FLOAT_EQ(a[2].item<float>(), 0.0884774F);
}
