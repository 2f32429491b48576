#pragma once

#include <optional>
#include <string>

namespace hearth::app {

/// A message between a launcher of an elastic job and the one that hosts the rendezvous. Messages
/// are lines of JSON; both sides repeat kAlive.
///
/// A launcher begins with kHello, which the host may answer with kRefused. When enough machines
/// are there, the host starts a round by kStart, which gives each launcher its ranks. A launcher
/// sends kFailed when a rank fails, and kEnded when its ranks have ended; kEnd asks it to end them.
/// After kEnded follows kStart or, at the end of the job, kQuit.
struct RendezvousMessage {
  enum class Kind { kNone, kHello, kRefused, kStart, kEnd, kFailed, kEnded, kQuit, kAlive };
  Kind kind = Kind::kNone;
  int round = 0;              // of kStart, kEnd, kFailed, kEnded, kQuit
  std::string version, host;  // of kHello: the program's version, the machine's name
  int processes = 0;          // of kHello: the number of ranks that the machine runs
  std::string token;          // of kHello: the secret of the job; of kStart: that of the ranks
  std::string key;            // of kHello: proves that the launcher hosts the rendezvous
  // Of kStart.
  int node = 0, nodes = 0, first_rank = 0, world_size = 0, master_port = 0;
  std::string master_addr, run_id, launch_id;
  bool succeeded = false;  // of kEnded: all ranks have succeeded
  int status = 0;          // of kFailed, kQuit: the exit code
  std::string text;        // the reason, for people
};

/// JSON on one line.
std::string encode(const RendezvousMessage& message);
/// None if the line is malformed.
std::optional<RendezvousMessage> decode_rendezvous(const std::string& line);

}  // namespace hearth::app
