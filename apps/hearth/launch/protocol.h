// The messages between `hearth launch --cluster` and the agents that it starts by ssh. The launcher
// writes lines to the agent's stdin: a question, then a task, then signals. The agent writes frames
// to its stdout; lines that are no frames come from the login shell. Both repeat a sign of life.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "failure.h"
#include "job.h"
#include "lines.h"

namespace hearth::app {

/// The version of this program, which agents must have, too.
extern const char* const kVersion;

/// The sign of life for an agent.
constexpr const char* kAliveLine = "alive";

/// A message with more bytes would be split. A frame has room for a line of a rank, and a line for
/// a Task: Linux limits arguments and variables to 6 MiB, of which JSON makes at most 36 MiB.
constexpr size_t kLongestMessage = 16 * kLongestLine;

/// Asks an agent to check its machine before ranks are started.
struct Question {
  std::string program, directory, interface;
  std::string processes;  // "auto", "cpu", "gpu" or a number
  std::string master_addr;
  int master_port = 0;     // 0: a free one
  bool is_master = false;  // this machine has rank 0
};

/// An agent's answer to a Question.
struct Answer {
  std::string version;
  int processes = 0;
  int port = 0;                               // of the master; from the first machine only
  std::string program;                        // its fingerprint
  std::vector<std::string> master_addresses;  // to which the master's name resolves
  std::vector<std::string> problems;
};

/// The ranks that an agent has to run.
struct Task {
  NodeJob job;
  std::string host;  // the machine's name in the cluster file
  int grace = 0;     // seconds
};

/// A line of an agent's output.
struct Frame {
  enum class Kind : char {
    kAnswer = 'a',
    kOut = 'o',
    kErr = 'e',
    kFailure = 'f',
    kAlive = 'l',
    kDone = 'd'
  };
  Kind kind;
  int local_rank = 0;  // of kOut and kErr
  std::string text;
};

std::string encode(const Frame& frame);
/// None if the line is not a frame.
std::optional<Frame> decode_frame(const std::string& line);

// JSON on one line. Decoding throws if the text is malformed.
std::string encode(const Question& question);
std::string encode(const Answer& answer);
std::string encode(const Task& task);
std::string encode(const Failure& failure);
Question decode_question(const std::string& text);
Answer decode_answer(const std::string& text);
Task decode_task(const std::string& text);
Failure decode_failure(const std::string& text);

/// "signal 15", a line to an agent.
std::string signal_line(int signal);
std::optional<int> decode_signal(const std::string& line);

}  // namespace hearth::app
