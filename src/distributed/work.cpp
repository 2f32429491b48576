#include "hearth/distributed/work.h"

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

int Work::sourceRank() const {
  const std::lock_guard lock(state_->mutex);
  return state_->source_rank;
}

std::vector<Tensor> Work::result() const {
  const std::lock_guard lock(state_->mutex);
  return state_->outputs;
}

bool Work::wait(std::chrono::milliseconds timeout) {
  const profiler::record_function range("Work.wait");
  const StepWaitTimer timer(StepWait::kCommunication);
  std::unique_lock lock(state_->mutex);
  const auto has_ended = [&] { return state_->is_completed.load(); };
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
  if (state_->done && state_->is_completed)
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
  hook(*this);
}

void Work::State::remember_device(const std::vector<Tensor>& tensors) {
  for (const Tensor& tensor : tensors) {
    if (!tensor.is_cuda()) continue;
    if (!stream) {
      stream.emplace(tensor.device());
      ready.emplace();
      ready->record(cuda::current_stream(tensor.get_device()));
      done.emplace();
    }
    tensor.record_stream(*stream);
  }
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
  for (const auto& hook : to_call) hook(work);
}

}  // namespace hearth::distributed
