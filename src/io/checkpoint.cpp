#include "hearth/io/checkpoint.h"

#include "hearth/cuda.h"
#include "hearth/generator.h"

namespace hearth::io {

namespace {

constexpr const char* kGenerators = "generators";

/// The default generators of this machine's devices, by name.
std::vector<std::pair<std::string, Generator>> generators() {
  std::vector<std::pair<std::string, Generator>> all = {{"cpu", default_generator()}};
  if (!cuda::is_available()) return all;
  for (int i = 0; i < cuda::device_count(); ++i) {
    const Device device(kCUDA, static_cast<DeviceIndex>(i));
    all.emplace_back(device.str(), default_generator(device));
  }
  return all;
}

std::string list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

Checkpoint& Checkpoint::add_part(std::string name,
                                 std::function<void(serialize::OutputArchive&)> save,
                                 std::function<void(serialize::InputArchive&)> load) {
  HEARTH_CHECK(!name.empty() && name != kGenerators && name.find('.') == std::string::npos, "'",
               name, "' cannot name a part of a checkpoint: it is empty, has a dot or is '",
               kGenerators, "'");
  for (const Part& part : parts_)
    HEARTH_CHECK(part.name != name, "the checkpoint has a part '", name, "' already");
  parts_.push_back({std::move(name), std::move(save), std::move(load)});
  return *this;
}

void Checkpoint::save(const std::string& path) const {
  serialize::OutputArchive archive, states;
  for (const Part& part : parts_) part.save(archive);
  for (const auto& [name, generator] : generators()) states.write(name, generator.get_state());
  archive.write(kGenerators, states);
  archive.save_to(path);
}

void Checkpoint::load(const std::string& path, std::optional<Device> device) const {
  serialize::InputArchive archive, states;
  archive.load_from(path, device);
  HEARTH_CHECK(archive.contains(kGenerators), "'", path, "' is no checkpoint: it has no '",
               kGenerators, "'; it has ", list(archive.keys()));
  for (const Part& part : parts_)
    HEARTH_CHECK(archive.contains(part.name), "the checkpoint '", path, "' has no '", part.name,
                 "'; it has ", list(archive.keys()));
  for (const Part& part : parts_) part.load(archive);
  archive.read(kGenerators, states);
  for (auto [name, generator] : generators()) {
    Tensor state;
    if (states.try_read(name, state)) generator.set_state(state.cpu());
  }
}

}  // namespace hearth::io
