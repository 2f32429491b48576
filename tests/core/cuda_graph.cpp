// Graphs of GPU work. A replay must do what the same calls do without a graph.
#include "hearth/cuda_graph.h"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <vector>

#include "hearth/generator.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/support/throws.h"
#include "tests/support/warnings.h"

namespace hearth {
namespace {

using testing::error_of;
using testing::Warnings;

constexpr char kForbidden[] = "operation not permitted when stream is capturing";
constexpr char kFailed[] = "operation failed due to a previous error during capture";

class CudaGraph : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cuda::is_available()) GTEST_SKIP() << "needs a GPU, simulated or real";
  }
  Tensor counter() { return zeros({1}, kCUDA); }
  cuda::Graph graph;
};

TEST_F(CudaGraph, RunsWorkAtReplaysOnly) {
  Tensor count = counter();
  {
    const cuda::GraphGuard guard(graph);
    EXPECT_TRUE(cuda::is_current_stream_capturing());
    count.add_(1);
  }
  EXPECT_FALSE(cuda::is_current_stream_capturing());
  EXPECT_EQ(count.item<float>(), 0);
  for (int i = 0; i < 3; ++i) graph.replay();
  EXPECT_EQ(count.item<float>(), 3);
}

TEST_F(CudaGraph, ReadsNewInputsAndWritesTheSameOutputs) {
  const Tensor x = randn({64, 64}, kCUDA), w = randn({64, 64}, kCUDA);
  Tensor y;
  {
    const cuda::GraphGuard guard(graph);
    y = x.matmul(w).relu().sum(0);
  }
  const void* const address = y.data_ptr();
  for (int i = 0; i < 3; ++i) {
    x.copy_(randn({64, 64}));
    graph.replay();
    EXPECT_TRUE(y.equal(x.matmul(w).relu().sum(0)));
  }
  EXPECT_EQ(y.data_ptr(), address);
}

TEST_F(CudaGraph, ReplaysInOrderWithOtherWorkOfAStream) {
  Tensor count = counter();
  {
    const cuda::GraphGuard guard(graph);
    count.mul_(3);
  }
  const cuda::Stream stream;
  {
    const cuda::StreamGuard guard(stream);
    for (int i = 0; i < 3; ++i) {
      count.add_(1);
      graph.replay();
    }
  }
  stream.synchronize();
  EXPECT_EQ(count.item<float>(), 39);
}

/// What two random operators draw.
std::vector<Tensor> drawn() {
  return {rand({100}, kCUDA), bernoulli(full({100}, 0.5, kCUDA)), randperm(50, kCUDA),
          dropout(ones({100}, kCUDA), 0.5, true)};
}
bool are_equal(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  bool result = true;
  for (size_t i = 0; i < a.size(); ++i) result = result && a[i].equal(b[i]);
  return result;
}

TEST_F(CudaGraph, DrawsTheNumbersOfOrdinaryRuns) {
  cuda::manual_seed(7);
  std::vector<std::vector<Tensor>> expected;
  for (int i = 0; i < 4; ++i) expected.push_back(drawn());
  cuda::manual_seed(7);
  std::vector<Tensor> values;
  {
    const cuda::GraphGuard guard(graph);
    values = drawn();
  }
  for (size_t i = 0; i < 3; ++i) {
    graph.replay();
    EXPECT_TRUE(are_equal(values, expected[i])) << "replay " << i;
  }
  EXPECT_TRUE(are_equal(drawn(), expected[3])) << "after the replays";
  cuda::manual_seed(7);
  graph.replay();
  EXPECT_TRUE(are_equal(values, expected[0])) << "seeded again";
}

TEST_F(CudaGraph, KeepsTheNumbersOfSeveralGeneratorsApart) {
  const Device gpu(DeviceType::CUDA, 0);
  Generator first = make_generator(gpu), second = make_generator(gpu);
  const auto seed = [&] {
    first.set_current_seed(1);
    second.set_current_seed(UINT64_MAX - 5);
  };
  Tensor a = empty({40}, kCUDA), b = empty({40}, kCUDA);
  const auto draw = [&] {
    a.normal_(0, 1, first);
    b.uniform_(0, 1, second);
    a.add_(empty({40}, kCUDA).exponential_(1, first));
  };
  seed();
  draw();
  const Tensor a1 = a.clone(), b1 = b.clone();
  draw();
  const Tensor a2 = a.clone(), b2 = b.clone();
  seed();
  {
    const cuda::GraphGuard guard(graph);
    draw();
  }
  graph.replay();
  EXPECT_TRUE(a.equal(a1) && b.equal(b1));
  graph.replay();
  EXPECT_TRUE(a.equal(a2) && b.equal(b2));
}

