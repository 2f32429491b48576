#include "resume.h"

#include <charconv>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string_view>

#include "../settings_file.h"
#include "config.h"
#include "hearth/error.h"

namespace hearth::app {

namespace {

/// Whether a setting only determines where or how a run computes.
bool is_place(const std::string& name) {
  return name == "device" || name == "num-workers" || name == "checkpoint-activations";
}

/// A resumed run keeps its settings; only the number of epochs and is_place() may change.
void check_resume(const CLI::App& train) {
  for (const CLI::Option* option : train.get_options()) {
    const std::string name = option->get_single_name();
    const bool may_change = name == "resume" || name == "epochs" || is_place(name);
    if (option->count() > 0 && !may_change)
      throw CLI::ValidationError("--" + name,
                                 "a resumed run keeps its settings; only --epochs, --device, "
                                 "--num-workers and --checkpoint-activations may change");
  }
}

/// Throws if --epochs would change after --search halving, which chose its runs for their number.
void check_epochs(const CLI::App& train, const std::string& config) {
  const toml::table settings = read_settings(config);
  const std::vector<std::string> given = train.get_option("--epochs")->results();
  const int64_t before = settings["epochs"].value_or(int64_t{0});
  if (settings["search"].value_or(std::string_view()) == "halving" && !given.empty() &&
      given.front() != std::to_string(before))
    throw CLI::ValidationError(
        "--epochs", detail::str("--search halving has chosen its runs for ", before, " epochs"));
}

/// Throws unless each list keeps its length: the grid of a resumed training keeps its runs.
void check_list_lengths(const CLI::App& train, const std::string& config) {
  const toml::table settings = read_settings(config);
  for (const char* name : {"device", "num-workers"}) {
    const toml::array* list = settings[name].as_array();
    const size_t given = train.get_option(std::string("--") + name)->results().size();
    if (list && given > 0 && given != list->size())
      throw CLI::ValidationError(std::string("--") + name,
                                 detail::str("the resumed training has ", list->size(),
                                             " of them, so give as many, not ", given));
  }
}

/// Opens the folder on the first process; the others know its name only.
RunFolder open(const std::string& path, const Processes& processes) {
  std::optional<RunFolder> folder;
  processes.on_first([&] { folder = RunFolder::open(path); });
  const std::string name = processes.of_first(folder ? folder->path() : "");
  return folder ? *folder : RunFolder::without_lock(name);
}

/// Takes the settings of the folder's run where no flag is given.
void take_settings(CLI::App& train, const RunFolder& folder, const Processes& processes) {
  const auto config = processes.file_of_first(folder.config());
  HEARTH_CHECK(config, "cannot read '", folder.config(), "'");
  check_list_lengths(train, config->path());
  check_epochs(train, config->path());
  apply_config(train, config->path());
}

/// A launcher's variables: how often it has started the processes again, and the name of their job.
struct LauncherVariables {
  const char *restarts, *job;
};
constexpr LauncherVariables kLaunchers[] = {{"TORCHELASTIC_RESTART_COUNT", "TORCHELASTIC_RUN_ID"},
                                            {"SLURM_RESTART_COUNT", "SLURM_JOB_ID"}};

std::string text_in(const char* variable) {
  const char* const text = std::getenv(variable);
  return text ? text : "";
}

/// The number in an environment variable of a launcher, or 0.
int number_in(const char* variable) {
  const std::string text = text_in(variable);
  if (text.empty()) return 0;
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, number);
  HEARTH_CHECK(error == std::errc() && last == end && number >= 0, "the environment variable ",
               variable, " is '", text, "', but must be a whole number of at least 0");
  return number;
}

/// Whether a launcher has started these processes again.
bool is_restart() {
  bool is_any = false;
  for (const LauncherVariables& launcher : kLaunchers)  // reads all: number_in() may throw
    is_any = number_in(launcher.restarts) > 0 || is_any;
  return is_any;
}

/// The lines of a configuration by the name of their setting.
std::map<std::string, std::string> lines_by_name(const std::string& config) {
  std::map<std::string, std::string> lines;
  std::istringstream text(config);
  for (std::string line; std::getline(text, line);) lines[line.substr(0, line.find(' '))] = line;
  return lines;
}

/// Throws if the command has other settings than the folder's run, whose automatic batch size is a
/// number by now.
void check_command(const std::vector<std::string>& given, const std::string& command,
                   const std::string& saved, const RunFolder& folder) {
  auto of_command = lines_by_name(command), of_folder = lines_by_name(saved);
  for (const std::string& name : given) {
    const std::string line = of_command[name];
    HEARTH_CHECK(line == of_folder[name] || line == "batch-size = [0]", "the run in '",
                 folder.path(), "' has '", of_folder[name], "', but the command '", line,
                 "': a restart continues a run with its own command");
  }
}

}  // namespace

RunFolder resume(CLI::App& train, const std::string& path, const Processes& processes) {
  check_resume(train);
  const RunFolder folder = open(path, processes);
  take_settings(train, folder, processes);
  return folder;
}

std::string name_of_job() {
  for (const LauncherVariables& launcher : kLaunchers)
    if (const std::string job = text_in(launcher.job); !job.empty())
      return launcher.job + ("=" + job);
  return "";
}

bool may_start_again() {
  return number_in("TORCHELASTIC_RESTART_COUNT") < number_in("TORCHELASTIC_MAX_RESTARTS") ||
         !text_in("HEARTH_NNODES").empty();
}

std::optional<RunFolder> resume_after_restart(CLI::App& train, const TrainOptions& options,
                                              const std::string& out, const Processes& processes) {
  const bool may_restart =
      number_in("TORCHELASTIC_MAX_RESTARTS") > 0 || !text_in("HEARTH_NNODES").empty();
  HEARTH_CHECK(!may_restart || !out.empty(),
               "processes that are started again (--max-restarts, --nnodes MIN:MAX) need "
               "--out FOLDER, in which they find their run");
  const bool has_run =
      is_restart() && processes.is_first() && RunFolder::holds_run_of(out, name_of_job());
  if (processes.of_first(has_run ? 1 : 0) == 0) return std::nullopt;
  const RunFolder folder = open(out, processes);
  const std::string command = config_text(options);
  std::vector<std::string> given;
  for (CLI::Option* option : train.get_options()) {
    if (!is_setting(*option) || option->count() == 0) continue;
    if (const std::string name = option->get_single_name(); name != "out" && name != "profile")
      given.push_back(name);
    option->clear();  // the folder has more, such as the chosen batch size
  }
  take_settings(train, folder, processes);
  processes.together([&] { check_command(given, command, config_text(options), folder); });
  return folder;
}

}  // namespace hearth::app
