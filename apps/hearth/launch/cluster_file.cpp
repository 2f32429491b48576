#include "cluster_file.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>

#include "../choices.h"
#include "../names.h"
#include "../settings_file.h"
#include "hearth/error.h"
#include "job.h"
#include "options.h"

namespace hearth::app {

namespace {

/// The keys that a cluster file may have for all hosts and for each.
const std::vector<std::string> kSharedKeys{"user",      "port",   "processes", "gpus",
                                           "directory", "hearth", "interface", "environment"};

/// A table of the file. The functions throw if a value is not of the wanted kind.
class Section {
 public:
  Section(const std::string& path, const toml::table& table, std::vector<std::string> known)
      : path_(path), table_(table) {
    for (const auto& [key, node] : table)
      if (std::find(known.begin(), known.end(), key.str()) == known.end())
        refuse(node, unknown_name("key", std::string(key.str()), known));
  }

  bool has(const char* key) const { return table_.contains(key); }

  /// A text that is not empty, cannot be taken for an option and has no control characters.
  void read(const char* key, std::string& text) const {
    if (!has(key)) return;
    const toml::node& node = *table_.get(key);
    const auto value = node.value_exact<std::string>();
    if (!value) refuse(node, quoted(key) + " must be a string");
    if (value->empty()) refuse(node, quoted(key) + " is empty");
    if (value->front() == '-') refuse(node, quoted(key) + " must not begin with '-'");
    if (printable(*value) != *value) refuse(node, quoted(key) + " has control characters");
    text = *value;
  }

  /// A text that also has no spaces, quotes, '@' or '/', such as an address.
  void read_word(const char* key, std::string& text) const {
    read(key, text);
    if (has(key) && text.find_first_of(" \t@/'\"") != std::string::npos)
      refuse(*table_.get(key),
             quoted(key) + " must not contain spaces, quotes, '@' or '/': '" + text + "'");
  }

  void read_port(const char* key, int& port) const {
    if (!has(key)) return;
    const auto value = table_.get(key)->value_exact<int64_t>();
    if (!value || *value < 1 || *value > 65535)
      refuse(*table_.get(key), quoted(key) + " must be a whole number from 1 to 65535");
    port = static_cast<int>(*value);
  }

  void read_processes(std::string& processes) const {
    if (!has("processes")) return;
    const toml::node& node = *table_.get("processes");
    const auto number = node.value_exact<int64_t>();
    const auto text = node.value_exact<std::string>();
    if (!number && !text)
      refuse(node, "'processes' must be a whole number, \"auto\", \"cpu\" or \"gpu\"");
    processes = number ? std::to_string(*number) : *text;
    if (const std::string error = check_processes(processes); !error.empty())
      refuse(node, "'processes': " + error);
  }

  void read_gpus(std::optional<std::vector<std::string>>& gpus) const {
    if (!has("gpus")) return;
    const toml::node& node = *table_.get("gpus");
    if (!node.is_array()) refuse(node, "'gpus' must be a list, for example [0, 1]");
    gpus.emplace();
    for (const toml::node& item : *node.as_array()) gpus->push_back(gpu(item, *gpus));
  }

  void read_environment(std::map<std::string, std::string>& environment) const {
    if (!has("environment")) return;
    const toml::node& node = *table_.get("environment");
    if (!node.is_table()) refuse(node, "'environment' must be a table of variables");
    for (const auto& [key, value] : *node.as_table())
      environment[std::string(key.str())] = variable(std::string(key.str()), value);
  }

  [[noreturn]] void refuse(const toml::node& node, const std::string& reason) const {
    throw CLI::ValidationError(location(path_, node), reason);
  }

 private:
  static std::string quoted(const std::string& key) { return "'" + key + "'"; }

  std::string gpu(const toml::node& node, const std::vector<std::string>& others) const {
    const auto number = node.value_exact<int64_t>();
    const auto text = node.value_exact<std::string>();
    const bool is_name = text && (text->starts_with("GPU-") || text->starts_with("MIG-")) &&
                         text->find(',') == std::string::npos;
    if (!is_name && !(number && *number >= 0))
      refuse(node, "a GPU must be a number (0, 1, ...) or a name such as \"GPU-8932f937\"");
    const std::string id = number ? std::to_string(*number) : *text;
    if (std::find(others.begin(), others.end(), id) != others.end())
      refuse(node, "'gpus' has " + id + " twice");
    return id;
  }

