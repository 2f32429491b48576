#include "elastic_run.h"

#include <cerrno>

#include "../names.h"
#include "address.h"
#include "hearth/error.h"
#include "local_ranks.h"
#include "protocol.h"
#include "random_text.h"
#include "waiting.h"

namespace hearth::app {

using Kind = RendezvousMessage::Kind;

namespace {

/// The longest wait for the launcher that hosts the rendezvous, and the pause between two tries to
/// connect to it.
constexpr std::chrono::seconds kHostTimeout{600}, kBetweenTries{1};
/// If no ranks have started after this time, a note says what the launcher waits for.
constexpr std::chrono::seconds kSilentWait{4};
/// The longest wait until the other launchers have been told that the job has ended.
constexpr std::chrono::seconds kFarewell{5};

}  // namespace

ElasticRun::ElasticRun(const Context& context, Console& console, const LaunchOptions& options,
                       NodeJob job)
    : context_(context), console_(console), options_(options), job_(std::move(job)) {
  Endpoint endpoint;
  parse_endpoint(options.endpoint, endpoint);
  host_ = endpoint.host;
  port_ = endpoint.port.value_or(kDefaultPort);
}

ElasticRun::~ElasticRun() = default;

int ElasticRun::run() {
  host_rendezvous();
  const std::string reason = "the launcher at " + printable(host_) + " has ended";
  try {
    const int status = take_part();
    say_farewell(reason);
    return status;
  } catch (const Error& error) {
    say_farewell(reason + ": " + error.msg());
    throw;
  }
}

/// Tells the other launchers that the job has ended, if this one hosts the rendezvous. The reason
/// is for those that still run ranks.
void ElasticRun::say_farewell(const std::string& reason) {
  if (!rendezvous_) return;
  rendezvous_->quit(kConnectionFailed, reason);
  wait([this] { return rendezvous_->is_done(); }, EventLoop::Clock::now() + kFarewell);
}

/// Hosts the rendezvous if the endpoint is an address of this machine and its port is free.
void ElasticRun::host_rendezvous() {
  std::string problem;
  HEARTH_CHECK(!resolve(host_, problem).empty(), problem);
  const int listener = open_listener(host_, port_, problem);
  if (listener < 0) {
    const bool is_elsewhere = listener == -EADDRNOTAVAIL || listener == -EADDRINUSE;
    HEARTH_CHECK(is_elsewhere, problem);
    return;
  }
  warn_of_loopback(listener);
  key_ = random_text();
  RendezvousHost::Settings settings;
  settings.min_nodes = options_.nodes->min;
  settings.max_nodes = options_.nodes->max;
  settings.max_restarts = options_.max_restarts;
  settings.heartbeat_timeout = std::chrono::seconds(options_.heartbeat_timeout);
  settings.token = options_.token;
  settings.key = key_;
  settings.master_addr = host_;
  settings.master_port = options_.master_port;
  settings.rank_token = options_.token.empty() ? random_text() : options_.token;
  settings.run_id = options_.run_id.empty() ? random_text() : options_.run_id;
  settings.launch_id = random_text();
  settings.note = [this](const std::string& text) { console_.note(text); };
  rendezvous_ = std::make_unique<RendezvousHost>(context_.loop, listener, std::move(settings));
}

void ElasticRun::warn_of_loopback(int listener) {
  const std::string address = loopback_address(listener);
  if (address.empty() || options_.nodes->max == 1) return;
  console_.note("hearth: the launchers meet at " + address +
                ", which other machines cannot reach; give --rdzv-endpoint an address of this "
                "machine that they reach\n");
}

/// Connects to the rendezvous. Returns the signal if one asks to end, or 0.
int ElasticRun::connect() {
  const auto deadline = EventLoop::Clock::now() + kHostTimeout;
  std::string problem;
  int file = open_connection(host_, port_, problem);
  if (file < 0)
    console_.note("hearth: waiting for the launcher at " + printable(options_.endpoint) +
                  " (Ctrl-C ends)\n");
  while (file < 0) {
    HEARTH_CHECK(EventLoop::Clock::now() < deadline, problem);
    const int signal = wait([] { return false; }, EventLoop::Clock::now() + kBetweenTries);
    if (signal) return signal;
    problem.clear();
    file = open_connection(host_, port_, problem);
  }
  const RendezvousLink::Events events{[this](const RendezvousMessage& message) { take(message); },
                                      [this] { end_ranks(); }};
  link_ = std::make_unique<RendezvousLink>(
      context_.loop, file, std::chrono::seconds(options_.heartbeat_timeout), events);
  RendezvousMessage hello;
  hello.kind = Kind::kHello;
  hello.version = kVersion;
  hello.host = host_name();
  hello.processes = job_.local_size;
  hello.token = options_.token;
  hello.key = key_;
  link_->send(hello);
  return 0;
}

void ElasticRun::take(const RendezvousMessage& message) {
  switch (message.kind) {
    case Kind::kStart: start_ = message; break;
    case Kind::kEnd:
      ended_round_ = message.round;
      if (message.round == round_) end_ranks();
      break;
    case Kind::kRefused:
    case Kind::kQuit:
      quit_ = message;
      end_ranks();
      break;
    default: break;
  }
}

/// Ends the ranks that run, because the job does not go on with them.
void ElasticRun::end_ranks() {
  if (supervisor_) supervisor_->end();
}

int ElasticRun::take_part() {
  if (const int signal = connect()) return stop(signal);
  bool is_first_wait = true;
  while (true) {
    const auto is_awaited = [this] { return start_ || has_ended(); };
    int signal = wait(is_awaited, EventLoop::Clock::now() + kSilentWait);
    if (!signal && !is_awaited()) {
      if (is_first_wait)
        console_.note("hearth: waiting for the other machines of the job (Ctrl-C ends)\n");
      signal = wait(is_awaited);
    }
    if (signal) return stop(signal);
    if (has_ended()) return finish();
    is_first_wait = false;
    if (const int stopped_by = run_round()) return stop(stopped_by);
  }
}

/// Takes the ranks of this machine, and the job's addresses and ids, from a kStart message.
void ElasticRun::begin_round(const RendezvousMessage& start) {
  round_ = start.round;
  job_.node = start.node;
  job_.nodes = start.nodes;
  job_.first_rank = start.first_rank;
  job_.world_size = start.world_size;
  job_.master_addr = start.master_addr;
  job_.master_port = start.master_port;
  job_.token = start.token;
  job_.run_id = start.run_id;
  job_.launch_id = start.launch_id;
  job_.restart = start.round - 1;
  if (!start.text.empty())
    console_.note("hearth: all ranks are started again: " + printable(start.text) + ", " +
                  counted(start.nodes, "machine") + ", " + counted(start.world_size, "rank") +
                  "\n");
  console_.begin_attempt(job_.restart);
}

/// Runs this machine's ranks once. Returns the signal by which the user has ended them, or 0.
int ElasticRun::run_round() {
  begin_round(*start_);
  start_.reset();
  Supervisor supervisor(context_.loop, context_.signals, std::chrono::seconds(options_.grace));
  const RankEvents events{[this](const RankLine& line) { console_.add(line); },
                          [&](const Failure& failure) { report_failure(failure, supervisor); }};
  LocalRanks ranks(context_, job_, host_name(), events);
  supervisor_ = &supervisor;
  if (must_end()) end_ranks();
  supervisor.run(ranks);
  supervisor_ = nullptr;
  if (!supervisor.failures().empty())
    console_.note(failure_report(options_.command[0], supervisor.failures()));
  if (supervisor.signal()) return supervisor.signal();
  RendezvousMessage ended;
  ended.kind = Kind::kEnded;
  ended.round = round_;
  ended.succeeded = supervisor.failures().empty() && !must_end();
  link_->send(ended);
  return 0;
}

void ElasticRun::report_failure(const Failure& failure, Supervisor& supervisor) {
  if (!supervisor.is_ending()) {
    RendezvousMessage failed;
    failed.kind = Kind::kFailed;
    failed.round = round_;
    failed.status = exit_code(failure);
    failed.text = "rank " + std::to_string(failure.rank) + " on " + failure.host + " failed with " +
                  ending(failure);
    link_->send(failed);
  }
  supervisor.failed(failure);
}

int ElasticRun::wait(const std::function<bool()>& is_done,
                     std::optional<EventLoop::Clock::time_point> until) const {
  return wait_until(context_.loop, context_.signals, is_done, until);
}

int ElasticRun::stop(int signal) {
  console_.note("hearth: stopped by " + signal_name(signal) + "\n");
  return 128 + signal;
}

/// The exit code at the end of the job.
int ElasticRun::finish() {
  HEARTH_CHECK(!quit_ || quit_->kind != Kind::kRefused, "the launcher at ",
               printable(options_.endpoint), " refused this one: ", printable(quit_->text));
  if (!quit_) {
    console_.note("hearth: the connection to the launcher at " + printable(options_.endpoint) +
                  " was lost, so all ranks were ended\n");
    return kConnectionFailed;
  }
  if (!quit_->text.empty()) console_.note("hearth: " + printable(quit_->text) + "\n");
  return quit_->status;
}

}  // namespace hearth::app
