#pragma once

#include "hearth/autograd_hooks.h"

namespace hearth::autograd {

/// What one SavedTensorHooks guard brought; the tensors packed with it share it.
struct SavedHooks : RefCounted {
  SavedHooks(SavedTensorHooks::Pack p, SavedTensorHooks::Unpack u)
      : pack(std::move(p)), unpack(std::move(u)) {}
  static void destroy(SavedHooks* hooks) noexcept { delete hooks; }
  const SavedTensorHooks::Pack pack;
  const SavedTensorHooks::Unpack unpack;
};

}  // namespace hearth::autograd
