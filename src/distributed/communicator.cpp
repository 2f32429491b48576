#include "distributed/communicator.h"

#include "core/threads.h"
#include "distributed/abortable_store.h"
#include "hearth/autograd.h"
#include "hearth/named_scope.h"

namespace hearth::distributed {

namespace {

constexpr milliseconds kControlTimeout{2000};
constexpr milliseconds kEndless{std::chrono::hours(24 * 365)};

}  // namespace

milliseconds checked_timeout(milliseconds timeout) {
  HEARTH_CHECK_AS(ValueError, timeout.count() >= 0, "the time-out must not be negative, got ",
                  timeout.count(), " ms; 0 waits without end");
  return timeout;
}

Communicator::Communicator(Options options)
    : options_(std::move(options)),
      store_(std::make_shared<AbortableStore>("control", options_.store,
                                              [this] { throw_if_failed_elsewhere(); })),
      control_store_(store_->clone()),
      timeout_(checked_timeout(options_.timeout)) {
  control_store_->setTimeout(kControlTimeout);
  take_rank();
  if (options_.membership) options_.membership->add(*this);
  try {
    meet();
    connect();
  } catch (const std::exception& error) {
    std::string what = error.what();
    if (dynamic_cast<const DistNetworkError*>(&error)) what = cause_of(what);
    // Otherwise the other ranks would wait for this one.
    if (reason().empty()) tell_other_ranks(detail::str("cannot connect ", title(), ": ", what));
    if (options_.membership) options_.membership->remove(*this);
    throw_if_aborted();  // the reason of an abort explains more than `what`
    throw;
  }
  thread_ = std::thread([this] { serve(); });
}

/// Whether all ranks destroy the group now.
bool Communicator::all_have_finished() {
  constexpr milliseconds kPatience{200};
  try {
    if (control_store_->add("finished", 1) == options_.size)
      control_store_->set("all finished", std::string("1"));
    control_store_->wait({"all finished"}, kPatience);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

WorkPtr Communicator::submit(StatePtr work, milliseconds timeout) {
  WorkPtr result(new Work(work));
  {
    const std::lock_guard lock(mutex_);
    begin(work, timeout);
    work->call.sequence = ++sequence_;
    queue_.push_back(std::move(work));
  }
  changed_.notify_all();
  return result;
}

/// Checks that calls are possible, and sets the members that all calls have.
void Communicator::begin(const StatePtr& work, milliseconds timeout) {
  HEARTH_CHECK_AS(DistBackendError, reason_.empty(), "Process group '", options_.name,
                  "' cannot be used any more: ", reason_);
  HEARTH_CHECK_AS(DistBackendError, !stops_, "Process group '", options_.name, "' was destroyed.");
  work->timeout = timeout == kUnsetTimeout ? timeout_.load() : checked_timeout(timeout);
  if (work->timeout.count() == 0) work->timeout = kEndless;
  if (const cuda::Stream* const stream = stream_for(*work)) work->use_stream(*stream);
  if (const char* const module = NamedScope::innermost_name()) work->call.module = module;
}

void Communicator::end(const StatePtr& work, std::exception_ptr error) {
  {
    const std::lock_guard lock(mutex_);
    std::erase(active_, work);
    if (!last_) last_ = std::make_unique<CallInfo>();
    *last_ = work->call;
    last_end_ = Deadline::Clock::now();
  }
  changed_.notify_all();
  work->finish(std::move(error));
}

void Communicator::serve() {
  compute_serially_from_now_on();
  const NoGradGuard no_grad;
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stops_ || !queue_.empty(); });
    if (queue_.empty()) return;
    StatePtr work = std::move(queue_.front());
    queue_.pop_front();
    work->call.start = Deadline::Clock::now();
    active_.push_back(work);
    lock.unlock();
    std::exception_ptr error;
    try {
      run(*work);
    } catch (...) {
      error = failure_of(*work);
    }
    end(work, error);
    work.reset();  // frees the tensors before the lock is taken
    lock.lock();
  }
}

/// The stream of the GPU that a call uses, or null.
const cuda::Stream* Communicator::stream_for(const Work::State& work) {
  std::optional<Device> device;
  for (const auto* const tensors : {&work.inputs, &work.outputs})
    for (const Tensor& tensor : *tensors)
      if (tensor.is_cuda()) device = tensor.device();
  const Device own = backend_ ? backend_->device() : Device(kCPU);
  if (!device && own.is_cuda()) device = own;
  if (!device) return nullptr;
  HEARTH_CHECK_AS(ValueError, !own.is_cuda() || own == *device, name_of(work.call.type), " in ",
                  title(), ": a tensor is on ", *device, ", but the group communicates on ", own);
  auto& streams = work.call.is_transfer() ? transfer_streams_ : collective_streams_;
  return &streams.try_emplace(device->index(), *device).first->second;
}

