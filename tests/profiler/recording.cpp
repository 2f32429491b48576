// Recordings of profiles: ops, nested ranges, backward, modules, threads, FLOPs, memory.
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <optional>
#include <thread>
#include <tuple>

#include "hearth/hearth.h"
#include "hearth/profiler.h"
#include "tests/support/devices.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

using profiler::FunctionEvent;
using profiler::profile;
using profiler::ProfileOptions;
using profiler::record_function;
using Clock = std::chrono::steady_clock;

void spin(std::chrono::microseconds time) {
  for (const auto start = Clock::now(); Clock::now() - start < time;) {
  }
}

const FunctionEvent& find(const profile& recorded, const std::string& name) {
  for (const FunctionEvent& event : recorded.events())
    if (event.name == name) return event;
  throw std::runtime_error("no event " + name);
}

std::string parent_of(const profile& recorded, const std::string& name) {
  const int64_t parent = find(recorded, name).parent;
  return parent == FunctionEvent::kNone ? "" : recorded.events()[size_t(parent)].name;
}

/// The program from which PyTorch's profiler made the expected numbers.
void known_program() {
  const Tensor x = ones({4, 3}), w = ones({3, 5}).requires_grad_();
  Tensor z;
  {
    const record_function range("block");
    const Tensor y = x.matmul(w);
    z = (y * y).sum();
  }
  z.backward();
}

TEST(Profile, CountsTheCallsAndFlopsOfPyTorch) {
  profile recorded(ProfileOptions().with_flops(true));
  known_program();
  recorded.stop();
  const auto rows = recorded.key_averages();
  EXPECT_EQ(rows.at("aten::mm").count, 2);
  EXPECT_EQ(rows.at("aten::mm").flops, 240);
  EXPECT_EQ(rows.at("aten::mul").count, 1);  // backward calls another op
  EXPECT_EQ(rows.at("aten::mul").flops, 20);
  EXPECT_EQ(rows.at("aten::matmul").flops, 0);  // the FLOPs are counted for mm
  for (const char* name : {"block", "aten::matmul", "aten::sum", "SumBackward0", "MulBackward0",
                           "MmBackward0", "torch::autograd::AccumulateGrad"})
    EXPECT_EQ(rows.at(name).count, 1) << name;
  EXPECT_ERROR(rows.at("aten::nothing"), "the profile has no event 'aten::nothing'");
}

TEST(Profile, CountsFlopsOfConvolutionsAndProducts) {
  profile recorded(ProfileOptions().with_flops(true));
  conv2d(ones({2, 3, 8, 8}), ones({4, 3, 3, 3}));
  bmm(ones({2, 3, 4}), ones({2, 4, 5}));
  addmm(ones({5}), ones({3, 4}), ones({4, 5}));
  recorded.stop();
  const auto rows = recorded.key_averages();
  EXPECT_EQ(rows.at("aten::convolution").flops, 15552);  // PyTorch's number
  EXPECT_EQ(rows.at("aten::bmm").flops, 240);
  EXPECT_EQ(rows.at("aten::addmm").flops, 120);
}

TEST(Profile, CountsEachGradientOfAConvolution) {
  const Tensor x = ones({2, 3, 8, 8}).requires_grad_(), w = ones({4, 3, 3, 3}).requires_grad_();
  profile recorded(ProfileOptions().with_flops(true));
  conv2d(x, w).sum().backward();
  recorded.stop();
  EXPECT_EQ(recorded.key_averages().at("aten::convolution_backward").flops, 2 * 15552);
}

/// The operations of the backward op of attention, with the gradients of some of its inputs.
int64_t flops_of_attention_backward(bool query, bool key, bool value) {
  const Tensor q = ones({2, 3, 4, 8}).requires_grad_(query);
  const Tensor k = ones({2, 3, 5, 8}).requires_grad_(key);
  const Tensor v = ones({2, 3, 5, 6}).requires_grad_(value);
  profile recorded(ProfileOptions().with_flops(true));
  scaled_dot_product_attention(q, k, v).sum().backward();
  recorded.stop();
  const auto rows = recorded.key_averages();
  EXPECT_EQ(rows.at("aten::scaled_dot_product_attention").flops, 2 * 120 * (8 + 6));
  return rows.at("aten::_scaled_dot_product_attention_backward").flops;
}

TEST(Profile, CountsTheProductsOfAttentionsBackward) {
  constexpr int64_t kScores = 2 * 3 * 4 * 5;
  EXPECT_EQ(flops_of_attention_backward(true, true, true), 2 * kScores * (3 * 8 + 2 * 6));
  EXPECT_EQ(flops_of_attention_backward(true, false, false), 2 * kScores * (2 * 8 + 6));
  EXPECT_EQ(flops_of_attention_backward(false, false, true), 2 * kScores * (8 + 6));
}

