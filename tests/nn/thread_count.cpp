#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <vector>

#include "hearth/hearth.h"

namespace hearth {
namespace {

/// The tutorials' network with additional batch normalization and dropout.
struct NetworkImpl : nn::Module {
  NetworkImpl() {
    register_module("conv1", conv1);
    register_module("norm", norm);
    register_module("conv2", conv2);
    register_module("fc1", fc1);
    register_module("fc2", fc2);
    register_module("out", out);
  }
  Tensor forward(const Tensor& images) {
    Tensor x = max_pool2d(relu(norm(conv1(images))), 2, 2);
    x = max_pool2d(relu(conv2(x)), 2, 2);
    x = dropout(relu(fc1(x.flatten(1))), 0.2, is_training());
    return out(relu(fc2(x)));
  }
  nn::Conv2d conv1{nn::Conv2dOptions(1, 6, 5)};
  nn::BatchNorm2d norm{6};
  nn::Conv2d conv2{nn::Conv2dOptions(6, 12, 5)};
  nn::Linear fc1{192, 120}, fc2{120, 60}, out{60, 10};
};
HEARTH_MODULE(Network);

std::vector<Tensor> trained_network() {
  manual_seed(11);
  Network network;
  optim::Adam optimizer(network->parameters(), optim::AdamOptions(0.01));
  for (int step = 0; step < 4; ++step) {
    const Tensor images = randn({200, 1, 28, 28}), labels = randint(10, {200}, kLong);
    optimizer.zero_grad();
    Tensor loss = cross_entropy_loss(network(images), labels);
    loss.backward();
    optimizer.step();
  }
  std::vector<Tensor> result = network->parameters();
  for (const Tensor& buffer : network->buffers()) result.push_back(buffer);
  return result;
}

/// The value of f and its gradients with respect to the inputs.
std::vector<Tensor> with_gradients(const std::function<Tensor(std::vector<Tensor>&)>& f,
                                   std::vector<Tensor> inputs) {
  for (Tensor& input : inputs) input.requires_grad_();
  Tensor value = f(inputs);
  value.backward(randn_like(value));
  std::vector<Tensor> result{value};
  for (Tensor& input : inputs) result.push_back(input.grad());
  return result;
}

bool same_bytes(const Tensor& a, const Tensor& b) {
  const Tensor x = a.detach().contiguous(), y = b.detach().contiguous();
  return x.sizes() == y.sizes() &&
         std::memcmp(x.data_ptr(), y.data_ptr(), static_cast<size_t>(x.nbytes())) == 0;
}

/// Expects the same results, bit for bit, with one and with several threads.
void expect_same_bits(const std::function<std::vector<Tensor>()>& compute) {
  const int former = get_num_threads();
  set_num_threads(1);
  const std::vector<Tensor> expected = compute();
  for (const int threads : {2, 7}) {
    set_num_threads(threads);
    const std::vector<Tensor> found = compute();
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i)
      EXPECT_TRUE(same_bytes(found[i], expected[i]))
          << "tensor " << i << ", " << threads << " threads";
  }
  set_num_threads(former);
}

TEST(ThreadCount, DoesNotChangeATrainedNetwork) { expect_same_bits(trained_network); }

TEST(ThreadCount, DoesNotChangeProducts) {
  struct Shape {
    int64_t m, k, n;
  };
  for (const auto [m, k, n] :
       {Shape{300, 500, 200}, {16, 100'000, 24}, {1, 3000, 3000}, {2000, 700, 1}})
    for (const ScalarType dtype : {kFloat, kDouble, kBFloat16})
      expect_same_bits([&, m = m, k = k, n = n] {
        manual_seed(3);
        return with_gradients([](auto& x) { return x[0].mm(x[1]); },
                              {randn({m, k}, dtype), randn({k, n}, dtype)});
      });
  expect_same_bits([] {
    manual_seed(3);
    return with_gradients([](auto& x) { return x[0].bmm(x[1]); },
                          {randn({24, 60, 50}), randn({24, 50, 70})});
  });
}

TEST(ThreadCount, DoesNotChangeConvolutions) {
  struct Shape {
    int64_t batch_size, in_channels, size, out_channels, kernel, groups;
  };
  for (const auto s : {Shape{33, 16, 20, 24, 3, 1},
                       {1, 32, 40, 72, 3, 1},
                       {1, 48, 40, 48, 3, 16},
                       {3, 64, 17, 64, 1, 4},
                       {128, 3, 32, 8, 5, 1}})
    for (const bool channels_last : {false, true})
      expect_same_bits([&] {
        manual_seed(5);
        Tensor in = randn({s.batch_size, s.in_channels, s.size, s.size});
        if (channels_last) in = in.contiguous(MemoryFormat::ChannelsLast);
        return with_gradients(
            [&](auto& x) { return conv2d(x[0], x[1], x[2], 1, 1, 1, s.groups); },
            {in, randn({s.out_channels, s.in_channels / s.groups, s.kernel, s.kernel}),
             randn({s.out_channels})});
      });
}

TEST(ThreadCount, DoesNotChangeReductionsAndNorms) {
  expect_same_bits([] {
    manual_seed(7);
    const Tensor x = randn({300, 4000});
    return std::vector<Tensor>{x.sum(),      x.sum(0),  x.std(1),       x.cumsum(1),
                               x.softmax(1), x.norm(2), x.logsumexp(1), layer_norm(x, {4000}),
                               x.argmax(0)};
  });
  expect_same_bits([] {
    manual_seed(7);
    return with_gradients([](auto& x) { return layer_norm(x[0], {400}, x[1], x[2]); },
                          {randn({3000, 400}), randn({400}), randn({400})});
  });
}

TEST(ThreadCount, DoesNotChangeIndexedWrites) {
  expect_same_bits([] {
    manual_seed(9);
    const Tensor index = randint(50, {200'000}, kLong), values = randn({200'000});
    const Tensor indices = randint(50, {4000, 30}, kLong), rows = randn({4000, 30});
    return std::vector<Tensor>{zeros({50}).scatter_add(0, index, values),
                               zeros({50, 30}).scatter_add(0, indices, rows),
                               zeros({50}).index_put_({index}, values, true)};
  });
}

}  // namespace
}  // namespace hearth
