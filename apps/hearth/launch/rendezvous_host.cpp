#include "rendezvous_host.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "../names.h"
#include "address.h"
#include "failure.h"
#include "hearth/distributed/tcp_store.h"
#include "hearth/error.h"
#include "protocol.h"

namespace hearth::app {

using Kind = RendezvousMessage::Kind;

namespace {

constexpr std::chrono::milliseconds kStepInterval{100};
/// The wait for more machines when the least number is there.
constexpr std::chrono::seconds kLastCall{3};
/// The wait for the least number of machines, torchrun's join_timeout.
constexpr std::chrono::seconds kJoinTimeout{600};
constexpr std::chrono::seconds kHelloTimeout{10};
/// The most open connections whose hello has not been accepted.
constexpr size_t kMaxStrangers = 64;
/// A larger number in a hello is taken for a mistake.
constexpr int kMaxRanksOfMachine = 4096;

RendezvousMessage message_of(Kind kind, int round = 0) {
  RendezvousMessage message;
  message.kind = kind;
  message.round = round;
  return message;
}

}  // namespace

/// A launcher that has connected.
struct RendezvousHost::Member {
  std::unique_ptr<RendezvousLink> link;
  Clock::time_point since = Clock::now();
  std::string host;
  int processes = 0;
  bool is_known = false;  // its hello was accepted
  bool is_refused = false;
  bool is_host = false;
  bool is_in_round = false, has_ended = false, has_succeeded = false;
};

RendezvousHost::RendezvousHost(EventLoop& loop, int listener, Settings settings)
    : loop_(loop),
      listener_(listener),
      settings_(std::move(settings)),
      wanted_(size_t(settings_.max_nodes)),
      timer_(loop, kStepInterval, [this] { step(); }) {
  loop_.watch(listener_, POLLIN, [this] { accept_members(); });
}

RendezvousHost::~RendezvousHost() {
  loop_.forget(listener_);
  close(listener_);
}

void RendezvousHost::accept_members() {
  const int file = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (file < 0) return;
  const auto strangers = std::count_if(members_.begin(), members_.end(),
                                       [](const auto& member) { return !member->is_known; });
  if (size_t(strangers) >= kMaxStrangers) {
    close(file);
    return;
  }
  members_.push_back(std::make_unique<Member>());
  Member* const member = members_.back().get();
  // A lost connection is found by the next step.
  const RendezvousLink::Events events{
      [this, member](const RendezvousMessage& message) { take(*member, message); }, [] {}};
  member->link = std::make_unique<RendezvousLink>(loop_, file, settings_.heartbeat_timeout, events);
}

void RendezvousHost::take(Member& member, const RendezvousMessage& message) {
  if (!member.is_known) return greet(member, message);
  if (!member.is_in_round || message.round != round_) return;  // not of this round
  if (message.kind == Kind::kFailed) {
    if (phase_ == Phase::kRunning) end_round(printable(message.text), message.status);
  } else if (message.kind == Kind::kEnded) {
    member.has_ended = true;
    member.has_succeeded = message.succeeded;
  }
}

void RendezvousHost::greet(Member& member, const RendezvousMessage& hello) {
  if (member.is_refused) return;
  RendezvousMessage refusal = message_of(Kind::kRefused);
  if (hello.kind != Kind::kHello || !detail::equal_secrets(hello.token, settings_.token))
    refusal.text = "the token is wrong; start all launchers with the same HEARTH_RDZV_TOKEN";
  else if (hello.version != kVersion)
    refusal.text = "it has hearth " + std::string(kVersion) + ", this machine has " +
                   printable(hello.version) + "; install the same version";
  else if (hello.processes < 1 || hello.processes > kMaxRanksOfMachine)
    refusal.text = "a machine cannot run " + std::to_string(hello.processes) + " ranks";
  if (!refusal.text.empty()) {
    member.is_refused = true;
    return member.link->send(refusal);
  }
  member.is_known = true;
  member.is_host = hello.key == settings_.key;
  member.host = printable(hello.host);
  member.processes = hello.processes;
  if (phase_ == Phase::kDone) member.link->send(quit_message_);
}

/// The launchers that can run ranks, the host's own first; none until the host's own has come.
std::vector<RendezvousHost::Member*> RendezvousHost::ready() const {
  std::vector<Member*> found;
  for (const auto& member : members_)
    if (member->is_known && !member->link->is_lost()) found.push_back(member.get());
  std::stable_partition(found.begin(), found.end(),
                        [](const Member* member) { return member->is_host; });
  if (found.empty() || !found.front()->is_host) return {};
  return found;
}

size_t RendezvousHost::round_size() const {
  return size_t(std::count_if(members_.begin(), members_.end(),
                              [](const auto& member) { return member->is_in_round; }));
}

void RendezvousHost::step() {
  drop_lost();
  switch (phase_) {
    case Phase::kGathering: return gather();
    case Phase::kRunning: return watch();
    case Phase::kEnding: return finish_round();
    case Phase::kDone: return;
  }
}

void RendezvousHost::drop_lost() {
  const auto now = Clock::now();
  for (auto position = members_.begin(); position != members_.end();) {
    Member& member = **position;
    const bool is_late = !member.is_known && now - member.since > kHelloTimeout;
    if (!member.link->is_lost() && !is_late) {
      ++position;
      continue;
    }
    if (member.is_in_round && phase_ == Phase::kRunning)
      end_round("the connection to " + member.host + " was lost", kConnectionFailed);
    position = members_.erase(position);
  }
}

void RendezvousHost::gather() {
  const size_t count = ready().size(), least = size_t(settings_.min_nodes);
  const auto now = Clock::now();
  if (count < least) {
    last_call_.reset();
    if (now - gathering_since_ > kJoinTimeout)
      quit(1, "only " + counted(int64_t(count), "machine") + " of at least " +
                  std::to_string(least) + " came within " + std::to_string(kJoinTimeout.count()) +
                  " s");
    return;
  }
  if (!last_call_) last_call_ = now + kLastCall;
  if (count >= wanted_ || now >= *last_call_) start();
}

void RendezvousHost::start() {
  if (settings_.master_port)
    master_port_ = *settings_.master_port;
  else if (master_port_ == 0 || !listening_problem(settings_.master_addr, master_port_).empty())
    master_port_ = free_port(settings_.master_addr);
  std::vector<Member*> chosen = ready();
  chosen.resize(std::min(chosen.size(), size_t(settings_.max_nodes)));
  RendezvousMessage message = message_of(Kind::kStart, ++round_);
  message.token = settings_.rank_token;
  message.run_id = settings_.run_id;
  message.launch_id = settings_.launch_id;
  message.master_addr = settings_.master_addr;
  message.master_port = master_port_;
  message.nodes = static_cast<int>(chosen.size());
  message.text = reason_;
  for (const Member* member : chosen) message.world_size += member->processes;
  for (Member* member : chosen) {
    member->is_in_round = true;
    member->has_ended = member->has_succeeded = false;
    member->link->send(message);
    ++message.node;
    message.first_rank += member->processes;
  }
  phase_ = Phase::kRunning;
  last_call_.reset();
}

/// Ends the job if all ranks have succeeded, or the round if a machine can join.
void RendezvousHost::watch() {
  const bool all_succeeded = std::all_of(members_.begin(), members_.end(), [](const auto& member) {
    return !member->is_in_round || (member->has_ended && member->has_succeeded);
  });
  if (all_succeeded) return quit(0, "");
  const size_t size = round_size(), count = ready().size();
  const bool has_place = size < size_t(settings_.max_nodes);
  // A machine that joins does not end the round once ranks have ended: the job may be about to
  // succeed.
  const bool none_has_ended =
      std::none_of(members_.begin(), members_.end(),
                   [](const auto& member) { return member->is_in_round && member->has_ended; });
  if (count <= size || !has_place || !none_has_ended) return;
  end_round(counted(int64_t(count - size), "machine") + " joined", 0);
}

/// Tells the launchers of this round to end their ranks. A status of 0 stands for no failure.
void RendezvousHost::end_round(const std::string& reason, int status) {
  reason_ = reason;
  status_ = status;
  phase_ = Phase::kEnding;
  send_to_all(message_of(Kind::kEnd, round_));
}

void RendezvousHost::finish_round() {
  for (const auto& member : members_)
    if (member->is_in_round && !member->has_ended) return;
  // Without a failure, a machine has joined. After a lost connection, the machine may return.
  const bool machines_changed = status_ == 0 || status_ == kConnectionFailed;
  wanted_ = std::min(round_size() + (machines_changed ? 1 : 0), size_t(settings_.max_nodes));
  for (const auto& member : members_) member->is_in_round = false;
  if (status_ != 0 && num_restarts_ == settings_.max_restarts)
    return quit(status_, reason_ + ", so all ranks were ended");
  if (status_ != 0) {
    ++num_restarts_;
    reason_ += " (restart " + std::to_string(num_restarts_) + " of " +
               std::to_string(settings_.max_restarts) + ")";
  }
  const size_t count = ready().size();
  if (count < size_t(settings_.min_nodes))
    settings_.note("hearth: " + reason_ + ": waiting for machines, " + std::to_string(count) +
                   " of at least " + std::to_string(settings_.min_nodes) + " are there\n");
  gathering_since_ = Clock::now();
  phase_ = Phase::kGathering;
}

void RendezvousHost::send_to_all(const RendezvousMessage& message) const {
  for (const auto& member : members_)
    if (member->is_known) member->link->send(message);
}

void RendezvousHost::quit(int status, const std::string& reason) {
  if (phase_ == Phase::kDone) return;
  phase_ = Phase::kDone;
  quit_message_ = message_of(Kind::kQuit, round_);
  quit_message_.status = status;
  quit_message_.text = reason;
  send_to_all(quit_message_);
}

bool RendezvousHost::is_done() const {
  return phase_ == Phase::kDone &&
         std::all_of(members_.begin(), members_.end(),
                     [](const auto& member) { return member->link->is_flushed(); });
}

}  // namespace hearth::app