TEST_F(CudaGraph, RefusesSeedsAndStatesOfGenerators) {
  Generator generator = make_generator(Device(DeviceType::CUDA, 0));
  const Tensor state = generator.get_state();
  const cuda::GraphGuard guard(graph);
  counter().add_(1);
  EXPECT_ERROR(generator.set_current_seed(1),
               "Cannot call CUDAGeneratorImpl::set_current_seed during CUDA graph capture");
  EXPECT_ERROR(generator.set_state(state), "during CUDA graph capture");
}

TEST_F(CudaGraph, RefusesToWaitForTheDevice) {
  const Tensor x = ones({3}, kCUDA);
  const std::vector<std::function<void()>> calls{
      [&] { x.sum().item<float>(); }, [&] { x.cpu(); },
      [&] { x.nonzero(); },           [&] { tensor({1.0F, 2.0F}, kCUDA); },
      [&] { cuda::synchronize(); },   [&] { cuda::current_stream().synchronize(); },
      [&] { cuda::empty_cache(); },
  };
  for (size_t i = 0; i < calls.size(); ++i) {
    cuda::Graph failing;
    const cuda::Stream stream;
    const cuda::StreamGuard guard(stream);
    failing.capture_begin();
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, i);
    EXPECT_ERROR(calls[i](), kForbidden);
    if (i + 1 < calls.size()) EXPECT_ERROR(failing.capture_end(), kFailed);
  }
  EXPECT_EQ(x.sum().item<float>(), 3) << "the device works afterwards";
}

TEST_F(CudaGraph, StatesItsErrors) {
  EXPECT_EQ(error_of([&] { graph.capture_begin(); }),
            "CUDA graphs must be captured on a non-default stream. (However, after capture, it's "
            "ok to replay them on the default stream.)");
  EXPECT_EQ(error_of([&] { graph.replay(); }),
            "Called CUDAGraph::replay without a preceding successful capture.");
  EXPECT_EQ(error_of([&] { graph.pool(); }),
            "Called CUDAGraph::pool() without a preceding successful capture.");
  EXPECT_THROW(graph.capture_end(), Error);
  Tensor count = counter();
  {
    const cuda::GraphGuard guard(graph);
    count.add_(1);
    cuda::Graph other;
    EXPECT_THROW(other.capture_begin(), NotImplementedError) << "one at a time";
    const cuda::StreamGuard elsewhere{cuda::Stream()};
    EXPECT_EQ(error_of([&] { graph.capture_end(); }),
              "Capture must end on the same stream it began on.");
  }
  EXPECT_EQ(error_of([&] { const cuda::GraphGuard again(graph); }),
            "This CUDAGraph instance already owns a captured graph. To capture a new graph, create "
            "a new instance.");
  cuda::Graph outer;
  {
    const cuda::GraphGuard guard(outer);
    count.add_(1);
    EXPECT_ERROR(graph.replay(), kForbidden);
  }
  graph.replay();
  EXPECT_EQ(count.item<float>(), 1);
}

TEST_F(CudaGraph, WarnsIfItIsEmpty) {
  const Warnings warnings;
  { const cuda::GraphGuard guard(graph); }
  EXPECT_TRUE(Warnings::contains("The CUDA Graph is empty.")) << "PyTorch's text";
}

TEST_F(CudaGraph, IsDroppedByAnException) {
  const cuda::Stream before = cuda::current_stream();
  const auto fail = [&] {
    const cuda::GraphGuard guard(graph);
    ones({3}, kCUDA).add_(1);
    throw std::runtime_error("my error");
  };
  EXPECT_EQ(error_of(fail), "my error");
  EXPECT_EQ(cuda::current_stream(), before);
  EXPECT_THROW(graph.replay(), Error);
  Tensor count = counter();
  {
    const cuda::GraphGuard guard(graph);
    count.add_(1);
  }
  graph.replay();
  EXPECT_EQ(count.item<float>(), 1) << "the graph can be captured again";
}

