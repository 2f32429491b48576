// Pipelines: schedules, skip tensors; values and gradients must equal, bit for bit, those of the
// same micro-batches without a pipeline.
#include "hearth/nn/pipeline.h"

#include <sstream>

#include "hearth/hearth.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

using nn::PipelineSchedule;

std::string actions_text(PipelineSchedule schedule, int64_t stage, int64_t stages, int64_t chunks) {
  std::string text;
  for (const nn::PipelineAction& action : nn::pipeline_actions(schedule, stage, stages, chunks))
    text += (action.is_backward ? " B" : " F") + std::to_string(action.chunk);
  return text.substr(1);
}

TEST(PipelineSchedules, OrderOfEachStage) {
  EXPECT_EQ(actions_text(PipelineSchedule::GPipe, 0, 2, 3), "F0 F1 F2 B0 B1 B2");
  EXPECT_EQ(actions_text(PipelineSchedule::OneFOneB, 2, 3, 3), "F0 B0 F1 B1 F2 B2");
  EXPECT_EQ(actions_text(PipelineSchedule::OneFOneB, 0, 3, 4), "F0 F1 F2 B0 F3 B1 B2 B3");
  EXPECT_EQ(actions_text(PipelineSchedule::OneFOneB, 0, 4, 2), "F0 F1 B0 B1");
  EXPECT_ERROR(nn::pipeline_actions(PipelineSchedule::GPipe, 2, 2, 1), "no stage 2");
}

/// The fraction of time that a stage waits if each forward takes one unit and each backward two.
double bubble(PipelineSchedule schedule, int64_t stages, int64_t chunks) {
  const auto p = static_cast<size_t>(stages), m = static_cast<size_t>(chunks);
  std::vector<std::vector<nn::PipelineAction>> actions;
  for (int64_t s = 0; s < stages; ++s)
    actions.push_back(nn::pipeline_actions(schedule, s, stages, chunks));
  // The times at which actions end; -1 before they are known.
  std::vector<std::vector<double>> forward(p, std::vector<double>(m, -1)), backward = forward;
  std::vector<double> time(p, 0);
  std::vector<size_t> next(p, 0);
  for (bool has_moved = true; has_moved;) {
    has_moved = false;
    for (size_t s = 0; s < p; ++s) {
      if (next[s] == actions[s].size()) continue;
      const auto [is_backward, chunk] = actions[s][next[s]];
      const auto c = static_cast<size_t>(chunk);
      const double ready = !is_backward ? (s == 0 ? 0 : forward[s - 1][c])
                                        : (s + 1 == p ? forward[s][c] : backward[s + 1][c]);
      if (ready < 0) continue;
      time[s] = std::max(time[s], ready) + (is_backward ? 2 : 1);
      (is_backward ? backward : forward)[s][c] = time[s];
      ++next[s], has_moved = true;
    }
  }
  const double total = *std::max_element(time.begin(), time.end());
  return 1 - 3 * static_cast<double>(chunks) / total;
}

TEST(PipelineSchedules, BubbleMatchesTheTheory) {
  for (const int64_t p : {1, 2, 3, 4, 8})
    for (const int64_t m : {1, 2, 4, 7, 16})
      for (const auto schedule : {PipelineSchedule::GPipe, PipelineSchedule::OneFOneB})
        EXPECT_NEAR(bubble(schedule, p, m), double(p - 1) / double(m + p - 1), 1e-12)
            << p << " stages, " << m << " micro-batches";
}

struct StashImpl : nn::Cloneable<StashImpl> {
  void reset() override {}
  Tensor forward(Tensor x) {
    nn::skip::stash("skip", x);
    return x;
  }
};
HEARTH_MODULE(Stash);
/// Adds the tensor that a StashImpl stashed.
struct AddSkippedImpl : nn::Cloneable<AddSkippedImpl> {
  void reset() override {}
  Tensor forward(Tensor x) { return x + nn::skip::pop("skip"); }
};
HEARTH_MODULE(AddSkipped);

nn::Sequential chain() {
  manual_seed(5);
  return nn::Sequential(nn::Linear(6, 8), Stash(), nn::Tanh(), nn::Linear(8, 8), nn::GELU(),
                        AddSkipped(), nn::Linear(8, 3));
}

/// Devices for three stages: GPUs if there are any.
std::vector<Device> three_stages() {
  std::vector<Device> devices(3, Device(kCPU));
  for (int i = 0; i < 3 && cuda::is_available(); ++i)
    devices[size_t(i)] = Device(DeviceType::CUDA, DeviceIndex(i % cuda::device_count()));
  return devices;
}

Tensor squared_error(const Tensor& y, const Tensor& target) { return mse_loss(y, target); }

/// The gradients of all parameters on the CPU.
std::vector<Tensor> gradients_of(const nn::Module& module) {
  std::vector<Tensor> result;
  for (const Tensor& parameter : module.parameters()) result.push_back(parameter.grad().cpu());
  return result;
}

void expect_equal_bits(const std::vector<Tensor>& actual, const std::vector<Tensor>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) EXPECT_TRUE(actual[i].equal(expected[i])) << i;
}

TEST(Pipelines, ForwardAndBackwardMatchThePlainModule) {
  const std::vector<Device> devices = three_stages();
  const Tensor x = rand({7, 6}, devices[0]);
  const nn::Sequential plain = chain();
  plain.ptr()->to(devices[0]);
  std::vector<Tensor> parts;
  for (const Tensor& part : x.tensor_split(4)) parts.push_back(plain.ptr()->forward(part));
  const Tensor expected = cat(parts);
  expected.square().sum().backward();
  nn::Pipeline pipeline(chain(), nn::PipelineOptions(devices).chunks(4));
  const Tensor y = pipeline(x);
  EXPECT_EQ(y.device(), devices[2].is_cuda() ? devices[2] : Device(kCPU));
  EXPECT_TRUE(y.cpu().equal(expected.cpu()));
  y.square().sum().backward();
  expect_equal_bits(gradients_of(*pipeline), gradients_of(*plain.ptr()));
}

