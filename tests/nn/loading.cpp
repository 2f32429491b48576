// Modules with a user-defined load(), and the rollback of failed loads.
#include <functional>

#include "core/cpu_allocator.h"
#include "hearth/autograd.h"
#include "hearth/io/archive.h"
#include "hearth/nn.h"
#include "tests/nn/support.h"

namespace {

using namespace hearth;
using namespace hearth::nn;
using serialize::InputArchive;

/// A module whose load() is defined by the test.
struct Loader : Module {
  using Load = std::function<void(Module&, InputArchive&)>;
  explicit Loader(Load load) : load_(std::move(load)) {}
  void load(InputArchive& archive) override { load_(*this, archive); }
  Load load_;
};

void default_load(Module& module, InputArchive& archive) { module.Module::load(archive); }

/// Two layers whose parameters are all `value`.
Sequential two_layers(double value, int64_t outputs) {
  Sequential made(Linear(3, 4), Linear(4, outputs));
  const NoGradGuard no_grad;
  for (const Tensor& parameter : made->parameters()) parameter.fill_(value);
  return made;
}

InputArchive archive_of(const Module& module) {
  serialize::OutputArchive out;
  module.save(out);
  return InputArchive(out);
}

bool all_are(const Module& module, double value) {
  for (const Tensor& parameter : module.parameters())
    if (!parameter.eq(value).all().item<bool>()) return false;
  return true;
}

/// The first layer of two_layers() alone.
Sequential first_layer(double value) {
  Sequential made(Linear(3, 4));
  const NoGradGuard no_grad;
  for (const Tensor& parameter : made->parameters()) parameter.fill_(value);
  return made;
}

/// An archive of the first layer. Loading it into both layers fails at the second one.
InputArchive archive_of_first_layer() { return archive_of(*first_layer(5)); }

std::shared_ptr<Loader> wrap(const std::string& name, std::shared_ptr<Module> inner,
                             Loader::Load load = default_load) {
  auto outer = std::make_shared<Loader>(std::move(load));
  outer->register_module(name, std::move(inner));
  return outer;
}

/// A module with "inner" and "last". "inner" has the given load() and contains "parts".
std::shared_ptr<Module> nested_net(const Sequential& parts, Loader::Load load,
                                   const Sequential& last = two_layers(1, 1)) {
  auto outer = wrap("inner", wrap("parts", parts.ptr(), std::move(load)));
  outer->register_module("last", last);
  return outer;
}

/// An archive for nested_net() with the value 7 everywhere; "parts" or "last" may lack its second
/// layer.
InputArchive archive_of_sevens(bool is_parts_complete, bool is_last_complete) {
  const Sequential parts = is_parts_complete ? two_layers(7, 2) : first_layer(7);
  const Sequential last = is_last_complete ? two_layers(7, 1) : first_layer(7);
  return archive_of(*nested_net(parts, default_load, last));
}

TEST(CustomLoad, CaughtFailureChangesNothing) {
  Sequential spare = two_layers(1, 2);  // not registered
  const auto outer = nested_net(two_layers(1, 2), [&](Module& module, InputArchive& archive) {
    InputArchive other = archive_of_first_layer();
    EXPECT_ERROR(spare->load(other), "No such serialized submodule: '1'");
    module.Module::load(archive);
  });
  InputArchive archive = archive_of_sevens(true, true);
  outer->load(archive);
  EXPECT_TRUE(all_are(*spare, 1));
  EXPECT_TRUE(all_are(*outer, 7));
}

TEST(CustomLoad, CanContinueAfterAFailure) {
  const Sequential parts = two_layers(1, 2), last = two_layers(1, 1);
  const auto outer = nested_net(
      parts,
      [](Module& module, InputArchive& archive) {
        EXPECT_ERROR(module.Module::load(archive), "No such serialized submodule: 'inner.parts.1'");
      },
      last);
  InputArchive archive = archive_of_sevens(false, true);
  outer->load(archive);
  EXPECT_TRUE(all_are(*parts, 1));
  EXPECT_TRUE(all_are(*last, 7));
}

TEST(CustomLoad, FailureKeepsEarlierLoads) {
  Sequential parts = two_layers(1, 2);
  const auto outer = nested_net(parts, [&](Module&, InputArchive&) {
    InputArchive fitting = archive_of(*two_layers(3, 2)), other = archive_of_first_layer();
    parts->load(fitting);
    EXPECT_ERROR(parts->load(other), "No such serialized submodule: '1'");
    EXPECT_TRUE(all_are(*parts, 3));
  });
  InputArchive wrong = archive_of_sevens(true, false), right = archive_of_sevens(true, true);
  EXPECT_ERROR(outer->load(wrong), "No such serialized submodule: 'last.1'");
  EXPECT_TRUE(all_are(*parts, 1));
  outer->load(right);
  EXPECT_TRUE(all_are(*parts, 3));
}

TEST(CustomLoad, OuterFailureRollsBackUnregisteredModules) {
  Sequential spare = two_layers(1, 2);
  const auto outer = nested_net(two_layers(1, 2), [&](Module& module, InputArchive& archive) {
    InputArchive fitting = archive_of(*two_layers(3, 2));
    spare->load(fitting);
    module.Module::load(archive);
  });
  InputArchive wrong = archive_of_sevens(true, false), right = archive_of_sevens(true, true);
  EXPECT_ERROR(outer->load(wrong), "No such serialized submodule: 'last.1'");
  EXPECT_TRUE(all_are(*spare, 1));
  EXPECT_TRUE(all_are(*outer, 1));
  outer->load(right);
  EXPECT_TRUE(all_are(*spare, 3));
  EXPECT_TRUE(all_are(*outer, 7));
}

TEST(CustomLoad, OuterFailureRollsBackSetData) {
  Sequential parts = two_layers(1, 2);
  const Tensor first = parts->parameters()[0], second = parts->parameters()[2];
  const Tensor former = second.detach();
  const auto outer = nested_net(parts, [&](Module&, InputArchive&) {
    first.set_data(full({4, 3}, 4.0));
    second.set_data(full({5, 4}, 4.0, kDouble));
    InputArchive other = archive_of_first_layer();
    EXPECT_ERROR(parts->load(other), "No such serialized submodule: '1'");
    EXPECT_TRUE(first.equal(full({4, 3}, 4.0)));
    EXPECT_TRUE(second.equal(full({5, 4}, 4.0, kDouble)));
  });
  InputArchive wrong = archive_of_sevens(true, false);
  EXPECT_ERROR(outer->load(wrong), "No such serialized submodule: 'last.1'");
  EXPECT_TRUE(all_are(*parts, 1));
  EXPECT_EQ(second.data_ptr(), former.data_ptr());
  EXPECT_EQ(second.sizes(), former.sizes());
  EXPECT_EQ(second.dtype(), kFloat);
}

TEST(CustomLoad, FailureRollsBackConversionsAndGradients) {
  const auto moving = std::make_shared<Loader>([](Module& module, InputArchive&) {
    module.parameters()[1].set_data(zeros({2}));
    module.to(kDouble);
    throw Error("not today");
  });
  const Tensor weight = moving->register_parameter("weight", ones({3}));
  const Tensor late = moving->register_parameter("late", empty({2}, device(kMeta)));
  const Tensor none = moving->register_buffer("none", empty({0}));
  Tensor fixed;
  {
    const InferenceMode inference;
    fixed = moving->register_buffer("fixed", ones({2}, kInt));
  }
  (weight * 2).sum().backward();
  const auto outer = wrap("inner", moving);
  InputArchive archive = archive_of(*wrap("inner", two_layers(1, 1).ptr()));
  EXPECT_ERROR(outer->load(archive), "not today");
  EXPECT_TRUE(weight.equal(ones({3})));
  EXPECT_TRUE(weight.grad().equal(full({3}, 2.0)));
  EXPECT_EQ(none.dtype(), kFloat);
  EXPECT_TRUE(late.is_meta());
  EXPECT_TRUE(fixed.equal(ones({2}, kInt)));
}

TEST(CustomLoad, SeesLoadedValues) {
  bool has_seen = false;
  const auto outer = nested_net(two_layers(1, 2), [&](Module& module, InputArchive& archive) {
    module.Module::load(archive);
    has_seen = all_are(module, 7);
  });
  InputArchive archive = archive_of_sevens(true, true);
  outer->load(archive);
  EXPECT_TRUE(has_seen);
}

TEST(CustomLoad, CopiesEachTensorOnceAtAnyDepth) {
  constexpr int64_t kBytes = 4 << 20;
  std::shared_ptr<Module> module = std::make_shared<Loader>(default_load);
  module->register_buffer("large", ones(kBytes / 4));
  for (int depth = 0; depth < 6; ++depth) module = wrap("inner", module);
  InputArchive archive = archive_of(*module);
  const int64_t before = cpu_memory_stats().allocated_bytes.allocated;
  module->load(archive);
  EXPECT_LT(cpu_memory_stats().allocated_bytes.allocated - before, kBytes * 3 / 2);
}

}  // namespace
