// GeneratorGuard replaces the CPU's default generator as part of the thread's modes.
#include <thread>

#include "hearth/generator.h"
#include "hearth/thread_state.h"
#include "tests/autograd/support.h"

namespace hearth::testing {
namespace {

Generator seeded(uint64_t seed) {
  Generator generator = make_generator();
  generator.set_current_seed(seed);
  return generator;
}

/// The result of f() on another thread.
template <class F>
Tensor on_another_thread(const F& f) {
  Tensor drawn;
  std::thread([&] { drawn = f(); }).join();
  return drawn;
}

TEST(GeneratorGuards, ArePartOfThreadLocalState) {
  Tensor wanted;
  {
    const GeneratorGuard guard(seeded(7));
    wanted = rand({4});
  }
  std::optional<ThreadLocalState> state;
  {
    const GeneratorGuard guard(seeded(7));
    state.emplace();
  }  // the state holds a reference to the generator
  const Tensor drawn = on_another_thread([&] {
    const ThreadLocalStateGuard guard(*state);
    return rand({4});
  });
  EXPECT_TRUE(drawn.equal(wanted));
}

TEST(GeneratorGuards, SurviveAThreadLocalStateWithoutGenerator) {
  const ThreadLocalState without_generator;
  const Tensor drawn = on_another_thread([&] {
    const GeneratorGuard own(seeded(9));
    const ThreadLocalStateGuard guard(without_generator);
    return rand({4});
  });
  const GeneratorGuard own(seeded(9));
  EXPECT_TRUE(drawn.equal(rand({4})));
}

TEST(GeneratorGuards, HoldInNestedBackward) {
  // Deeply nested backward passes continue on new threads.
  const GeneratorGuard guard(seeded(3));
  const Generator inside = default_generator();
  std::function<void(int)> nest = [&](int remaining) {
    EXPECT_EQ(default_generator(), inside);
    if (remaining == 0) return;
    const Tensor x = leaf({1}), y = x * 2;
    y.register_hook([&](const Tensor&) {
      const AutoGradMode on(true);
      nest(remaining - 1);
    });
    y.backward();
  };
  nest(130);
}

}  // namespace
}  // namespace hearth::testing
