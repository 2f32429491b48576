// Observers of op calls, as profilers and exporters use them; the names of the ops.
#include "core/observer.h"

#include <gtest/gtest.h>

#include "hearth/hearth.h"
#include "ops/call.h"

namespace hearth::testing {
namespace {

/// Notes the calls, nested ones indented, and the number of their results.
struct Notes final : Observer {
  void begin(const ObservedCall& call) override {
    lines.push_back(std::string(depth++ * 2, ' ') + call.op.info->name + "(" +
                    to_string(call.arguments()) + ")");
  }
  void end(const ObservedCall& call) override {
    --depth;
    num_results += int(call.outputs.size());
  }
  std::vector<std::string> lines;
  size_t depth = 0;
  int num_results = 0;
};

TEST(Observer, SeesOpsAndTheirNestedCalls) {
  const Tensor a = ones({2, 3, 4}), b = ones({4, 5});
  Notes notes;
  {
    const ObserverGuard guard(notes);
    a.matmul(b).sum({0, 2}, true);
    a.add(a, 2);
  }
  a.mul(a);
  const std::vector<std::string> expected{
      "matmul()",
      "  view(sizes=[6, 4])",
      "  mm()",
      "  view(sizes=[2, 3, 5])",
      "sum(dim=[0, 2], keepdim=True, dtype=None)",
      "add(alpha=2)",
  };
  EXPECT_EQ(notes.lines, expected);
  EXPECT_EQ(notes.num_results, 6);
  EXPECT_EQ(notes.depth, 0u);
}

TEST(Observer, SeesTheEndOfFailedCalls) {
  const Tensor a = ones({2, 3});
  Notes notes;
  const ObserverGuard guard(notes);
  EXPECT_THROW(a.mm(a), Error);
  EXPECT_THROW(a.matmul(a), Error);
  EXPECT_EQ(notes.depth, 0u);
}

TEST(Observer, SeesWhichInputsAreMutated) {
  struct Writes final : Observer {
    void begin(const ObservedCall& call) override {
      for (int i = 0; i < call.inputs.count; ++i) written += call.mutates(i) ? 'w' : '-';
      written += ' ';
    }
    void end(const ObservedCall&) override {}
    std::string written;
  } writes;
  const Tensor x = randn({4, 3}), mean = zeros({3}), var = ones({3});
  Tensor y = x.clone();
  {
    const ObserverGuard guard(writes);
    batch_norm(x, {}, {}, mean, var, /*training=*/true, 0.1, 1e-5, false);
    batch_norm(x, {}, {}, mean, var, /*training=*/false, 0.1, 1e-5, false);
    y.add_(x);  // the mutated tensor is the output
  }
  EXPECT_EQ(writes.written, "---ww ----- -- ");
}

TEST(Records, HaveDistinctNames) {
  std::vector<std::string> names;
  // Overloads that share a functor differ in grad_fn's name or in the rounding of numbers.
  for (const OpRecord* op : all_ops()) {
    const char* node = op->info->node;
    names.push_back(detail::str(full_name(*op->info), " ", node ? node : "", " ",
                                int(op->info->exact_numbers_cpu)));
  }
  std::sort(names.begin(), names.end());
  const auto duplicate = std::adjacent_find(names.begin(), names.end());
  EXPECT_TRUE(duplicate == names.end()) << *duplicate;
}

}  // namespace
}  // namespace hearth::testing
