#include "settings.h"

#include <nlohmann/json.hpp>

#include "../text_table.h"
#include "hearth/error.h"
#include "models.h"
#include "schedule.h"

namespace hearth::app {

namespace {

constexpr const char *kModel = "model", *kChecksum = "_checksum",
                     *kScheduledEpochs = "scheduled_epochs", *kScheduledSteps = "scheduled_steps",
                     *kClassNames = "class_names";

/// "1x28x28".
std::string sizes_text(IntArrayRef sizes) {
  std::string text;
  for (const int64_t size : sizes) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

std::string text_of(const std::string& value) { return value; }
std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(double value) { return shortest(value); }
std::string text_of(int64_t value) { return std::to_string(value); }
std::string text_of(uint64_t value) { return std::to_string(value); }
std::string text_of(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ",") + value;
  return text.empty() ? "none" : text;
}
template <class T>
std::string text_of(const std::optional<T>& value) {
  return value ? text_of(*value) : "none";
}

/// The settings that determine the results, as texts.
io::Metadata texts_of(const TrainOptions& options) {
  io::Metadata texts;
  for_each_setting(options, [&](const char* name, const auto& value, Effect effect) {
    if (effect == Effect::kResults) texts.emplace_back(identifier(name), text_of(value));
  });
  return texts;
}

/// The value of a setting that a checkpoint of an older version lacks: the default, or the present
/// one if the value cannot be known; nullopt if checkpoints of all versions have the setting.
std::optional<std::string> value_if_missing(const std::string& name, const std::string& value) {
  static const io::Metadata defaults = texts_of({});
  if (name.ends_with(kChecksum) || name == kClassNames || name == kScheduledSteps) return value;
  for (const auto& [setting, text] : defaults)
    if (setting == name) return text;
  return std::nullopt;
}

void check_same(serialize::InputArchive& archive, const io::Metadata& expected) {
  for (const auto& [name, value] : expected) {
    std::string saved;
    const auto missing = archive.contains(name) ? std::nullopt : value_if_missing(name, value);
    if (missing)
      saved = *missing;
    else
      archive.read(name, saved);  // throws if it is not there
    if (name == kModel) saved = current_model_name(saved);
    HEARTH_CHECK(saved == value || name != kScheduledEpochs,
                 "the schedule of this run was made for ", saved,
                 " epochs: resume it with --epochs ", saved);
    HEARTH_CHECK(saved == value || name != kScheduledSteps,
                 "the schedule of this run was made for ", saved, " steps, but would have ", value,
                 ": resume it with as many processes as before");
    HEARTH_CHECK(saved == value, name, " is ", value, ", but was ", saved,
                 " in this run: config.toml or the data has changed");
  }
}

}  // namespace

Settings::Settings(const TrainOptions& options, const RunOptions& run, const DataSets& data,
                   int64_t steps_per_epoch)
    : network_{{"classes", std::to_string(data.classes)},
               {"image_size", sizes_text(data.train.input_sizes())}} {
  for (const auto& [name, text] : texts_of(options))
    if (name == kModel)
      network_.emplace(network_.begin(), name, text);
    else
      training_.emplace_back(name, text);
  training_.insert(training_.end(), {{"training_images", std::to_string(data.train.count())},
                                     {"test_images", std::to_string(data.test.count())},
                                     {"lr", shortest(run.lr)},
                                     {"batch_size", std::to_string(run.batch_size)}});
  if (!data.class_names.empty())
    network_.emplace_back(kClassNames,
                          nlohmann::json(data.class_names)
                              .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  if (data.standard)
    standard_ = {{kMean, nlohmann::json(data.standard->mean).dump()},
                 {kDeviation, nlohmann::json(data.standard->deviation).dump()}};
  if (Schedule::depends_on_length(options.scheduler))
    training_.emplace_back(kScheduledEpochs, std::to_string(options.epochs));
  if (Schedule::depends_on_step_count(options.scheduler))
    training_.emplace_back(kScheduledSteps, std::to_string(options.epochs * steps_per_epoch));
  for (const auto& [name, checksum] : data.checksums)
    data_.emplace_back(name + kChecksum, checksum);
}

void Settings::save(serialize::OutputArchive& archive) const {
  for (const io::Metadata* part : {&network_, &training_, &data_, &standard_})
    for (const auto& [name, value] : *part) archive.write(name, value);
}

void Settings::load(serialize::InputArchive& archive) const {
  for (const io::Metadata* part : {&training_, &network_, &data_}) check_same(archive, *part);
}

}  // namespace hearth::app