TEST(Profile, CountsTheProductsOfRecurrentLayersBackward) {
  constexpr int64_t kPositions = 4, kOfInput = 12 * 2, kOfState = 12 * 2, kProjection = 2 * 3;
  nn::LSTM net(nn::LSTMOptions(2, 3).proj_size(2));
  for (const bool needs_input : {false, true}) {
    const Tensor x = ones({kPositions, 1, 2}).requires_grad_(needs_input);
    profile recorded(ProfileOptions().with_flops(true));
    std::get<0>(net(x)).sum().backward();
    recorded.stop();
    const auto rows = recorded.key_averages();
    const int64_t forward = 2 * kPositions * (kOfInput + kOfState + kProjection);
    EXPECT_EQ(rows.at("aten::lstm").flops, forward);
    EXPECT_EQ(rows.at("aten::_recurrent_layer_backward").flops,
              2 * forward - (needs_input ? 0 : 2 * kPositions * kOfInput));
  }
}

TEST(Profile, KnowsParentsAndSelfTimes) {
  profile recorded;
  {
    const record_function outer("outer");
    spin(std::chrono::milliseconds(4));
    {
      const record_function inner("inner");
      spin(std::chrono::milliseconds(6));
      ones({2}).add_(1);
    }
  }
  recorded.stop();
  EXPECT_EQ(parent_of(recorded, "inner"), "outer");
  EXPECT_EQ(parent_of(recorded, "outer"), "");
  EXPECT_EQ(parent_of(recorded, "aten::add_"), "inner");
  const FunctionEvent &outer = find(recorded, "outer"), &inner = find(recorded, "inner");
  EXPECT_EQ(outer.self_ns, outer.duration_ns - inner.duration_ns);
  EXPECT_GE(outer.self_ns, 4'000'000);
  EXPECT_GE(inner.duration_ns, 6'000'000);
}

TEST(Profile, AgreesWithAStopwatch) {
  const Tensor a = randn({160, 160});
  a.mm(a);
  double stopwatch = 0;
  profile recorded;
  for (int i = 0; i < 60; ++i) {
    const auto start = Clock::now();
    a.mm(a);
    stopwatch += std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  }
  recorded.stop();
  const auto rows = recorded.key_averages();
  const auto& mm = rows.at("aten::mm");
  EXPECT_EQ(mm.count, 60);
  EXPECT_DOUBLE_EQ(mm.cpu_time(), mm.cpu_time_total / 60);
  EXPECT_NEAR(mm.cpu_time_total, stopwatch, 0.02 * stopwatch);
  EXPECT_NEAR(rows.self_cpu_time_total(), stopwatch, 0.02 * stopwatch);
}

TEST(Profile, LinksBackwardNodesToForwardOps) {
  profile recorded;
  const Tensor x = ones({3}).requires_grad_();
  const Tensor y = x * 2;
  (y * y).sum().backward();
  recorded.stop();
  std::vector<std::string> links;
  for (const FunctionEvent& event : recorded.events())
    if (event.forward != FunctionEvent::kNone) {
      const FunctionEvent& forward = recorded.events()[size_t(event.forward)];
      links.push_back(event.name + " of " + forward.name);
      EXPECT_EQ(event.sequence_nr, forward.sequence_nr);
      EXPECT_LT(forward.start_ns, event.start_ns);
    }
  const std::vector<std::string> expected{"SumBackward0 of aten::sum", "MulBackward0 of aten::mul",
                                          "MulBackward1 of aten::mul"};
  EXPECT_EQ(links, expected);
}

TEST(Profile, NamesModulesOnRequest) {
  nn::Sequential net(nn::Linear(3, 4), nn::ReLU());
  for (const bool with_modules : {false, true}) {
    profile recorded(ProfileOptions().with_modules(with_modules));
    net->forward(ones({2, 3})).sum().backward();
    recorded.stop();
    size_t modules = 0;
    for (const FunctionEvent& event : recorded.events())
      modules += event.kind == FunctionEvent::Kind::Module;
    EXPECT_EQ(modules > 0, with_modules);
    if (!with_modules) {
      EXPECT_ERROR(recorded.module_averages(),
                   "module_averages() needs ProfileOptions().with_modules(true)");
      continue;
    }
    EXPECT_EQ(parent_of(recorded, "aten::linear"), "nn.Module: 0");
    const auto rows = recorded.module_averages();
    double sum = 0;
    for (const auto& row : rows) sum += row.self_cpu_time_total;
    EXPECT_NEAR(sum, recorded.key_averages().self_cpu_time_total(), 1e-3 * sum);
    EXPECT_EQ(rows.at("0").count, 1);
    EXPECT_GT(rows.at("1").self_cpu_time_total, 0);
  }
}

