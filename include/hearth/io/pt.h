#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hearth/io/safetensors.h"
#include "hearth/ivalue_containers.h"
#include "hearth/optim/state_dict.h"

/// Files of Python's torch.save (.pt, .pth) and of TorchScript.
namespace hearth {

namespace by_name {

/// The bytes of a file as torch.save writes it in Python.
HEARTH_API std::vector<char> pickle_save(const IValue& value);
/// Reads the bytes of a file of torch.save.
HEARTH_API IValue pickle_load(const std::vector<char>& data);

}  // namespace by_name

namespace io {

/// Reads a file of Python's torch.save: tensors, numbers, strings, None, lists, tuples and dicts. A
/// file that asks for another class or function is refused with an error that names it. Strides and
/// shared memory are kept, and large tensors map the file copy-on-write. torch.Size becomes a
/// tuple, torch.float32 the string "torch.float32". Tensors go to `device`, by default to the
/// device on which they were saved.
HEARTH_API IValue load_pt(const std::string& path, std::optional<Device> device = {});

/// Writes a file that Python reads with torch.load(path, weights_only=True). The file is replaced
/// atomically; memory that tensors share is written once.
HEARTH_API void save_pt(const IValue& value, const std::string& path);
HEARTH_API void save_pt(const NamedTensors& tensors, const std::string& path);
/// save_pt of other dictionaries of tensors, such as state dicts.
template <TensorDict Dict>
void save_pt(const Dict& tensors, const std::string& path) {
  save_pt(named_tensors(tensors), path);
}

/// An optimizer's state dict in the form of PyTorch's optimizers in Python, for save_pt.
HEARTH_API IValue to_python(const optim::StateDict& dict);

using NamedValues = std::vector<std::pair<std::string, IValue>>;  ///< names and values in order
/// The values in nested lists, tuples and dicts, with names such as "state.0.step".
HEARTH_API NamedValues named_values(const IValue& value);

/// Reads the parameters and buffers of a traced or scripted module (torch.jit.save), with the names
/// of its state dict. The code in the file cannot be run.
HEARTH_API NamedTensors load_jit_parameters(const std::string& path,
                                            std::optional<Device> device = {});

}  // namespace io

}  // namespace hearth
