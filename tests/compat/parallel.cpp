// torch::nn::parallel on the CPU, which LibTorch's CUDA build can also run without a GPU.
#include <gtest/gtest.h>
#include <torch/nn/parallel/data_parallel.h>
#include <torch/torch.h>

#include <stdexcept>

namespace {

const std::vector<torch::Device> kTwoCpus(2, torch::Device(torch::kCPU));

struct AtMostTwoRowsImpl : torch::nn::Cloneable<AtMostTwoRowsImpl> {
  AtMostTwoRowsImpl() { reset(); }
  void reset() override { layer = register_module("layer", torch::nn::Linear(3, 2)); }
  torch::Tensor forward(torch::Tensor x) {
    if (x.size(0) > 2) throw std::runtime_error("too many rows");
    return layer(x);
  }
  torch::nn::Linear layer{nullptr};
};
TORCH_MODULE(AtMostTwoRows);

TEST(Parallel, ReplicasPassGradientsOn) {
  torch::nn::Linear layer(3, 2);
  std::vector<torch::nn::ModuleHolder<torch::nn::LinearImpl>> replicas =
      torch::nn::parallel::replicate(layer, kTwoCpus);
  ASSERT_EQ(replicas.size(), 2u);
  EXPECT_NE(replicas[0].get(), layer.get());
  EXPECT_TRUE(replicas[1]->weight.equal(layer->weight));
  EXPECT_FALSE(replicas[1]->weight.is_leaf());
  (replicas[0]->weight.sum() + 2 * replicas[1]->weight.sum()).backward();
  EXPECT_TRUE(layer->weight.grad().equal(torch::full({2, 3}, 3.0)));
  EXPECT_FALSE(layer->bias.grad().defined());
}

TEST(Parallel, AppliesModulesInParallel) {
  const auto net = std::make_shared<AtMostTwoRowsImpl>();
  std::vector<std::shared_ptr<AtMostTwoRowsImpl>> replicas =
      torch::nn::parallel::replicate(net, kTwoCpus);
  const std::vector<torch::Tensor> inputs{torch::ones({1, 3}), torch::ones({2, 3})};
  const std::vector<torch::Tensor> outputs =
      torch::nn::parallel::parallel_apply(replicas, inputs, kTwoCpus);
  EXPECT_TRUE(outputs[1].allclose(net->layer(inputs[1])));
  (outputs[0].sum() + outputs[1].sum()).backward();
  EXPECT_TRUE(net->layer->weight.grad().equal(torch::full({2, 3}, 3.0)));
  EXPECT_THROW(torch::nn::parallel::parallel_apply(replicas, {inputs[0], torch::ones({3, 3})}),
               std::runtime_error);
  try {
    torch::nn::parallel::parallel_apply(replicas, {inputs[0]});
    FAIL();
  } catch (const c10::Error& error) {
    EXPECT_STREQ(error.what_without_backtrace(), "Must have as many inputs as modules");
  }
}

TEST(Parallel, OneDeviceIsAPlainCall) {
  AtMostTwoRows net;
  const torch::Tensor x = torch::rand({2, 3});
  const torch::Tensor y = torch::nn::parallel::data_parallel(
      net, x, std::vector<torch::Device>{torch::kCPU}, torch::Device(torch::kCPU));
  EXPECT_TRUE(y.equal(net(x)));
}

}  // namespace
