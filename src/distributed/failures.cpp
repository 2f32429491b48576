// After a failure, a process group finds the cause, tells the other ranks, and ends. With
// HEARTH_DISTRIBUTED_DEBUG=detail, it compares the calls of all ranks before they run.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "distributed/communicator.h"
#include "distributed/error_text.h"
#include "distributed/staged_tensor.h"
#include "hearth/operators.h"

namespace hearth::distributed {

namespace {

constexpr milliseconds kReportTimeout{1000};
constexpr milliseconds kCauseTimeout{500};
constexpr milliseconds kCausePause{10};
constexpr std::string_view kReport = "report ";
constexpr std::string_view kAbort = "abort ";
constexpr int64_t kComparedBytes = 256;  // of the text of a call

std::string seconds_since(Deadline::Clock::time_point start) {
  const std::chrono::duration<double> seconds = Deadline::Clock::now() - start;
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", seconds.count());
  return text;
}

bool is_backend_error(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const DistBackendError&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

std::string describe_process() {
  char host[256] = "unknown";
  gethostname(host, sizeof host - 1);
  return detail::str("host ", host, ", process ", getpid());
}

bool compares_calls() {
  static const bool compares = [] {
    const char* const value = std::getenv("HEARTH_DISTRIBUTED_DEBUG");
    if (!value || !*value || !strcasecmp(value, "off") || !strcasecmp(value, "info")) return false;
    HEARTH_CHECK_AS(ValueError, !strcasecmp(value, "detail"), "HEARTH_DISTRIBUTED_DEBUG is '",
                    value, "', but must be off, info or detail");
    return true;
  }();
  return compares;
}

std::exception_ptr Communicator::failure_of(const Work::State& work) {
  const std::exception_ptr error = std::current_exception();
  const std::string what = text_of(error);
  const bool timed_out =
      work.timeout.count() > 0 && Deadline::Clock::now() - work.call.start >= work.timeout;
  std::string text =
      detail::str(work.call.text(), " in ", title(), " failed on rank ", options_.rank, ": ");
  if (!reason().empty()) {
    text += reason();
  } else if (is_backend_error(error) && !timed_out) {
    text += cause_of(what);
    if (reason().empty()) tell_other_ranks(text);
  } else {
    if (timed_out)
      text = detail::str(work.call.text(), " in ", title(), " has not ended on rank ",
                         options_.rank, " within ", work.timeout.count(), " ms.", ask_all_ranks());
    else
      text += what;
    tell_other_ranks(text);
  }
  abort(text);
  if (!work.call.module.empty()) text += detail::str("\nin module ", work.call.module);
  return std::make_exception_ptr(DistBackendError(std::move(text)));
}

/// Tells the reason to the other ranks, which only see that their connections break.
void Communicator::tell_other_ranks(const std::string& text) {
  const std::string message = detail::str("rank ", options_.rank, " says: ", text);
  try {
    if (options_.membership)
      options_.membership->announce(detail::str(kAbort, options_.name, "\n", message));
  } catch (const std::exception&) {
    // Without the store's server, the other ranks see only broken connections.
  }
  publish_cause(message);
}

/// Stores the reason why the group ends, unless another rank has stored one.
void Communicator::publish_cause(const std::string& text) {
  try {
    control_store_->compareSet("cause", "", text);
  } catch (const std::exception&) {
    // Without the store, the other ranks see only broken connections.
  }
}

/// The reason why a connection broke: another rank's published reason, or that a rank has left;
/// else `what`.
std::string Communicator::cause_of(const std::string& what) {
  const Deadline deadline = Deadline::after(kCauseTimeout);
  // If a rank has left, the wait for a reason, which would say more, is shorter.
  const Deadline end_after_leaving = Deadline::after(kCauseTimeout / 5);
  bool has_store = true;
  while (!deadline.has_passed()) {
    if (std::string known = reason(); !known.empty()) return known;
    try {
      if (has_store && control_store_->check({"cause"})) return control_store_->get_to_str("cause");
    } catch (const std::exception&) {
      has_store = false;  // the membership will tell why
    }
    if (end_after_leaving.has_passed() && has_left()) break;
    std::this_thread::sleep_for(kCausePause);
  }
  const std::lock_guard lock(mutex_);
  if (left_.empty()) return what;
  return detail::str("rank ", left_.front(),
                     " has left the group: its program has ended, or called "
                     "destroy_process_group (",
                     what, ")");
}

/// Describes the current calls of this rank, for the table of another rank.
std::string Communicator::describe() const {
  if (!reason_.empty()) return state_at_end_;
  if (active_.empty()) {
    if (!last_) return "has made no call yet";
    return detail::str("is in no call; the last one, ", last_->text(), ", ended ",
                       seconds_since(last_end_), " ago");
  }
  std::string text = "is in ";
  for (size_t i = 0; i < active_.size(); ++i) {
    const CallInfo& call = active_[i]->call;
    text += detail::str(i ? " and " : "", call.text(), ", for ", seconds_since(call.start));
    if (!call.module.empty()) text += detail::str(", in module ", call.module);
  }
  if (!queue_.empty())
    text += detail::str("; ", queue_.size(),
                        queue_.size() == 1 ? " more call waits" : " more calls wait");
  return text;
}

std::string Communicator::locked_description() {
  const std::lock_guard lock(mutex_);
  return describe();
}

/// A table with a line for each rank.
std::string Communicator::ask_all_ranks() {
  if (!options_.membership)
    return " (The states of the other ranks are known only with a TCP store.)";
  std::string id;
  {
    const std::lock_guard lock(mutex_);
    id = detail::str("report/", options_.rank, "/", ++reports_);
  }
  std::vector<std::string> keys;
  for (int rank = 0; rank < options_.size; ++rank) keys.push_back(detail::str(id, "/", rank));
  std::string table = " The ranks:";
  try {
    options_.membership->announce(detail::str(kReport, options_.name, "\n", id));
    const Deadline deadline = Deadline::after(kReportTimeout);
    while (!control_store_->check(keys) && !deadline.has_passed()) {
      // A rank that timed out earlier may have published its table, which serves as well.
      if (const std::string known = reason(); !known.empty()) return " " + known;
      std::this_thread::sleep_for(kCausePause);
    }
    for (int rank = 0; rank < options_.size; ++rank) {
      const std::string& key = keys[static_cast<size_t>(rank)];
      table += detail::str("\n  rank ", rank, " ");
      if (control_store_->check({key}))
        table += control_store_->get_to_str(key);
      else
        table += detail::str("did not answer: the process is stopped, or cannot be reached (",
                             control_store_->get_to_str(detail::str("rank/", rank)), ")");
    }
  } catch (const std::exception&) {
    table += detail::str(
        "\n  unknown, because the store does not answer: rank 0, which serves it, "
        "is stopped or cannot be reached\n  rank ",
        options_.rank, " ", locked_description());
  }
  return table;
}

void Communicator::on_announcement(const std::string& text) {
  const size_t line = std::min(text.find('\n'), text.size() - 1);
  const std::string content = text.substr(line + 1);
  if (text.substr(0, line) == detail::str(kAbort, options_.name)) abort(content);
  if (text.substr(0, line) != detail::str(kReport, options_.name)) return;
  try {
    control_store_->set(detail::str(content, "/", options_.rank), locked_description());
  } catch (const std::exception&) {
    // The rank that asked shows that there is no answer.
  }
}

/// Throws unless all ranks make the same call.
void Communicator::compare_with_other_ranks(const CallInfo& call, const BackendCall& how) {
  const Tensor own = zeros({kComparedBytes}, TensorOptions(kByte));
  std::string mine = call.text();
  mine.resize(kComparedBytes);
  std::memcpy(own.data_ptr(), mine.data(), mine.size());
  const Tensor texts = empty({options_.size, kComparedBytes}, TensorOptions(kByte));
  const StagedTensor in(own, StagedTensor::kRead, backend_->device());
  const StagedTensor out(texts, StagedTensor::kWrite, backend_->device());
  CallInfo comparison;  // has the same tag on all ranks
  comparison.sequence = call.sequence;
  BackendCall gathering = how;
  gathering.tag = comparison.tag();
  backend_->all_gather(in.data(), out.data(), kComparedBytes, gathering);
  out.write_back();
  const std::string all(static_cast<const char*>(texts.data_ptr()), texts.nbytes());
  std::string table;
  bool differs = false;
  for (int rank = 0; rank < options_.size; ++rank) {
    const std::string theirs =
        all.substr(static_cast<size_t>(rank * kComparedBytes), kComparedBytes);
    differs |= theirs != mine;
    table += detail::str("\n  rank ", rank, " calls ", theirs.c_str());
  }
  HEARTH_CHECK_AS(
      ValueError, !differs,
      "the ranks make different calls; they must make the same ones in the same order:", table);
}

}  // namespace hearth::distributed
