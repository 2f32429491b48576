#include "inspect.h"

#include <cmath>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "choices.h"
#include "hearth/io/tensors.h"
#include "hearth/operators.h"
#include "names.h"
#include "text_table.h"

namespace hearth::app {

namespace {

using Json = nlohmann::ordered_json;

/// Statistics of a tensor's elements; for complex tensors only the number of NaNs.
struct Statistics {
  int64_t count = 0;        // elements that are not NaN
  Scalar min = 0, max = 0;  // of these elements; meaningless if count is 0
  double mean = 0;
  std::optional<int64_t> nans;  // unknown for meta tensors, which have no elements
};

/// The numbers in a dtype that has an order and a mean.
Tensor comparable(const Tensor& tensor) {
  const ScalarType type = tensor.scalar_type();
  if (type == kBool) return tensor.to(kByte);
  if (!is_stored_only(type)) return tensor;
  if (tensor.is_floating_point()) return tensor.to(kFloat);
  const bool fits_long = type != kUInt64 || tensor.view(kLong).ge(0).all().item<bool>();
  return tensor.to(fits_long ? kLong : kDouble);
}

Statistics statistics_of(const Tensor& tensor) {
  Statistics result;
  if (!tensor.has_storage()) return result;
  Tensor values = comparable(tensor.detach());
  const Tensor is_nan = values.isnan();
  const auto num_nans = is_nan.sum().item<int64_t>();
  result.nans = num_nans;
  if (is_complex(values.scalar_type())) return result;  // complex numbers have no order
  if (num_nans > 0) values = values.masked_select(is_nan.logical_not());
  result.count = values.numel();
  if (result.count == 0) return result;
  result.min = values.min().item();
  result.max = values.max().item();
  result.mean = values.mean(kDouble).item<double>();
  return result;
}

/// A whole number exactly, another one with six significant digits: "0.333333".
std::string shown(const Scalar& number) {
  if (number.isIntegral(false)) return std::to_string(number.toLong());
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", number.toDouble());
  return text;
}

std::string shape_text(const Tensor& tensor) {
  std::ostringstream text;
  text << tensor.sizes();
  return text.str();
}

std::string value_text(const IValue& value) {
  std::ostringstream text;
  text << value;
  return printable(text.str());
}

uint64_t total_bytes(const io::NamedValues& values) {
  uint64_t bytes = 0;
  for (const auto& [name, value] : values)
    if (value.isTensor()) bytes += value.toTensor().nbytes();
  return bytes;
}

void print_table(const io::FileContent& content, bool with_statistics) {
  std::vector<std::string> header{"name", "dtype", "shape", "bytes"};
  if (with_statistics) header.insert(header.end(), {"min", "max", "mean", "NaN"});
  TextTable table(header);
  size_t count = 0;
  for (const auto& [name, value] : content.values) {
    if (!value.isTensor()) continue;
    const Tensor tensor = value.toTensor();
    std::vector<std::string> row{printable(name), python_name_of(tensor.scalar_type()),
                                 shape_text(tensor), std::to_string(tensor.nbytes())};
    if (with_statistics) {
      const Statistics s = statistics_of(tensor);
      const auto cell = [&](const Scalar& number) { return s.count > 0 ? shown(number) : ""; };
      row.insert(row.end(), {cell(s.min), cell(s.max), cell(s.mean),
                             s.nans ? std::to_string(*s.nans) : std::string()});
    }
    table.add(std::move(row));
    ++count;
  }
  std::cout << name_of(content.format) << ", " << count << (count == 1 ? " tensor, " : " tensors, ")
            << bytes_text(double(total_bytes(content.values))) << "\n";
  if (count > 0) std::cout << "\n" << table.text();
}

void print_values(const io::FileContent& content) {
  TextTable table({"name", "value"});
  bool has_any = false;
  const auto add = [&](const std::string& name, const std::string& text) {
    table.add({printable(name), text});
    has_any = true;
  };
  for (const auto& [name, value] : content.values)
    if (!value.isTensor()) add(name, value_text(value));
  for (const auto& [key, value] : content.metadata) add(key, printable(value));
  if (has_any) std::cout << "\n" << table.text();
}

/// A number, or null if JSON cannot represent it.
Json number(const Scalar& value) {
  if (value.isIntegral(/*includeBool=*/false)) return value.toLong();
  return std::isfinite(value.toDouble()) ? Json(value.toDouble()) : Json();
}

Json tensor_json(const std::string& name, const Tensor& tensor, bool with_statistics) {
  Json json{{"name", printable(name)},
            {"dtype", python_name_of(tensor.scalar_type())},
            {"shape", tensor.sizes().vec()},
            {"bytes", tensor.nbytes()}};
  if (!with_statistics) return json;
  const Statistics s = statistics_of(tensor);
  json["nan"] = s.nans ? Json(*s.nans) : Json();
  if (s.count > 0)
    json.update({{"min", number(s.min)}, {"max", number(s.max)}, {"mean", number(s.mean)}});
  return json;
}

void print_json(const io::FileContent& content, bool with_statistics) {
  Json json{{"format", name_of(content.format)}, {"bytes", total_bytes(content.values)},
            {"tensors", Json::array()},          {"values", Json::object()},
            {"metadata", Json::object()},        {"damage", content.damage}};
  for (const auto& [name, value] : content.values)
    if (value.isTensor())
      json["tensors"].push_back(tensor_json(name, value.toTensor(), with_statistics));
    else
      json["values"][printable(name)] = value_text(value);
  for (const auto& [key, value] : content.metadata)
    json["metadata"][printable(key)] = printable(value);
  // By default, dump() throws if a name is not valid UTF-8.
  std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
}

struct InspectOptions {
  std::string file;
  bool as_json = false, no_statistics = false;
};

void inspect(const InspectOptions& options) {
  const io::FileContent content = io::load_file(options.file, /*tolerant=*/true);
  if (options.as_json) {
    print_json(content, !options.no_statistics);
  } else {
    print_table(content, !options.no_statistics);
    print_values(content);
  }
  for (const std::string& damage : content.damage)
    std::cerr << "hearth: " << printable(damage) << "\n";
  if (!content.damage.empty()) throw CLI::RuntimeError(1);
}

}  // namespace

void add_inspect(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("inspect", "Show the contents of a file of tensors, and any damage");
  auto options = std::make_shared<InspectOptions>();
  suggest_values(
      command->add_option("file", options->file,
                          "A .safetensors, .pt, .pth, .npz or .npy file, or a folder with shards"),
      {{}, Values::Paths::kFiles})
      ->required();
  command->add_flag("--no-statistics", options->no_statistics,
                    "Leave out minimum, maximum, mean and the number of NaNs");
  command->add_flag("--json", options->as_json, "Print JSON");
  command->footer("Example: hearth inspect model.safetensors");
  command->callback([options] { inspect(*options); });
}

}  // namespace hearth::app
