#include "hearth/distributed/work.h"

#include <sched.h>

#include <algorithm>

#include "core/step_clock.h"
#include "distributed/work_state.h"
#include "hearth/profiler/record_function.h"

namespace hearth::distributed {

Work::~Work() = default;

bool Work::isCompleted() const { return state_->is_completed; }
bool Work::isSuccess() const { return isCompleted() && !exception(); }
OpType Work::op_type() const { return state_->call.type; }
uint64_t Work::getSequencenumber() const { return state_->call.sequence; }

std::exception_ptr Work::exception() const {
  const std::lock_guard lock(state_->mutex);
  return state_->error;
}

int Work::sourceRank() const { return state_->source_rank; }

std::vector<Tensor> Work::result() const {
  const std::lock_guard lock(state_->mutex);
  return state_->outputs;
}

bool Work::wait(std::chrono::milliseconds timeout) {
  const profiler::record_function range("Work.wait");
  const StepWaitTimer timer(StepWait::kCommunication);
  state_->wait_awake(timeout);
  std::unique_lock lock(state_->mutex);
  const auto has_ended = [&] { return state_->can_be_used(); };
  if (timeout == kNoTimeout || timeout == kUnsetTimeout)
    state_->ended.wait(lock, has_ended);
  else if (!state_->ended.wait_for(lock, timeout, has_ended))
    detail::fail<DistBackendError>("Operation timed out! ", state_->call.text(),
                                   " has not ended after ", timeout.count(), " ms");
  const std::exception_ptr error = state_->error;
  lock.unlock();
  if (error) std::rethrow_exception(error);
  synchronize();
  return true;
}

void Work::synchronize() {
  if (state_->done && state_->can_be_used())
    state_->done->wait(cuda::current_stream(state_->stream->device_index()));
}

void Work::on_completion(std::function<void(Work&)> hook) {
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->is_completed) {
      state_->hooks.push_back(std::move(hook));
      return;
    }
  }
  state_->call_hook(hook, *this);
}

void Work::State::wait_awake(milliseconds longest) const {
  constexpr milliseconds kLimit{2};
  const Deadline end = Deadline::after(longest.count() > 0 ? std::min(longest, kLimit) : kLimit);
  while (!can_be_used() && !end.has_passed()) sched_yield();
}

void Work::State::use_stream(const cuda::Stream& chosen) {
  stream = chosen;
  ready.emplace();
  ready->record(cuda::current_stream(chosen.device_index()));
  done.emplace();
  for (const auto* const tensors : {&inputs, &outputs})
    for (const Tensor& tensor : *tensors)
      if (tensor.is_cuda()) tensor.record_stream(chosen);
}

void Work::State::note_enqueued() {
  // Without tensors on the GPU, as in a barrier, the host is to wait for the end.
  const auto is_on_gpu = [](const Tensor& tensor) { return tensor.is_cuda(); };
  const std::lock_guard lock(mutex);
  is_enqueued = std::any_of(inputs.begin(), inputs.end(), is_on_gpu) ||
                std::any_of(outputs.begin(), outputs.end(), is_on_gpu);
  ended.notify_all();
}

void Work::State::run_in_order(const std::function<void()>& f) {
  if (!stream) return f();
  const cuda::StreamGuard guard(*stream);
  ready->wait(*stream);
  f();
  done->record(*stream);
}

void Work::State::finish(std::exception_ptr failure) {
  struct Ended : Work {
    explicit Ended(std::shared_ptr<State> state) : Work(std::move(state)) {}
  };
  std::vector<std::function<void(Work&)>> to_call;
  {
    const std::lock_guard lock(mutex);
    error = std::move(failure);
    is_completed = true;
    body = nullptr;
    inputs.clear();
    to_call.swap(hooks);
  }
  ended.notify_all();
  if (to_call.empty()) return;
  // A Work that does not own this state, which its caller keeps alive.
  Ended work(std::shared_ptr<State>(this, [](State*) {}));
  for (const auto& hook : to_call) call_hook(hook, work);
}

void Work::State::call_hook(const std::function<void(Work&)>& hook, Work& work) const {
  try {
    hook(work);
  } catch (const std::exception& thrown) {
    warn(detail::str("A hook of ", call.text(), " has thrown an exception: ", thrown.what()));
  }
}

}  // namespace hearth::distributed