/// A module that calls its submodule twice.
struct OuterImpl : nn::Module {
  OuterImpl() : layer(register_module("layer", nn::Linear(128, 128))) {}
  Tensor forward(const Tensor& x) { return layer(layer(x)).exp(); }
  nn::Linear layer;
};
HEARTH_MODULE(Outer);

TEST(Profile, TotalsOfModulesIncludeTheirSubmodules) {
  Outer net;
  profile recorded(ProfileOptions().with_modules(true));
  {
    const record_function range("step");
    net(ones({64, 128})).sum().backward();
  }
  recorded.stop();
  profiler::FunctionEventAvg inner, outer, none;
  double self = 0;
  for (const auto& row : recorded.module_averages()) {
    (row.key == "layer" ? inner : row.key == "(no module)" ? none : outer) = row;
    self += row.self_cpu_time_total;
  }
  EXPECT_EQ(inner.count, 2);
  EXPECT_EQ(outer.count, 1);
  EXPECT_EQ(none.count, 1);
  // Forward and backward.
  EXPECT_NEAR(inner.cpu_time_total, inner.self_cpu_time_total, 1);
  EXPECT_NEAR(outer.cpu_time_total, outer.self_cpu_time_total + inner.self_cpu_time_total, 1);
  EXPECT_NEAR(none.cpu_time_total, find(recorded, "step").duration_ns * 1e-3, 1);
  EXPECT_NEAR(self, recorded.key_averages().self_cpu_time_total(), 1e-3 * self);
}

TEST(Profile, MayStartInAHookOfATensor) {
  const Tensor x = ones({3}).requires_grad_(), y = x * 2;
  std::optional<profile> recorded;
  y.register_hook([&](const Tensor&) { recorded.emplace(); });
  (y * y).sum().backward();
  EXPECT_TRUE(profiler::is_observed());
  x.exp();
  recorded->stop();
  EXPECT_FALSE(profiler::is_observed());
  const auto rows = recorded->key_averages();
  EXPECT_EQ(rows.at("aten::exp").count, 1);
  EXPECT_EQ(rows.at("torch::autograd::AccumulateGrad").count, 1);  // the rest of the backward pass
}

TEST(Profile, MayStopInAHookOfATensor) {
  const Tensor x = ones({3}).requires_grad_(), y = x * 2;
  profile recorded;
  y.register_hook([&](const Tensor&) { recorded.stop(); });
  (y * y).sum().backward();
  EXPECT_FALSE(profiler::is_observed());
  x.exp();
  const auto rows = recorded.key_averages();
  EXPECT_EQ(rows.at("SumBackward0").count, 1);
  EXPECT_ERROR(rows.at("torch::autograd::AccumulateGrad"),
               "the profile has no event 'torch::autograd::AccumulateGrad'");
  EXPECT_ERROR(rows.at("aten::exp"), "the profile has no event 'aten::exp'");
}

TEST(Profile, RecordsThreadsThatTakeOverModes) {
  const Tensor x = ones({2});
  profile recorded;
  const ThreadLocalState state;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&state, &x] {
      const ThreadLocalStateGuard guard(state);
      const record_function range("work");
      for (int k = 0; k < 2000; ++k) x.mul(x);
    });
  for (std::thread& thread : threads) thread.join();
  x.mul(x);
  recorded.stop();
  std::map<int64_t, int> products;
  for (const FunctionEvent& event : recorded.events())
    if (event.name == "aten::mul") ++products[event.thread];
  EXPECT_EQ(products.size(), 4u);
  for (const auto& [thread, count] : products) EXPECT_TRUE(count == 2000 || count == 1) << count;
  EXPECT_EQ(recorded.key_averages().at("work").count, 3);
}

TEST(Profile, RecordsOptimizersAndLoaders) {
  for (const size_t workers : {0, 2}) {
    auto loader = data::make_data_loader<data::samplers::SequentialSampler>(
        data::datasets::TensorDataset(ones({8, 2}))
            .map(data::transforms::Stack<data::TensorExample>()),
        data::DataLoaderOptions(4).workers(workers));
    const Tensor w = ones({2}).requires_grad_();
    optim::SGD optimizer({w}, 0.1);
    profile recorded;
    for (const auto& batch : *loader) {
      optimizer.zero_grad();
      batch.data.matmul(w).sum().backward();
      optimizer.step();
    }
    recorded.stop();
    const auto rows = recorded.key_averages();
    EXPECT_EQ(rows.at("Optimizer.step#SGD.step").count, 2);
    EXPECT_GE(
        rows.at(workers == 0 ? "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
                             : "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__")
            .count,
        2);
  }
}

