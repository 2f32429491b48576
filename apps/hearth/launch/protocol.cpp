#include "protocol.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "hearth/error.h"

namespace hearth::app {

// The members that are sent. An answer may come from another version, with other members.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Question, program, directory, interface, processes, master_addr,
                                   master_port, is_master)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Answer, version, processes, port, program,
                                                master_addresses, problems)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NodeJob, command, directory, environment, node, nodes,
                                   first_rank, local_size, world_size, master_addr, master_port,
                                   token, run_id, launch_id, restart, max_restarts)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Task, job, host, grace)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Failure, rank, local_rank, process, host, status, time,
                                   last_lines)

namespace {

using Json = nlohmann::json;

constexpr char kFrameMark = '\x1e';
constexpr const char* kSignal = "signal ";

/// The text of messages that must arrive unchanged.
std::string exact(const Json& json) {
  try {
    return json.dump();
  } catch (const Json::exception&) {
    HEARTH_CHECK(false, "arguments and variables for other machines must be valid UTF-8");
  }
}

/// The text of messages that people read.
std::string readable(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <class Message>
Message decoded(const std::string& text) {
  try {
    return Json::parse(text).get<Message>();
  } catch (const Json::exception& error) {
    HEARTH_CHECK(false, "a message of another version of hearth: ", error.what());
  }
}

std::optional<int> number_in(const std::string& text, size_t begin) {
  int number = 0;
  const char* end = text.data() + text.size();
  if (begin > text.size()) return {};
  const auto [stop, error] = std::from_chars(text.data() + begin, end, number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

}  // namespace

const char* const kVersion = HEARTH_VERSION;

std::string encode(const Frame& frame) {
  std::string line{kFrameMark, static_cast<char>(frame.kind)};
  const bool is_output = frame.kind == Frame::Kind::kOut || frame.kind == Frame::Kind::kErr;
  if (is_output) line += std::to_string(frame.local_rank) + " ";
  return line + frame.text + "\n";
}

std::optional<Frame> decode_frame(const std::string& line) {
  if (line.size() < 2 || line[0] != kFrameMark) return {};
  Frame frame{static_cast<Frame::Kind>(line[1]), 0, line.substr(2)};
  switch (frame.kind) {
    case Frame::Kind::kAnswer:
    case Frame::Kind::kFailure:
    case Frame::Kind::kAlive:
    case Frame::Kind::kDone: return frame;
    case Frame::Kind::kOut:
    case Frame::Kind::kErr: {
      const auto rank = number_in(line, 2);
      const size_t space = line.find(' ');
      if (!rank || *rank < 0 || space == std::string::npos) return {};
      frame.local_rank = *rank;
      frame.text = line.substr(space + 1);
      return frame;
    }
  }
  return {};
}

std::string encode(const Question& question) { return exact(question); }
std::string encode(const Answer& answer) { return readable(answer); }
std::string encode(const Task& task) { return exact(task); }
std::string encode(const Failure& failure) { return readable(failure); }

Question decode_question(const std::string& text) { return decoded<Question>(text); }
Answer decode_answer(const std::string& text) { return decoded<Answer>(text); }
Task decode_task(const std::string& text) { return decoded<Task>(text); }
Failure decode_failure(const std::string& text) { return decoded<Failure>(text); }

std::string signal_line(int signal) { return kSignal + std::to_string(signal); }

std::optional<int> decode_signal(const std::string& line) {
  if (!line.starts_with(kSignal)) return {};
  return number_in(line, std::string(kSignal).size());
}

}  // namespace hearth::app
