#include "protocol.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "hearth/error.h"

namespace hearth::app {

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

template <class T>
T value_of(const Json& json, const char* key) {
  return json.at(key).get<T>();
}

/// Calls the function with the parsed text.
template <class Function>
auto decoded(const std::string& text, const Function& function) {
  try {
    return function(Json::parse(text));
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

std::string encode(const Question& question) {
  Json json{{"program", question.program},         {"directory", question.directory},
            {"interface", question.interface},     {"processes", question.processes},
            {"master_addr", question.master_addr}, {"is_master", question.is_master}};
  if (question.master_port) json["master_port"] = *question.master_port;
  return exact(json);
}

std::string encode(const Answer& answer) {
  return readable({{"version", answer.version},
                   {"processes", answer.processes},
                   {"port", answer.port},
                   {"problems", answer.problems}});
}

std::string encode(const Task& task) {
  const NodeJob& job = task.job;
  return exact({{"command", job.command},
                {"directory", job.directory},
                {"environment", job.environment},
                {"node", job.node},
                {"nodes", job.nodes},
                {"first_rank", job.first_rank},
                {"local_size", job.local_size},
                {"world_size", job.world_size},
                {"master_addr", job.master_addr},
                {"master_port", job.master_port},
                {"token", job.token},
                {"restart", job.restart},
                {"max_restarts", job.max_restarts},
                {"host", task.host},
                {"grace", task.grace}});
}

std::string encode(const Failure& failure) {
  return readable({{"rank", failure.rank},
                   {"local_rank", failure.local_rank},
                   {"process", failure.process},
                   {"host", failure.host},
                   {"status", failure.status},
                   {"time", failure.time},
                   {"last_lines", failure.last_lines}});
}

Question decode_question(const std::string& text) {
  return decoded(text, [](const Json& json) {
    Question question;
    for (auto [key, member] :
         {std::pair("program", &question.program), std::pair("directory", &question.directory),
          std::pair("interface", &question.interface), std::pair("processes", &question.processes),
          std::pair("master_addr", &question.master_addr)})
      *member = value_of<std::string>(json, key);
    question.is_master = value_of<bool>(json, "is_master");
    if (json.contains("master_port")) question.master_port = value_of<int>(json, "master_port");
    return question;
  });
}

Answer decode_answer(const std::string& text) {
  return decoded(text, [](const Json& json) {
    // Another version may have other members.
    return Answer{value_of<std::string>(json, "version"), json.value("processes", 0),
                  json.value("port", 0), json.value("problems", std::vector<std::string>())};
  });
}

Task decode_task(const std::string& text) {
  return decoded(text, [](const Json& json) {
    NodeJob job;
    job.command = value_of<std::vector<std::string>>(json, "command");
    job.directory = value_of<std::string>(json, "directory");
    job.environment = value_of<std::map<std::string, std::string>>(json, "environment");
    for (auto [key, member] :
         {std::pair("node", &job.node), std::pair("nodes", &job.nodes),
          std::pair("first_rank", &job.first_rank), std::pair("local_size", &job.local_size),
          std::pair("world_size", &job.world_size), std::pair("master_port", &job.master_port),
          std::pair("restart", &job.restart), std::pair("max_restarts", &job.max_restarts)})
      *member = value_of<int>(json, key);
    job.master_addr = value_of<std::string>(json, "master_addr");
    job.token = value_of<std::string>(json, "token");
    return Task{std::move(job), value_of<std::string>(json, "host"), value_of<int>(json, "grace")};
  });
}

Failure decode_failure(const std::string& text) {
  return decoded(text, [](const Json& json) {
    return Failure{value_of<int>(json, "rank"),
                   value_of<int>(json, "local_rank"),
                   value_of<pid_t>(json, "process"),
                   value_of<std::string>(json, "host"),
                   value_of<int>(json, "status"),
                   value_of<std::string>(json, "time"),
                   value_of<std::vector<std::string>>(json, "last_lines")};
  });
}

std::string signal_line(int signal) { return kSignal + std::to_string(signal); }

std::optional<int> decode_signal(const std::string& line) {
  if (!line.starts_with(kSignal)) return {};
  return number_in(line, std::string(kSignal).size());
}

}  // namespace hearth::app