TEST(Profile, MeasuresMemory) {
  profile recorded(ProfileOptions().profile_memory(true));
  Tensor kept;
  {
    const record_function range("allocate");
    kept = empty({256}) + 1;  // the first tensor is freed
  }
  recorded.stop();
  EXPECT_EQ(find(recorded, "allocate").cpu_memory, 1024);
  EXPECT_EQ(find(recorded, "aten::add").cpu_memory, 1024);
}

TEST(Profile, RecordsShapes) {
  profile recorded(ProfileOptions().record_shapes(true));
  ones({2, 3}).mm(ones({3, 4}));
  ones({3, 3}).mm(ones({3, 4}));
  recorded.stop();
  EXPECT_EQ(find(recorded, "aten::mm").input_shapes, (profiler::Shapes{{2, 3}, {3, 4}}));
  size_t rows = 0;
  for (const auto& row : recorded.key_averages(true)) rows += row.key == "aten::mm";
  EXPECT_EQ(rows, 2u);
}

TEST(Profile, RangesNeedNotBeNested) {
  profile recorded;
  std::optional<record_function> first, second;
  const auto start = Clock::now();
  first.emplace("first");
  spin(std::chrono::microseconds(2000));
  second.emplace("second");
  first.reset();
  const std::chrono::nanoseconds time_of_first = Clock::now() - start;
  spin(std::chrono::microseconds(5000));
  second.reset();
  recorded.stop();
  EXPECT_GE(find(recorded, "second").duration_ns, 5'000'000);
  EXPECT_LE(find(recorded, "first").duration_ns, time_of_first.count() + 10'000);
  EXPECT_GE(find(recorded, "first").self_ns, 2'000'000);
}

TEST(Profile, OnTraceReadyMayStopTheProfile) {
  int calls = 0;
  {
    profile recorded(ProfileOptions()
                         .schedule(profiler::schedule(profiler::ScheduleOptions().active(1)))
                         .on_trace_ready([&calls](profile& ready) {
                           ++calls;
                           ready.stop();
                         }));
    recorded.step();
    EXPECT_ERROR(recorded.step(), "after stop()");
  }
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(profiler::is_observed());
  EXPECT_NO_THROW(profile());
}

TEST(Profile, RefusesASecondProfileAndEndsInItsDestructor) {
  {
    const profile first;
    EXPECT_ERROR(profile(), "Profiler is already enabled");
    EXPECT_TRUE(profiler::is_observed());
    EXPECT_ERROR(first.events(), "the profile is running: call stop() before reading it");
  }
  EXPECT_FALSE(profiler::is_observed());
  profile second;
  second.stop();
  EXPECT_TRUE(second.events().empty());
  EXPECT_ERROR(second.step(), "profile::step() after stop(): call start() first");
}

TEST(Profile, RecordsTheWorkOfGpus) {
  if (!cuda::is_available()) GTEST_SKIP() << "needs a GPU, real or simulated";
  profile recorded;
  const Tensor a = randn({8, 8}).to(last_gpu());
  a.mm(a).cpu();
  recorded.stop();
  const FunctionEvent *kernel = nullptr, *to_gpu = nullptr, *to_host = nullptr;
  for (const FunctionEvent& event : recorded.events()) {
    if (event.kind == FunctionEvent::Kind::Kernel) kernel = &event;
    if (event.name.starts_with("Memcpy HtoD")) to_gpu = &event;
    if (event.name.starts_with("Memcpy DtoH")) to_host = &event;
  }
  ASSERT_TRUE(kernel && to_gpu && to_host);
  EXPECT_EQ(kernel->device, last_gpu().index());
  EXPECT_EQ(recorded.events()[size_t(kernel->launched_by)].name, "aten::mm");
  EXPECT_LE(to_gpu->start_ns, kernel->start_ns);
  EXPECT_LE(kernel->start_ns, to_host->start_ns);
  EXPECT_GT(recorded.key_averages().at("aten::mm").self_device_time_total, 0);
  EXPECT_NE(recorded.key_averages().table().find("Self CUDA time total: "), std::string::npos);
}

TEST(Profile, LeavesTheErrorOfAKernelToTheProgram) {
  if (!cuda::is_available()) GTEST_SKIP() << "needs a GPU, real or simulated";
  profile recorded;
  const Tensor table = randn({4, 2}).to(last_gpu());
  const Tensor row = table.index_select(0, tensor({9}).to(last_gpu()));
  recorded.stop();
  EXPECT_EQ(find(recorded, "aten::index_select").kind, FunctionEvent::Kind::Op);
  EXPECT_FALSE(profiler::is_observed());
  EXPECT_ERROR(cuda::synchronize(last_gpu().index()), "index");
}

}  // namespace
}  // namespace hearth::testing
