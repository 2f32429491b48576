// The fibers on which emulated kernels run.
#include <setjmp.h>
#include <ucontext.h>

#include <memory>
#include <mutex>
#include <vector>

#include "tests/cuda/emulator/cuda_runtime_api.h"

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace hearth::testing {
namespace {

constexpr size_t kStackBytes = size_t{1} << 16;
constexpr unsigned kWarp = 32;

/// Counts the threads of a block or warp that have arrived at a barrier; ended threads do not
/// count.
struct Barrier {
  unsigned alive = 0, arrived = 0, passed = 0;

  void release_if_complete() {
    if (arrived < alive) return;
    arrived = 0;
    ++passed;
  }
};

/// The fibers of one block. A fiber runs until it has to wait for others.
class Block {
 public:
  void run(unsigned num_threads, const std::function<void()>& thread) {
    thread_ = &thread;
    while (fibers_.size() < num_threads) add_fiber();
    block_barrier_ = {num_threads, 0, 0};
    warp_barriers_.assign((num_threads + kWarp - 1) / kWarp, {});
    for (unsigned i = 0; i < num_threads; ++i) {
      ++warp_barriers_[i / kWarp].alive;
      fibers_[i]->has_ended = false;
    }
    // The order alternates, so that a missing barrier changes results whichever thread is ahead.
    bool is_backward = false;
    for (unsigned running = num_threads; running > 0; is_backward = !is_backward)
      for (unsigned k = 0; k < num_threads; ++k) {
        const unsigned i = is_backward ? num_threads - 1 - k : k;
        if (fibers_[i]->has_ended) continue;
        current_ = i;
        threadIdx.x = i;
        resume(*fibers_[i]);
        if (fibers_[i]->has_ended) --running;
      }
  }
  void wait(Barrier& barrier) {
    const unsigned passed = barrier.passed, self = current_;
    ++barrier.arrived;
    barrier.release_if_complete();
    while (barrier.passed == passed) suspend(*fibers_[self]);
  }
  Barrier& block_barrier() { return block_barrier_; }
  Barrier& warp_barrier() { return warp_barriers_[current_ / kWarp]; }
  uint64_t* slot(unsigned thread) { return &fibers_[thread]->slot; }

  static Block& get() {
    static Block block;
    return block;
  }

 private:
  struct Fiber {
    ucontext_t context;
    jmp_buf state;
    std::unique_ptr<char[]> stack{new char[kStackBytes]};
    bool has_started = false, has_ended = true;
    uint64_t slot = 0;
  };

  void add_fiber() {
    fibers_.push_back(std::make_unique<Fiber>());
    ucontext_t& context = fibers_.back()->context;
    getcontext(&context);
    context.uc_stack.ss_sp = fibers_.back()->stack.get();
    context.uc_stack.ss_size = kStackBytes;
    context.uc_link = nullptr;
    makecontext(
        &context, [] { get().run_fiber(); }, 0);
  }
  /// What a fiber runs: one thread after another, one of each block.
  void run_fiber() {
    for (;;) {
      const unsigned self = current_;
      (*thread_)();
      fibers_[self]->has_ended = true;
      for (Barrier* barrier : {&block_barrier_, &warp_barriers_[self / kWarp]}) {
        --barrier->alive;
        if (barrier->arrived > 0) barrier->release_if_complete();
      }
      suspend(*fibers_[self]);
    }
  }

  // A fiber starts in its context; later switches are jumps, which need no system call.
  [[gnu::noinline]] void resume(Fiber& fiber) {
    if (_setjmp(scheduler_) != 0) return;
    if (fiber.has_started) _longjmp(fiber.state, 1);
    fiber.has_started = true;
    setcontext(&fiber.context);
  }
  [[gnu::noinline]] void suspend(Fiber& fiber) {
    if (_setjmp(fiber.state) == 0) _longjmp(scheduler_, 1);
  }

  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Barrier> warp_barriers_;
  Barrier block_barrier_;
  jmp_buf scheduler_;
  unsigned current_ = 0;
  const std::function<void()>* thread_ = nullptr;
};

}  // namespace

void run_emulated(dim3 grid, dim3 block, const std::function<void()>& thread) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  gridDim = grid;
  blockDim = block;
  for (blockIdx.z = 0; blockIdx.z < grid.z; ++blockIdx.z)
    for (blockIdx.y = 0; blockIdx.y < grid.y; ++blockIdx.y)
      for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x) Block::get().run(block.x, thread);
}

void wait_for_block() { Block::get().wait(Block::get().block_barrier()); }
void wait_for_warp() { Block::get().wait(Block::get().warp_barrier()); }
void* exchange_slot(unsigned thread) { return Block::get().slot(thread); }

}  // namespace hearth::testing