TEST(Pipelines, StepsAreTheSameWithoutAPipeline) {
  const std::vector<Device> devices = three_stages();
  for (const auto schedule : {PipelineSchedule::GPipe, PipelineSchedule::OneFOneB})
    for (const int64_t chunks : {1, 3, 7}) {
      const Tensor x = rand({7, 6}, devices[0]), target = rand({7, 3}, devices[0]);
      const nn::Sequential plain = chain();
      plain.ptr()->to(devices[0]);
      Tensor loss;
      const auto xs = x.tensor_split(chunks), targets = target.tensor_split(chunks);
      for (size_t i = 0; i < xs.size(); ++i) {
        const Tensor part = mse_loss(plain.ptr()->forward(xs[i]), targets[i]) *
                            (double(xs[i].size(0)) / double(x.size(0)));
        part.backward();
        loss = loss.defined() ? loss + part.detach() : part.detach();
      }
      nn::Pipeline pipeline(chain(),
                            nn::PipelineOptions(devices).chunks(chunks).schedule(schedule));
      const nn::PipelineResult result = pipeline->step(x, target, squared_error);
      EXPECT_TRUE(result.loss.cpu().equal(loss.cpu()));
      EXPECT_EQ(result.output.sizes(), IntArrayRef({7, 3}));
      expect_equal_bits(gradients_of(*pipeline), gradients_of(*plain.ptr()));
    }
}

TEST(Pipelines, FrozenStagesAndSums) {
  nn::Pipeline pipeline(
      nn::Sequential(nn::Linear(2, 2), nn::Linear(2, 1)),
      nn::PipelineOptions(std::vector<Device>(2, Device(kCPU))).chunks(2).mean_loss(false));
  pipeline->parameters()[0].set_requires_grad(false);
  pipeline->parameters()[1].set_requires_grad(false);
  const Tensor x = ones({2, 2});
  const auto sum = [](const Tensor& y, const Tensor&) { return y.sum(); };
  const nn::PipelineResult result = pipeline->step(x, x, sum);
  EXPECT_FALSE(pipeline->parameters()[0].grad().defined());
  EXPECT_EQ(pipeline->parameters()[3].grad().item<float>(), 2);
  EXPECT_NEAR(result.loss.item<double>(), pipeline(x).sum().item<double>(), 1e-6);
}

TEST(Pipelines, KeepsNamesAndPrints) {
  nn::Pipeline pipeline(nn::Sequential({{"a", nn::Linear(2, 2)}, {"b", nn::Tanh()}}),
                        nn::PipelineOptions({Device(kCPU)}));
  EXPECT_TRUE(pipeline->state_dict().contains("a.weight"));
  std::ostringstream text;
  text << pipeline;
  EXPECT_EQ(text.str().find("Pipeline(\n  (a): Linear("), 0u) << text.str();
}

TEST(Pipelines, Errors) {
  const std::vector<Device> two(2, Device(kCPU));
  const nn::Sequential net(nn::Linear(2, 2), nn::Tanh());
  using Options = nn::PipelineOptions;
  EXPECT_ERROR(nn::Pipeline(net, Options({})), "at least one device");
  EXPECT_ERROR(nn::Pipeline(net, Options(two).balance({2})), "1 entries for 2 devices");
  EXPECT_ERROR(nn::Pipeline(net, Options(two).balance({1, 2})), "balance is for 3 modules");
  EXPECT_ERROR(nn::Pipeline(net, Options(std::vector<Device>(3, Device(kCPU)))),
               "Give fewer devices");
  EXPECT_ERROR(nn::Pipeline(net, Options(two).chunks(-1)), "must not be negative");
  nn::Pipeline pipeline(net, Options(two).chunks(4));
  EXPECT_ERROR(pipeline(ones({3, 2})), "3 row(s), fewer than the 4 micro-batches");
  EXPECT_ERROR(pipeline(ones({4, 3})), "in stage 0 on device cpu, micro-batch 0");
  EXPECT_ERROR(pipeline->step(ones({4, 2}), ones({3, 2}), squared_error), "has 4 rows");
  const auto not_a_number = [](const Tensor& y, const Tensor&) { return y; };
  EXPECT_ERROR(pipeline->step(ones({4, 2}), ones({4, 2}), not_a_number), "one number");
  EXPECT_EQ(pipeline(ones({4, 2})).size(0), 4);
}

TEST(Pipelines, SkipErrors) {
  const std::vector<Device> two(2, Device(kCPU));
  nn::Pipeline never_popped{nn::Sequential(Stash(), nn::Tanh()), nn::PipelineOptions(two)};
  EXPECT_ERROR(never_popped(ones({2, 2})), "was stashed in stage 0, but no later module popped it");
  nn::Pipeline never_stashed{nn::Sequential(nn::Tanh(), AddSkipped()), nn::PipelineOptions(two)};
  EXPECT_ERROR(never_stashed(ones({2, 2})), "There is no tensor 'skip' to pop");
  nn::Pipeline twice{nn::Sequential(Stash(), Stash()), nn::PipelineOptions(two)};
  EXPECT_ERROR(twice(ones({2, 2})), "stashed twice");
}

}  // namespace
}  // namespace hearth::testing
