#include "hearth/io/checkpoint.h"

#include "hearth/autograd.h"
#include "hearth/cuda.h"
#include "hearth/generator.h"
#include "hearth/operators.h"

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

/// Sets the generator's state, which was tried before.
std::function<void()> checked_state(const std::string& path, const std::string& name,
                                    Generator generator, const Tensor& state) {
  try {
    generator.clone().set_state(state);
  } catch (Error& error) {
    error.add_context(detail::str("while reading the generator '", name, "' from '", path, "'"));
    throw;
  }
  return [generator, state]() mutable { generator.set_state(state); };
}

std::string list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

Checkpoint& Checkpoint::add_part(Part part) {
  const std::string& name = part.name;
  HEARTH_CHECK(!name.empty() && name != kGenerators && name.find('.') == std::string::npos, "'",
               name, "' cannot name a part of a checkpoint: it is empty, has a dot or is '",
               kGenerators, "'");
  for (const Part& other : parts_)
    HEARTH_CHECK(other.name != name, "the checkpoint has a part '", name, "' already");
  parts_.push_back(std::move(part));
  return *this;
}

Checkpoint::Commit Checkpoint::read_value(serialize::InputArchive& archive, const std::string& name,
                                          Tensor& value) {
  Tensor read = value.defined() ? empty_like(value) : Tensor();
  archive.read(name, read);
  return [&value, read] {
    const NoGradGuard no_history;
    if (value.defined())
      value.copy_(read);
    else
      value = read;
  };
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
  archive.read(kGenerators, states);
  std::vector<Commit> objects, values;
  for (const Part& part : parts_)
    (part.is_value ? values : objects).push_back(part.prepare(archive));
  for (const auto& [name, generator] : generators())
    if (Tensor state; states.try_read(name, state))
      values.push_back(checked_state(path, name, generator, state.cpu()));
  for (const Commit& commit : objects) commit();
  for (const Commit& commit : values) commit();
}

}  // namespace hearth::io
