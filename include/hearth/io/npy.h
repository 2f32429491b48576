#pragma once

#include <string>

#include "hearth/io/safetensors.h"

/// Files of NumPy. Arrays of objects, records and text are refused, as are dtypes that only NumPy
/// or only Hearth has.
namespace hearth::io {

/// Reads a .npy file, of either byte order. A large array maps the file's pages copy-on-write; an
/// array in Fortran order keeps this order, by its strides.
HEARTH_API Tensor load_npy(const std::string& path);
/// Reads a .npz file, compressed or not.
HEARTH_API NamedTensors load_npz(const std::string& path);

/// Writes a file for numpy.load, atomically.
HEARTH_API void save_npy(const Tensor& tensor, const std::string& path);
HEARTH_API void save_npz(const NamedTensors& tensors, const std::string& path);
/// save_npz of other dictionaries of tensors.
template <TensorDict Dict>
void save_npz(const Dict& tensors, const std::string& path) {
  save_npz(named_tensors(tensors), path);
}

}  // namespace hearth::io
