// The signals that end a training.
#include "train/interrupt.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace hearth::app {
namespace {

/// Exits with 0 if the signal only makes interrupted() true.
void receive(int signal) {
  if (interrupted()) std::exit(1);
  std::raise(signal);
  if (!interrupted()) std::exit(2);
}

TEST(InterruptDeathTest, AnySecondSignalEndsTheProgram) {
  for (const int first : InterruptGuard::kSignals)
    for (const int second : InterruptGuard::kSignals)
      EXPECT_EXIT(
          {
            const InterruptGuard guard;
            receive(first);
            std::raise(second);
          },
          ::testing::KilledBySignal(second), "");
}

TEST(InterruptDeathTest, AnIgnoredSignalStaysIgnored) {
  const auto ignore_second = [] {
    std::signal(SIGHUP, SIG_IGN);
    const InterruptGuard guard;
    receive(SIGTERM);
    std::raise(SIGHUP);
    std::exit(0);
  };
  EXPECT_EXIT(ignore_second(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace hearth::app
