#include "local_ranks.h"

#include <unistd.h>

#include <algorithm>
#include <climits>

namespace hearth::app {

LocalRanks::LocalRanks(const Context& context, const NodeJob& job, const std::string& host,
                       RankEvents events)
    : host_(host), events_(std::move(events)), first_rank_(job.first_rank) {
  for (int local_rank = 0; local_rank < job.local_size; ++local_rank)
    start(context, job, local_rank);
}

void LocalRanks::start(const Context& context, const NodeJob& job, int local_rank) {
  const auto handle_line = [this, local_rank](Stream stream, const std::string& text) {
    events_.line({first_rank_ + local_rank, local_rank, host_, stream, text});
  };
  const Command command{job.command, rank_environment(job, local_rank), job.directory};
  ranks_.push_back(std::make_unique<LineProcess>(context, command, handle_line));
}

void LocalRanks::send(int signal) {
  for (const auto& rank : ranks_) {
    rank->send(signal);
    // A stopped process gets its signals when it continues.
    if (asks_to_end(signal)) rank->send(SIGCONT);
  }
}

void LocalRanks::reap() {
  for (size_t i = 0; i < ranks_.size(); ++i) {
    LineProcess& rank = *ranks_[i];
    if (!rank.reap() || rank.status() == 0) continue;
    const int local_rank = static_cast<int>(i);
    events_.failure({first_rank_ + local_rank, local_rank, rank.id(), host_, rank.status(),
                     time_now(), rank.last_lines()});
  }
}

bool LocalRanks::ended() const {
  return std::all_of(ranks_.begin(), ranks_.end(),
                     [](const auto& rank) { return rank->has_ended(); });
}

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace hearth::app
