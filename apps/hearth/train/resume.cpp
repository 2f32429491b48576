#include "resume.h"

#include <cstdlib>

#include "../settings_file.h"
#include "config.h"
#include "hearth/error.h"

namespace hearth::app {

namespace {

/// Whether a setting says where a run computes, and not what.
bool is_place(const std::string& name) { return name == "device" || name == "num-workers"; }

/// A resumed run keeps its settings; only the number of epochs, the devices and the workers may
/// change.
void check_resume(const CLI::App& train) {
  for (const CLI::Option* option : train.get_options()) {
    const std::string name = option->get_single_name();
    const bool may_change = name == "resume" || name == "epochs" || is_place(name);
    if (option->count() > 0 && !may_change)
      throw CLI::ValidationError("--" + name,
                                 "a resumed run keeps its settings; only --epochs, "
                                 "--device and --num-workers may change");
  }
}

/// The grid of a resumed training keeps its runs, so each list keeps its length.
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
  return folder ? *folder : RunFolder::of_first_process(name);
}

/// Takes the settings of the folder's run where no flag is given.
void take_settings(CLI::App& train, const RunFolder& folder, const Processes& processes) {
  const auto config = processes.file_of_first(folder.config());
  HEARTH_CHECK(config, "cannot read '", folder.config(), "'");
  check_list_lengths(train, config->path());
  apply_config(train, config->path());
}

/// The number in an environment variable of the launcher, or 0.
int number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  return text ? std::atoi(text) : 0;
}

}  // namespace

RunFolder resume(CLI::App& train, const std::string& path, const Processes& processes) {
  check_resume(train);
  const RunFolder folder = open(path, processes);
  take_settings(train, folder, processes);
  return folder;
}

std::optional<RunFolder> resume_after_restart(CLI::App& train, const std::string& out,
                                              const Processes& processes) {
  HEARTH_CHECK(number_in("HEARTH_MAX_RESTARTS") == 0 || !out.empty(),
               "processes that are started again (--max-restarts) need --out FOLDER, in which they "
               "find their run");
  if (number_in("HEARTH_RESTART_COUNT") == 0) return std::nullopt;
  const bool has_run = processes.is_first() && RunFolder::holds_run(out);
  if (processes.of_first(has_run ? 1 : 0) == 0) return std::nullopt;
  const RunFolder folder = open(out, processes);
  for (CLI::Option* option : train.get_options())  // the folder knows more, as an automatic size
    if (is_setting(*option)) option->clear();
  take_settings(train, folder, processes);
  return folder;
}

}  // namespace hearth::app
