// A signal handler's stack frame is written below the stack pointer, so while operators compute,
// that pointer must always point into the thread's own stack.
#include <gtest/gtest.h>

#ifdef __x86_64__

#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "hearth/operators.h"
#include "hearth/threads.h"

namespace hearth {
namespace {

std::atomic<int64_t> received, outside;
uintptr_t stack_begin, stack_end;

void compare_stack_pointer(int, siginfo_t*, void* context) {
  const auto pointer =
      static_cast<uintptr_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP]);
  if (pointer < stack_begin || pointer > stack_end) ++outside;
  ++received;
}

/// Sends signals to this thread. Their handler has a stack of its own, so that a wrong stack
/// pointer destroys nothing.
class Signals {
 public:
  Signals() {
    pthread_attr_t attributes;
    void* stack = nullptr;
    size_t bytes = 0;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &stack, &bytes);
    pthread_attr_destroy(&attributes);
    stack_begin = reinterpret_cast<uintptr_t>(stack);
    stack_end = stack_begin + bytes;
    received = outside = 0;
    const stack_t own{own_stack_.data(), 0, own_stack_.size()};
    sigaltstack(&own, &former_stack_);
    struct sigaction action {};
    action.sa_sigaction = compare_stack_pointer;
    action.sa_flags = static_cast<int>(SA_SIGINFO | SA_ONSTACK | SA_RESTART);
    sigaction(SIGUSR2, &action, &former_action_);
    sender_ = std::thread([this, receiver = pthread_self()] {
      while (!ends_) {
        pthread_kill(receiver, SIGUSR2);
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    });
  }
  ~Signals() {
    ends_ = true;
    sender_.join();
    sigaction(SIGUSR2, &former_action_, nullptr);
    sigaltstack(&former_stack_, nullptr);
  }

 private:
  std::vector<char> own_stack_ = std::vector<char>(64 << 10);
  stack_t former_stack_{};
  struct sigaction former_action_ {};
  std::atomic<bool> ends_{false};
  std::thread sender_;
};

struct Computation {
  std::string name;
  std::function<Tensor()> compute;
};

/// Products of two matrices and of a matrix with a vector, as they lie in memory and transposed.
std::vector<Computation> products(ScalarType dtype) {
  std::vector<Computation> all;
  for (const auto& [m, n, k] : std::vector<std::array<int64_t, 3>>{
           {4, 128, 3072}, {64, 64, 64}, {300, 300, 300}, {1, 512, 512}, {512, 1, 512}})
    for (const bool a_transposed : {false, true})
      for (const bool b_transposed : {false, true}) {
        const Tensor a = a_transposed ? rand({k, m}).to(dtype).t() : rand({m, k}).to(dtype);
        const Tensor b = b_transposed ? rand({n, k}).to(dtype).t() : rand({k, n}).to(dtype);
        all.push_back({"product " + std::to_string(m) + "x" + std::to_string(n) + "x" +
                           std::to_string(k) + (a_transposed ? " T" : " N") +
                           (b_transposed ? "T" : "N"),
                       [a, b] { return a.mm(b); }});
      }
  return all;
}

std::vector<Computation> convolutions(ScalarType dtype) {
  struct Shape {
    int64_t channels, size, filters, kernel, groups;
  };
  std::vector<Computation> all;
  for (const auto s : {Shape{1, 28, 6, 5, 1}, Shape{16, 20, 32, 3, 1}, Shape{48, 40, 48, 3, 16},
                       Shape{512, 14, 512, 1, 4}})
    for (const auto format : {MemoryFormat::Contiguous, MemoryFormat::ChannelsLast}) {
      const Tensor images = rand({3, s.channels, s.size, s.size}).to(dtype).contiguous(format),
                   weight = rand({s.filters, s.channels / s.groups, s.kernel, s.kernel}).to(dtype);
      images.requires_grad_();
      weight.requires_grad_();
      all.push_back({"convolution of " + std::to_string(s.channels) + " channels",
                     [images, weight, groups = s.groups] {
                       const Tensor result = conv2d(images, weight, {}, 1, 1, 1, groups);
                       result.sum().backward();
                       return result;
                     }});
    }
  return all;
}

std::vector<Computation> attention(ScalarType dtype) {
  const Tensor q = rand({2, 4, 100, 64}).to(dtype).requires_grad_();
  return {{"attention", [q] {
             const Tensor result = scaled_dot_product_attention(q, q, q);
             result.sum().backward();
             return result;
           }}};
}

class SignalHandlers : public ::testing::TestWithParam<ScalarType> {};

TEST_P(SignalHandlers, FindTheThreadsOwnStack) {
  constexpr int kSignals = 200;  // 20 may miss the instructions that move the stack pointer
  const int threads = get_num_threads();
  set_num_threads(1);  // all computations on the thread that receives the signals
  for (const auto& computations : {products, convolutions, attention})
    for (const auto& [name, compute] : computations(GetParam())) {
      const Signals signals;
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (received < kSignals && std::chrono::steady_clock::now() < end) compute();
      EXPECT_GE(received, kSignals) << "during: " << name;
      EXPECT_EQ(outside, 0) << "of " << received << " signals during: " << name;
    }
  set_num_threads(threads);
}

INSTANTIATE_TEST_SUITE_P(Dtypes, SignalHandlers, ::testing::Values(kFloat, kDouble, kBFloat16),
                         [](const auto& test) { return name_of(test.param); });

}  // namespace
}  // namespace hearth

#endif
