#include "distributed/status_reports.h"

#include <charconv>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <unordered_map>

#include "hearth/distributed/rank_reports.h"
#include "hearth/distributed/store.h"
#include "hearth/profiler/status_report.h"

namespace hearth::distributed {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kReportInterval{1000}, kReportStoreTimeout{2000}, kPatienceForReports{200};
constexpr int kMaxReportingRanks = 1'000'000;
constexpr const char *kRankCountKey = "hearth/status/size", *kReportKeyStart = "hearth/status/";

}  // namespace

/// The data of the thread, which may outlive the StatusReports.
struct StatusReports::Shared {
  std::shared_ptr<Store> store;
  int rank = 0, size = 1;
  profiler::detail::StatusReporter reporter;
  std::mutex mutex;  // of the members below
  std::condition_variable changed;
  bool stops = false, has_ended = false;

  void serve() {
    std::unique_lock lock(mutex);
    while (!stops) {
      lock.unlock();
      report();
      lock.lock();
      changed.wait_for(lock, kReportInterval, [this] { return stops; });
    }
    has_ended = true;
    changed.notify_all();
  }

  void report() {
    try {
      if (rank == 0) store->set(kRankCountKey, std::to_string(size));
      store->set(kReportKeyStart + std::to_string(rank), reporter.report(rank));
    } catch (const std::exception&) {
      // The next report may arrive; the group notices a store that is lost.
    }
  }
};

StatusReports::StatusReports(Store& store, int rank, int size)
    : shared_(std::make_shared<Shared>()) {
  shared_->store = store.clone();
  shared_->store->setTimeout(kReportStoreTimeout);
  shared_->rank = rank;
  shared_->size = size;
  thread_ = std::thread([shared = shared_] { shared->serve(); });
}

StatusReports::~StatusReports() {
  bool has_ended = false;
  {
    std::unique_lock lock(shared_->mutex);
    shared_->stops = true;
    shared_->changed.notify_all();
    has_ended =
        shared_->changed.wait_for(lock, kPatienceForReports, [this] { return shared_->has_ended; });
  }
  if (has_ended)
    thread_.join();
  else
    thread_.detach();
}

NoRankReportsError::NoRankReportsError(const std::string& message) : DistStoreError(message) {}
NoRankReportsError::~NoRankReportsError() = default;

std::vector<std::string> get_rank_reports(Store& store) {
  auto found = store.entries(kReportKeyStart);
  std::unordered_map<std::string, std::string> entries(std::make_move_iterator(found.begin()),
                                                       std::make_move_iterator(found.end()));
  const auto digits = entries.find(kRankCountKey);
  if (digits == entries.end())
    throw NoRankReportsError(
        "no ranks report to this store; after init_process_group, ranks report to the TCPStore in "
        "which they met, and to no other kind of store");
  int size = 0;
  const char *const begin = digits->second.data(), *const end = begin + digits->second.size();
  const auto [stop, error] = std::from_chars(begin, end, size);
  HEARTH_CHECK_AS(DistStoreError,
                  error == std::errc() && stop == end && size > 0 && size <= kMaxReportingRanks,
                  "the store has a malformed number of ranks");
  std::vector<std::string> reports(static_cast<size_t>(size));
  for (size_t rank = 0; rank < reports.size(); ++rank)
    if (const auto entry = entries.find(kReportKeyStart + std::to_string(rank));
        entry != entries.end())
      reports[rank] = std::move(entry->second);
  return reports;
}

}  // namespace hearth::distributed
