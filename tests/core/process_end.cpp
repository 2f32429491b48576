// Process exit while other threads compute, and functions that run at the exit.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "core/process_end.h"
#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "tests/support/sanitizers.h"

namespace hearth {
namespace {

using std::chrono::milliseconds;

std::atomic<int> steps{0};

/// Runs products and convolutions, forward and backward, in an endless loop.
void compute(Device device) {
  const auto options = TensorOptions(device).requires_grad(true);
  const Tensor filter = rand({16, 8, 3, 3}, options), weight = rand({500, 16 * 26 * 26}, options);
  for (;; ++steps) {
    const Tensor images = rand({16, 8, 28, 28}, device);
    const Tensor features = conv2d(images, filter).relu().flatten(1);
    linear(features, weight).sum().backward();
  }
}

/// Ends the process while another thread computes its fourth or a later step.
template <class End>
void end_while_computing(Device device, const End& end) {
  std::thread(compute, device).detach();
  while (steps < 3) std::this_thread::sleep_for(milliseconds(1));
  end();
}

void exit_here() { std::exit(0); }
void exit_elsewhere() { std::thread(exit_here).join(); }

class ProcessEnd : public ::testing::Test {
 protected:
  static constexpr int kRepetitions = testing::kSanitized ? 1 : 5;
  ProcessEnd() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(ProcessEnd, MainThreadExitsDuringCpuWork) {
  for (int i = 0; i < kRepetitions; ++i)
    EXPECT_EXIT(end_while_computing(kCPU, exit_here), ::testing::ExitedWithCode(0), "");
}

TEST_F(ProcessEnd, OtherThreadExitsDuringCpuWork) {
  for (int i = 0; i < kRepetitions; ++i)
    EXPECT_EXIT(end_while_computing(kCPU, exit_elsewhere), ::testing::ExitedWithCode(0), "");
}

TEST_F(ProcessEnd, ThreadsExitDuringSimulatedGpuWork) {
  setenv("HEARTH_SIM_GPUS", "1", /*overwrite=*/0);
  for (int i = 0; i < kRepetitions; ++i) {
    EXPECT_EXIT(end_while_computing(kCUDA, exit_here), ::testing::ExitedWithCode(0), "");
    EXPECT_EXIT(end_while_computing(kCUDA, exit_elsewhere), ::testing::ExitedWithCode(0), "");
  }
}

/// Calls that have begun are completed; later calls never start.
TEST_F(ProcessEnd, WaitsForRunningCalls) {
  const auto end = [] {
    { const LibraryCall first; }
    std::atomic<bool> has_begun = false;
    std::thread([&] {
      {
        const LibraryCall call;
        has_begun = true;
        std::this_thread::sleep_for(milliseconds(200));
        std::fputs("finished\n", stderr);
      }
      const LibraryCall late;
      std::fputs("began again\n", stderr);
    }).detach();
    while (!has_begun) std::this_thread::yield();
    std::exit(0);
  };
  EXPECT_EXIT(end(), ::testing::ExitedWithCode(0), "^finished\n$");
}

template <char Letter>
void print_letter() {
  std::fputc(Letter, stderr);
}

/// In reverse order of registration, as with atexit.
TEST_F(ProcessEnd, CallsAllFunctionsOnce) {
  const auto end = [] {
    for (const auto stop : {print_letter<'f'>, print_letter<'e'>, print_letter<'d'>,
                            print_letter<'c'>, print_letter<'b'>, print_letter<'a'>})
      stop_at_process_end(stop);
    std::exit(0);
  };
  EXPECT_EXIT(end(), ::testing::ExitedWithCode(0), "^abcdef$");
}

/// Destructors of static objects may compute.
TEST_F(ProcessEnd, ExitingThreadCanCompute) {
  const auto end = [] {
    const Tensor square = rand({200, 200});
    (void)matmul(square, square);
    std::atexit([] {
      const Tensor other = ones({200, 200});
      if (matmul(other, other).sum().item<float>() == 8e6F) std::fputs("right\n", stderr);
    });
    (void)matmul(square, square);
    std::exit(0);
  };
  EXPECT_EXIT(end(), ::testing::ExitedWithCode(0), "right");
}

}  // namespace
}  // namespace hearth