  std::string variable(const std::string& name, const toml::node& node) const {
    const bool is_name = !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
                         std::all_of(name.begin(), name.end(), [](unsigned char character) {
                           return std::isalnum(character) || character == '_';
                         });
    if (!is_name) refuse(node, "'" + printable(name) + "' is not a name of a variable");
    const std::vector<std::string>& own = rank_variables();
    if (std::find(own.begin(), own.end(), name) != own.end())
      refuse(node, "'" + name + "' is set by hearth launch itself");
    if (const auto number = node.value_exact<int64_t>()) return std::to_string(*number);
    const auto text = node.value_exact<std::string>();
    if (!text) refuse(node, "'" + name + "' must be a string or a whole number");
    if (text->find('\0') != std::string::npos) refuse(node, "'" + name + "' has a zero byte");
    return *text;
  }

  const std::string& path_;
  const toml::table& table_;
};

/// The settings that can be given for the whole file and for each of its hosts.
struct Settings {
  Host host;
  std::optional<std::vector<std::string>> gpus;

  void read(const Section& section) {
    section.read_word("user", host.user);
    section.read_port("port", host.port);
    section.read_processes(host.processes);
    section.read_gpus(gpus);
    section.read("directory", host.directory);
    section.read("hearth", host.hearth);
    section.read_word("interface", host.interface);
    section.read_environment(host.environment);
  }
};

/// Checks a host and sets the variables and the number of processes that follow from other keys.
Host finished(Settings settings, const Section& section, const toml::node& node) {
  Host& host = settings.host;
  if (!host.directory.empty() && host.directory.front() != '/')
    section.refuse(node, "'directory' must be an absolute path, which begins with '/'");
  if (!host.interface.empty())
    for (const char* name : {"HEARTH_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"})
      host.environment.emplace(name, host.interface);
  if (settings.gpus)
    host.environment.emplace("CUDA_VISIBLE_DEVICES", CLI::detail::join(*settings.gpus, ","));
  const size_t num_gpus = settings.gpus ? settings.gpus->size() : 0;
  if (host.processes.empty()) host.processes = std::to_string(std::max<size_t>(num_gpus, 1));
  const int processes = std::atoi(host.processes.c_str());  // 0 for a word such as "auto"
  if (num_gpus > 0 && processes > int(num_gpus))
    section.refuse(node, host.name + " has " + host.processes +
                             " processes, but 'gpus' lists only " + std::to_string(num_gpus));
  return host;
}

Host read_host(const std::string& path, Settings settings, const toml::node& node) {
  if (!node.is_table())
    throw CLI::ValidationError(location(path, node), "a host must be a table, [[host]]");
  std::vector<std::string> known{"name", "address"};
  known.insert(known.end(), kSharedKeys.begin(), kSharedKeys.end());
  const Section section(path, *node.as_table(), known);
  section.read_word("address", settings.host.address);
  if (settings.host.address.empty()) section.refuse(node, "a host has no 'address'");
  settings.host.name = settings.host.address;
  section.read_word("name", settings.host.name);
  settings.read(section);
  return finished(std::move(settings), section, node);
}

}  // namespace

Cluster read_cluster(const std::string& path) {
  const toml::table table = read_settings(path);
  std::vector<std::string> known{"host", "master-port"};
  known.insert(known.end(), kSharedKeys.begin(), kSharedKeys.end());
  const Section section(path, table, known);
  Cluster cluster;
  Settings defaults;
  defaults.read(section);
  int port = 0;
  section.read_port("master-port", port);
  if (port) cluster.master_port = port;
  const toml::array* hosts = table["host"].as_array();
  if (!hosts || hosts->empty())
    throw CLI::ValidationError(path, "the file has no [[host]], so there is no machine");
  std::set<std::string> names, places;
  for (const toml::node& node : *hosts) {
    const Host host = read_host(path, defaults, node);
    const std::string place = host.user + "@" + host.address + ":" + std::to_string(host.port);
    if (!names.insert(host.name).second)
      section.refuse(node, "two hosts have the name '" + host.name + "'");
    if (!places.insert(place).second)
      section.refuse(node, "two hosts have the address '" + host.address + "'");
    cluster.hosts.push_back(host);
  }
  return cluster;
}

}  // namespace hearth::app
