// The signals that end a training.
#include "train/interrupt.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace hearth::app {
namespace {

/// Raises the first signal, which must make interrupted() true: exits with 1 if it is true before,
/// with 2 if it is false afterwards.
void receive_first(int signal) {
  if (interrupted()) std::exit(1);
  std::raise(signal);
  if (!interrupted()) std::exit(2);
}

TEST(InterruptDeathTest, TheSameSignalAgainEndsTheProgram) {
  for (const int signal : InterruptGuard::kSignals)
    EXPECT_EXIT(
        {
          const InterruptGuard guard;
          receive_first(signal);
          std::raise(signal);
        },
        ::testing::KilledBySignal(signal), "");
}

TEST(InterruptDeathTest, AnotherSignalEndsTheProgramOneSecondLater) {
  const auto receive_two = [](int first, int second) {
    const InterruptGuard guard;
    receive_first(first);
    std::raise(second);
    std::this_thread::sleep_for(std::chrono::milliseconds(1010));
    std::raise(second);
    std::exit(0);
  };
  EXPECT_EXIT(receive_two(SIGTERM, SIGHUP), ::testing::KilledBySignal(SIGHUP), "");
  EXPECT_EXIT(receive_two(SIGINT, SIGTERM), ::testing::KilledBySignal(SIGTERM), "");
}

TEST(InterruptDeathTest, AnIgnoredSignalStaysIgnored) {
  const auto ignore_second = [] {
    std::signal(SIGHUP, SIG_IGN);
    const InterruptGuard guard;
    receive_first(SIGTERM);
    std::raise(SIGHUP);
    std::exit(0);
  };
  EXPECT_EXIT(ignore_second(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace hearth::app
