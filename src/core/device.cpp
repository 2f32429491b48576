#include "hearth/device.h"

#include <array>

namespace hearth {

namespace {

struct TypeNames {
  DeviceType type;
  const char *lower, *upper;
};
/// The types in the order in which PyTorch lists them; the last one has no device string.
constexpr std::array<TypeNames, 21> kTypes = {{
    {DeviceType::CPU, "cpu", "CPU"},
    {DeviceType::CUDA, "cuda", "CUDA"},
    {DeviceType::IPU, "ipu", "IPU"},
    {DeviceType::XPU, "xpu", "XPU"},
    {DeviceType::MKLDNN, "mkldnn", "MKLDNN"},
    {DeviceType::OPENGL, "opengl", "OPENGL"},
    {DeviceType::OPENCL, "opencl", "OPENCL"},
    {DeviceType::IDEEP, "ideep", "IDEEP"},
    {DeviceType::HIP, "hip", "HIP"},
    {DeviceType::VE, "ve", "VE"},
    {DeviceType::FPGA, "fpga", "FPGA"},
    {DeviceType::MAIA, "maia", "MAIA"},
    {DeviceType::XLA, "xla", "XLA"},
    {DeviceType::Lazy, "lazy", "LAZY"},
    {DeviceType::Vulkan, "vulkan", "VULKAN"},
    {DeviceType::MPS, "mps", "MPS"},
    {DeviceType::Meta, "meta", "Meta"},
    {DeviceType::HPU, "hpu", "HPU"},
    {DeviceType::MTIA, "mtia", "MTIA"},
    {DeviceType::PrivateUse1, "privateuseone", "PRIVATEUSEONE"},
    {DeviceType::Metal, "metal", "METAL"},
}};

const TypeNames& names_of(DeviceType type) {
  for (const TypeNames& names : kTypes)
    if (names.type == type) return names;
  detail::fail<Error>("Unknown device: ", int(type));
}

DeviceType parse_type(std::string_view text) {
  std::string list;
  for (const TypeNames& names : kTypes) {
    if (names.type == DeviceType::Metal) break;
    if (text == names.lower) return names.type;
    list += list.empty() ? "" : ", ";
    list += names.lower;
  }
  detail::fail<Error>("Expected one of ", list, " device type at start of device string: ", text);
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
  type_ = parse_type(std::string_view(text).substr(0, colon));
  if (colon == text.size()) return;
  const int index = parse_index(std::string_view(text).substr(colon + 1));
  HEARTH_CHECK(index >= 0, "Invalid device string: '", text, "'");
  index_ = static_cast<DeviceIndex>(index);
}

std::string Device::str() const {
  std::string out = names_of(type_).lower;
  if (has_index()) out += detail::str(":", int(index_));
  return out;
}

const char* by_name::name_of(DeviceType type) { return names_of(type).upper; }

std::string as_text(Layout layout) {
  constexpr std::array<const char*, 8> kNames = {"Strided",   "Sparse",    "SparseCsr", "Mkldnn",
                                                 "SparseCsc", "SparseBsr", "SparseBsc", "Jagged"};
  const auto number = static_cast<size_t>(layout);
  HEARTH_CHECK(number < kNames.size(), "Unknown layout");
  return kNames[number];
}

std::string as_text(MemoryFormat format) {
  constexpr std::array<const char*, 4> kNames = {"Contiguous", "Preserve", "ChannelsLast",
                                                 "ChannelsLast3d"};
  return kNames[static_cast<size_t>(format)];
}

}  // namespace hearth
