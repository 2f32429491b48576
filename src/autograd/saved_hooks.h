#pragma once

#include "hearth/autograd_hooks.h"

namespace hearth::autograd {

/// The functions of one SavedTensorHooks guard, shared with the tensors packed by them.
struct SavedHooks : RefCounted {
  SavedHooks(SavedTensorHooks::Pack p, SavedTensorHooks::Unpack u)
      : pack(std::move(p)), unpack(std::move(u)) {}
  static void destroy(SavedHooks* hooks) noexcept { delete hooks; }
  const SavedTensorHooks::Pack pack;
  const SavedTensorHooks::Unpack unpack;
};

}  // namespace hearth::autograd