void Communicator::run(Work::State& work) {
  throw_if_aborted();
  work.run_in_order([&] {
    if (compares_calls()) compare_with_other_ranks(work.call, work.backend_call(0));
    work.body(*backend_, work.backend_call(work.call.tag()));
  });
  wait_for_device(work, *backend_);
}

/// Waits for the end of a call that the backend has put on a stream.
void Communicator::wait_for_device(Work::State& work, Backend& backend) {
  constexpr std::chrono::microseconds kPause{100};
  if (!backend.device().is_cuda()) return;
  work.note_enqueued();
  const Deadline deadline = Deadline::after(work.timeout);
  while (!work.done->query()) {
    backend.check();
    throw_if_aborted();
    HEARTH_CHECK_AS(DistBackendError, !deadline.has_passed(), "the time-out has passed");
    std::this_thread::sleep_for(kPause);
  }
  backend.check();
}

WorkPtr Communicator::submit_transfer(StatePtr work, milliseconds timeout,
                                      const BeginTransfer& begin_transfer,
                                      std::function<void()> after) {
  WorkPtr result(new Work(work));
  std::shared_ptr<Backend> backend;
  {
    const std::lock_guard lock(mutex_);
    begin(work, timeout);
    work->call.start = Deadline::Clock::now();
    active_.push_back(work);
    backend = backend_;
  }
  std::shared_ptr<Transfer> transfer;
  try {
    const NoGradGuard no_grad;
    work->run_in_order([&] {
      transfer =
          begin_transfer(*backend, work->backend_call(static_cast<uint32_t>(work->call.user_tag)));
    });
  } catch (...) {
    end(work, failure_of(*work));
    return result;
  }
  transfers_.run([this, work = std::move(work), backend = std::move(backend), transfer,
                  after = std::move(after)]() mutable {
    const NoGradGuard no_grad;
    std::exception_ptr error;
    try {
      work->source_rank = transfer->wait(work->timeout);
      work->run_in_order(after);
      wait_for_device(*work, *backend);
    } catch (...) {
      error = failure_of(*work);
    }
    transfer.reset();
    backend.reset();
    after = nullptr;
    end(work, error);
    work.reset();
  });
  return result;
}

void Communicator::abort(const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    if (reason_.empty()) {
      state_at_end_ = describe();
      reason_ = why;
    }
  }
  if (const auto running = backend()) running->abort();
}

std::shared_ptr<Backend> Communicator::backend() {
  const std::lock_guard lock(mutex_);
  return backend_;
}

void Communicator::shutdown() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  changed_.notify_all();
  thread_.join();
  if (options_.membership) options_.membership->remove(*this);
  bool is_idle = false;
  {
    std::unique_lock lock(mutex_);
    // A transfer that the caller has waited for may still run on the GPU, up to its time-out.
    if (backend_->device().is_cuda()) changed_.wait(lock, [this] { return active_.empty(); });
    is_idle = active_.empty();
  }
  if (!is_idle) abort("the group was destroyed before the call ended");
  // Gloo resets its connections, which can discard data that another rank has not read yet. So
  // unless all ranks are here, the connections stay open until the process ends.
  if (reason().empty() && !all_have_finished())
    static_cast<void>(new std::shared_ptr<Backend>(backend()));
  const std::lock_guard lock(mutex_);
  backend_.reset();
}

std::string Communicator::reason() {
  const std::lock_guard lock(mutex_);
  return reason_;
}

void Communicator::throw_if_aborted() {
  const std::string why = reason();
  HEARTH_CHECK_AS(DistBackendError, why.empty(), why);
}

void Communicator::throw_if_failed_elsewhere() {
  throw_if_aborted();
  if (!options_.membership) throw_published_cause();
}

int Communicator::group_rank(int global_rank) const {
  for (size_t i = 0; i < options_.global_ranks.size(); ++i)
    if (options_.global_ranks[i] == global_rank) return static_cast<int>(i);
  return -1;
}

void Communicator::on_left(int rank) {
  const std::lock_guard lock(mutex_);
  if (const int member = group_rank(rank); member >= 0) left_.push_back(member);
}

void Communicator::on_lost(int rank, const std::string& description) {
  if (rank == kStoreServer) {
    abort(detail::str("lost ", description,
                      ": rank 0, which serves it, has ended or cannot be "
                      "reached"));
    return;
  }
  const int member = group_rank(rank);
  if (member < 0 || member == options_.rank) return;
  const std::string cause =
      detail::str("rank ", rank, " (", description,
                  ") has ended without destroying its process group, or cannot be "
                  "reached; its own output may tell why");
  const bool is_connected = backend() != nullptr;
  abort(cause);
  if (!is_connected) publish_cause(cause);  // for ranks that come later
}

}  // namespace hearth::distributed
