#include "divergence.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "hearth/hearth.h"
#include "hearth/io/file.h"

namespace hearth::app {

namespace {

using Json = nlohmann::ordered_json;

bool all_finite(const Tensor& tensor) { return tensor.isfinite().all().item<bool>(); }

std::string divergence_path(const std::string& run_folder) { return run_folder + "/diverged.json"; }

}  // namespace

std::string divergence_reason(const nn::Module& model) {
  const auto message = [](const std::string& name, const char* kind) {
    return "'" + name + "' is the first parameter with a " + kind +
           " that is not finite. Try a smaller --lr.";
  };
  const auto parameters = model.named_parameters();
  for (const auto& parameter : parameters)
    if (!all_finite(parameter.value())) return message(parameter.key(), "value");
  for (const auto& parameter : parameters)
    if (const Tensor& gradient = parameter.value().grad();
        gradient.defined() && !all_finite(gradient))
      return message(parameter.key(), "gradient");
  return "all parameters and gradients are finite";
}

std::optional<Divergence> saved_divergence(const std::string& run_folder) {
  const std::string path = divergence_path(run_folder);
  std::ifstream file(path);
  if (!file) return std::nullopt;
  const Json json = Json::parse(file, nullptr, /*allow_exceptions=*/false);
  HEARTH_CHECK(json.is_object() && json.contains("step") && json["step"].is_number_integer() &&
                   json.contains("reason") && json["reason"].is_string(),
               "cannot read '", path, "': expected an integer 'step' and a string 'reason'");
  return Divergence{json["step"].get<int64_t>(), json["reason"].get<std::string>()};
}

void save_divergence(const std::string& run_folder, const Divergence& divergence) {
  const Json json{{"step", divergence.step}, {"reason", divergence.reason}};
  io::write_file(divergence_path(run_folder), json.dump(2) + "\n");
}

void remove_divergence(const std::string& run_folder) {
  std::error_code ignored;  // the file need not exist
  std::filesystem::remove(divergence_path(run_folder), ignored);
}

}  // namespace hearth::app