TEST_F(CudaGraph, KeepsItsMemoryUntilItIsReset) {
  cuda::empty_cache();
  const size_t reserved = cuda::memory_reserved();
  const Tensor x = ones({1 << 20}, kCUDA);
  Tensor y;
  {
    const cuda::GraphGuard guard(graph);
    y = (x + 1) * 2 - (x + 3);  // the temporaries are free again
  }
  std::vector<Tensor> others;
  for (int i = 0; i < 8; ++i) others.push_back(zeros({1 << 20}, kCUDA));
  graph.replay();
  EXPECT_TRUE(y.eq(0).all().item<bool>());
  for (const Tensor& other : others)
    EXPECT_TRUE(other.eq(0).all().item<bool>()) << "not the memory of the graph's temporaries";
  y.reset();
  others.clear();
  cuda::empty_cache();
  EXPECT_GT(cuda::memory_reserved(), reserved + (size_t{8} << 20)) << "x and the graph's memory";
  graph.reset();
  cuda::empty_cache();
  EXPECT_LE(cuda::memory_reserved(), reserved + (size_t{22} << 20)) << "x only";
}

TEST_F(CudaGraph, SharesAPoolWithAnotherGraph) {
  cuda::Graph second;
  const cuda::Stream stream;
  Tensor a, b;
  {
    const cuda::GraphGuard guard(graph, cuda::graph_pool_handle(), stream);
    a = full({1 << 20}, 2, kCUDA) * 3;
  }
  cuda::empty_cache();
  const size_t reserved = cuda::memory_reserved();
  {
    const cuda::GraphGuard guard(second, graph.pool(), stream);
    b = a + 1;
  }
  EXPECT_EQ(second.pool(), graph.pool());
  graph.replay();
  second.replay();
  EXPECT_EQ(b.max().item<float>(), 7);
  graph.reset();
  second.replay();
  EXPECT_EQ(b.min().item<float>(), 7) << "the pool lives as long as one of its graphs";
  EXPECT_LT(cuda::memory_reserved(), reserved + (size_t{20} << 20)) << "no second segment for b";
}

TEST_F(CudaGraph, IncludesStreamsThatWaitForItsEvents) {
  Tensor a = counter(), b = counter();
  const cuda::Stream side;
  {
    const cuda::GraphGuard guard(graph);
    const cuda::Stream main = cuda::current_stream();
    a.add_(1);
    side.wait_stream(main);
    {
      const cuda::StreamGuard other(side);
      b.add_(a);
    }
    a.mul_(1);
    main.wait_stream(side);
    a.add_(b);
  }
  graph.replay();
  graph.replay();
  EXPECT_EQ(a.item<float>(), 7);  // a: 1, b: 1, a: 2; a: 3, b: 4, a: 7
}

TEST_F(CudaGraph, RefusesIncompleteOrders) {
  Tensor a = counter(), b = counter();
  const cuda::Stream main, side, outside;
  cuda::synchronize();
  const cuda::StreamGuard current(main);
  graph.capture_begin();
  a.add_(1);
  side.wait_stream(main);
  {
    const cuda::StreamGuard other(side);
    b.add_(1);
  }
  EXPECT_ERROR(graph.capture_end(), "capturing stream has unjoined work");
  graph.capture_begin();
  EXPECT_ERROR(main.wait_stream(outside),
               "dependency created on uncaptured work in another stream");
  EXPECT_ERROR(graph.capture_end(), kFailed);
  graph.capture_begin();
  EXPECT_THROW(cuda::default_stream().wait_stream(main), Error);
  graph.reset();
  b.add_(1);
  EXPECT_EQ(b.item<float>(), 1) << "the side stream takes part in no capture any more";
}

TEST_F(CudaGraph, ReportsFaultsOfReplays) {
  const Tensor table = randn({4, 2}, kCUDA), index = zeros({1}, dtype(kLong).device(kCUDA));
  Tensor row;
  {
    const cuda::GraphGuard guard(graph);
    row = table.index_select(0, index);
  }
  graph.replay();
  EXPECT_TRUE(row.equal(table.narrow(0, 0, 1)));
  index.fill_(9);
  graph.replay();
  EXPECT_ERROR(cuda::current_stream().synchronize(), "index");
  index.fill_(3);
  graph.replay();
  EXPECT_TRUE(row.equal(table.narrow(0, 3, 1)));
}

TEST_F(CudaGraph, CopiesFromPinnedMemoryAtEachReplay) {
  Tensor host = zeros({4}).pin_memory(), on_gpu;
  {
    const cuda::GraphGuard guard(graph);
    on_gpu = host.to(kCUDA, /*non_blocking=*/true);
  }
  host.fill_(5);
  graph.replay();
  EXPECT_EQ(on_gpu.sum().item<float>(), 20);
  void* const address = host.data_ptr();
  host.reset();
  EXPECT_NE(zeros({4}).pin_memory().data_ptr(), address) << "replays read the memory";
}

}  // namespace
}  // namespace hearth
