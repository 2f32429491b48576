#include "running_jobs.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace hearth::app {

namespace {

namespace fs = std::filesystem;

/// The texts of a file in which a null character ends each.
std::vector<std::string> texts_in(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::string> texts;
  for (std::string text; std::getline(file, text, '\0');) texts.push_back(text);
  return texts;
}

std::map<std::string, std::string> environment_of(const fs::path& process) {
  std::map<std::string, std::string> values;
  for (const std::string& entry : texts_in(process / "environ"))
    if (const size_t equals = entry.find('='); equals != std::string::npos)
      values.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  return values;
}

/// 0 if the text is no number.
int number_in(const std::string& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

std::string command_of(const fs::path& process) {
  std::string line;
  for (const std::string& word : texts_in(process / "cmdline"))
    line += (line.empty() ? "" : " ") + word;
  return line;
}

}  // namespace

std::string RunningJob::endpoint() const {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::vector<RunningJob> running_jobs(const std::string& processes) {
  std::vector<RunningJob> jobs;
  std::error_code error;
  // Only the environments of this user's processes can be read.
  for (auto entry = fs::directory_iterator(processes, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (number_in(name) == 0 || name == std::to_string(getpid())) continue;
    auto values = environment_of(entry->path());
    const RunningJob job{values["MASTER_ADDR"], number_in(values["MASTER_PORT"]),
                         values["HEARTH_RDZV_TOKEN"], command_of(entry->path())};
    const bool is_known = std::any_of(jobs.begin(), jobs.end(), [&](const RunningJob& other) {
      return other.endpoint() == job.endpoint();
    });
    if (values["RANK"].empty() || job.host.empty() || job.port == 0 || is_known) continue;
    jobs.push_back(job);
  }
  return jobs;
}

}  // namespace hearth::app
