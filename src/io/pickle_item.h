#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hearth/ivalue_containers.h"

namespace hearth::io {

struct TupleItems;

/// A value on the stack of a pickle's machine.
struct Item {
  enum class Kind { kMark, kValue, kTuple, kGlobal, kStorage };

  Kind kind = Kind::kValue;
  IValue value{};        // kValue, or for kStorage, the tensor over the storage
  std::string global{};  // kGlobal: "module.name"
  std::shared_ptr<TupleItems> tuple{};
  uint32_t container = 0;  // kValue that is a list or dict: its place, from 1, in Machine's
                           // containers; else 0
  bool is_new = false;     // a list or dict that was not taken from the memo, so it may change
  bool is_object = false;  // a dict with the attributes of an object
  uint32_t depth = 0;      // of nested tuples; Machine has the depth of lists and dicts
  uint64_t count = 1;      // of the values in it and itself; a value that several paths reach
                           // counts once for each path (lists and dicts: in Machine)
};

/// The items of a tuple, which may be arguments of functions, and the tuple as a value.
struct TupleItems {
  std::vector<Item> items;
  IValue value{};  // None until it was needed
};

}  // namespace hearth::io
