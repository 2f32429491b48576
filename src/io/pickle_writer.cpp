#include "io/pickle_writer.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/ivalue_variant.h"
#include "core/tensor_impl.h"
#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "io/little_endian.h"
#include "io/pickle_globals.h"
#include "io/pickle_opcodes.h"
#include "io/utf8.h"

namespace hearth::io {

namespace {

using namespace pickle;

constexpr int kMaxWriteDepth = 256;
constexpr uint8_t kWrittenProtocol = 2;

/// A tensor of one dimension over all of the storage, on the CPU.
Tensor whole_storage(const Tensor& tensor) {
  const auto numel = static_cast<int64_t>(tensor.storage().nbytes() / tensor.itemsize());
  Tensor whole = shallow_alias(tensor, /*share_version=*/false);
  impl_of(whole).set_geometry({numel}, {1});
  impl_of(whole).offset = 0;
  return whole.cpu();
}

class Writer {
 public:
  Pickled take() && { return std::move(pickled_); }

  void run(const IValue& value) {
    op(kProtocol);
    put(kWrittenProtocol);
    write(value, 0);
    op(kStop);
  }

 private:
  void op(Opcode code) { out_ += static_cast<char>(code); }
  template <class T>
  void put(T number) {
    append_number(out_, number);
  }

  void write(const IValue& value, int depth) {
    HEARTH_CHECK(depth <= kMaxWriteDepth, "cannot save values that are nested deeper than ",
                 kMaxWriteDepth, " levels, or contain themselves");
    detail::visit_content(
        value, [&](std::monostate) { op(kNone); }, [&](const Tensor& tensor) { write(tensor); },
        [&](bool flag) { op(flag ? kTrue : kFalse); }, [&](int64_t number) { write(number); },
        [&](double number) { write(number); }, [&](const std::string& text) { write(text); },
        [&](const detail::ListPtr& list) { write(*list, depth); },
        [&](const detail::DictPtr& dict) { write(*dict, depth); },
        [&](const detail::TuplePtr& tuple) { write_tuple(tuple->elements(), depth); },
        [&](Device device) { write(device); },
        [&](const Generator&) { HEARTH_CHECK(false, "cannot save a Generator"); },
        [&](complex<double> number) { write(number); });
  }

  void write(int64_t value) {
    if (value >= 0 && value <= std::numeric_limits<uint8_t>::max()) {
      op(kInt1);
      put(static_cast<uint8_t>(value));
    } else if (value >= 0 && value <= std::numeric_limits<uint16_t>::max()) {
      op(kInt2);
      put(static_cast<uint16_t>(value));
    } else if (std::in_range<int32_t>(value)) {
      op(kInt4);
      put(static_cast<int32_t>(value));
    } else {
      op(kLong1);
      put(uint8_t{sizeof value});
      put(value);
    }
  }

  void write(double value) {
    std::string bytes;
    append_number(bytes, value);
    std::reverse(bytes.begin(), bytes.end());
    op(kFloat8);
    out_ += bytes;
  }

  void write(complex<double> value) {
    write_global("builtins.complex");
    write(value.real());
    write(value.imag());
    op(kTuple2);
    op(kReduce);
  }

  void write(const std::string& value) {
    HEARTH_CHECK(is_utf8(value), "cannot save the string '", value, "': it is not valid UTF-8");
    HEARTH_CHECK(std::in_range<uint32_t>(value.size()), "cannot save a string of ", value.size(),
                 " bytes");
    op(kUnicode4);
    put(static_cast<uint32_t>(value.size()));
    out_ += value;
  }

  /// Writes the name of a class or function, or a reference if it was written before.
  void write_global(const std::string& name) {
    const auto [entry, is_new] = memo_.try_emplace(name, static_cast<uint32_t>(memo_.size()));
    op(is_new ? kGlobal : kGet4);
    if (is_new) {
      const size_t dot = name.rfind('.');
      out_ += name.substr(0, dot) + "\n" + name.substr(dot + 1) + "\n";
      op(kPut4);
    }
    put(entry->second);
  }

  void write(Device device) {
    const bool has_index = device.is_cuda() && device.has_index();
    write_global("torch.device");
    write(has_index ? std::string("cuda") : device.str());
    if (has_index) write(int64_t{device.index()});
    op(has_index ? kTuple2 : kTuple1);
    op(kReduce);
  }

  void write_tuple(const std::vector<IValue>& values, int depth) {
    op(kMark);
    for (const IValue& value : values) write(value, depth + 1);
    op(kTuple);
  }
  void write_tuple(IntArrayRef numbers) {
    op(kMark);
    for (const int64_t number : numbers) write(number);
    op(kTuple);
  }
  void write(const detail::ListContent& list, int depth) {
    op(kEmptyList);
    op(kMark);
    for (const IValue& value : list.values) write(value, depth + 1);
    op(kAppends);
  }
  void write(const detail::DictContent& dict, int depth) {
    op(kEmptyDict);
    op(kMark);
    for (const auto& [key, value] : dict.items()) {
      write(key, depth + 1);
      write(value, depth + 1);
    }
    op(kSetItems);
  }

  void write(const Tensor& tensor) {
    if (!tensor.defined()) return op(kNone);
    HEARTH_CHECK(!tensor.is_meta(), "cannot save a tensor on the meta device: it has no values");
    // Python has classes of storages only for the dtypes with kernels.
    const bool is_untyped = is_stored_only(tensor.scalar_type());
    write_global(is_untyped ? kRebuildWithDtype : "torch._utils._rebuild_tensor_v2");
    op(kMark);
    write_storage(tensor);
    write(tensor.storage_offset());
    write_tuple(tensor.sizes());
    write_tuple(tensor.strides());
    op(tensor.requires_grad() ? kTrue : kFalse);
    write_global("collections.OrderedDict");  // no hooks
    op(kEmptyTuple);
    op(kReduce);
    if (is_untyped) write_global(detail::str("torch.", python_name_of(tensor.scalar_type())));
    op(kTuple);
    op(kReduce);
  }

  void write_storage(const Tensor& tensor) {
    const ScalarType type = tensor.scalar_type();
    const size_t index = storage_index(tensor);
    op(kMark);
    write(std::string("storage"));
    const bool is_untyped = is_stored_only(type);
    write_global(is_untyped ? kUntypedStorage : storage_of_dtype(type));
    write(std::to_string(index));
    write(tensor.device().str());
    const Tensor& storage = pickled_.storages[index];
    write(is_untyped ? static_cast<int64_t>(storage.nbytes()) : storage.numel());
    op(kTuple);
    op(kPersistentId);
  }

  size_t storage_index(const Tensor& tensor) {
    const void* key = tensor.storage().unsafeGetStorageImpl();
    const size_t next = pickled_.storages.size();
    if (key) {
      const auto [entry, is_new] = storage_indices_.try_emplace(key, next);
      HEARTH_CHECK(is_new || pickled_.storages[entry->second].dtype() == tensor.dtype(),
                   "Cannot save multiple tensors or storages that view the same data as different "
                   "types");
      if (!is_new) return entry->second;
    }
    pickled_.storages.push_back(key ? whole_storage(tensor) : empty({0}, tensor.dtype()));
    return next;
  }

  Pickled pickled_;
  std::string& out_ = pickled_.pickle;
  std::map<std::string, uint32_t> memo_;
  std::map<const void*, size_t> storage_indices_;
};

}  // namespace

Pickled pickle_value(const IValue& value) {
  const NoGradGuard no_history;
  Writer writer;
  writer.run(value);
  return std::move(writer).take();
}

}  // namespace hearth::io
