#include "hearth/device.h"

#include <array>

namespace hearth {

namespace {

constexpr std::array<const char*, 20> kKnownTypes = {
    "cpu",  "cuda", "ipu", "xpu",  "mkldnn", "opengl", "opencl", "ideep", "hip",  "ve",
    "fpga", "maia", "xla", "lazy", "vulkan", "mps",    "meta",   "hpu",   "mtia", "privateuseone"};

DeviceType parse_type(std::string_view type, const std::string& text) {
  if (type == "cpu") return DeviceType::CPU;
  if (type == "cuda") return DeviceType::CUDA;
  if (type == "meta") return DeviceType::Meta;
  std::string list;
  for (const char* known : kKnownTypes) {
    HEARTH_CHECK(type != known, "Device type ", type,
                 " is not supported by Hearth (cpu, cuda and meta are): '", text, "'");
    list += list.empty() ? "" : ", ";
    list += known;
  }
  detail::fail<Error>("Expected one of ", list, " device type at start of device string: ", type);
}

/// Parses a device index, 0 to 127 without leading zeros; returns -1 for other texts.
int parse_index(std::string_view digits) {
  if (digits.empty() || digits.size() > 3 || (digits[0] == '0' && digits.size() > 1)) return -1;
  int value = 0;
  for (char c : digits) {
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  return value <= 127 ? value : -1;
}

}  // namespace

Device::Device(const std::string& text) {
  HEARTH_CHECK(!text.empty(), "Device string must not be empty");
  size_t colon = 0;
  while (colon < text.size() && (text[colon] == '_' || (text[colon] >= 'a' && text[colon] <= 'z') ||
                                 (text[colon] >= 'A' && text[colon] <= 'Z')))
    ++colon;
  const bool well_formed = colon > 0 && (colon == text.size() || text[colon] == ':');
  HEARTH_CHECK(well_formed, "Invalid device string: '", text, "'");
  type_ = parse_type(std::string_view(text).substr(0, colon), text);
  if (colon == text.size()) return;
  const int index = parse_index(std::string_view(text).substr(colon + 1));
  HEARTH_CHECK(index >= 0, "Invalid device string: '", text, "'");
  index_ = static_cast<DeviceIndex>(index);
}

std::string Device::str() const {
  std::string out = type_ == DeviceType::CPU ? "cpu" : type_ == DeviceType::CUDA ? "cuda" : "meta";
  if (has_index()) out += detail::str(":", int(index_));
  return out;
}

const char* by_name::name_of(DeviceType type) {
  return type == DeviceType::CPU ? "CPU" : type == DeviceType::CUDA ? "CUDA" : "Meta";
}

std::string as_text(MemoryFormat format) {
  constexpr std::array<const char*, 4> kNames = {"Contiguous", "Preserve", "ChannelsLast",
                                                 "ChannelsLast3d"};
  return kNames[static_cast<size_t>(format)];
}

}  // namespace hearth
