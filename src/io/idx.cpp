#include "hearth/io/idx.h"

#include <algorithm>
#include <array>

#include "io/gzip.h"
#include "io/little_endian.h"
#include "io/read_idx.h"

namespace hearth::io {

namespace {

/// The dtype that the third byte of the file stands for.
ScalarType dtype_of_code(uint8_t code) {
  switch (code) {
    case 0x08: return kByte;
    case 0x09: return kChar;
    case 0x0B: return kShort;
    case 0x0C: return kInt;
    case 0x0D: return kFloat;
    case 0x0E: return kDouble;
    default: return ScalarType::Undefined;
  }
}

struct IdxHeader {
  ScalarType dtype;
  std::vector<int64_t> sizes;
  uint64_t nbytes;
};

/// The bytes of all elements; throws if they are more than the content can have.
uint64_t checked_nbytes(const Content& content, const IdxHeader& header) {
  uint64_t bytes = element_size(header.dtype);
  const uint64_t max_bytes = content.max_size();
  bool has_zero = false;
  for (const int64_t size : header.sizes) {
    has_zero = has_zero || size == 0;
    if (__builtin_mul_overflow(bytes, uint64_t(std::max<int64_t>(size, 1)), &bytes))
      bytes = max_bytes + 1;
    if (bytes > max_bytes && !has_zero)
      bad_bytes(content.name(), content.position(), "expected ", to_string(header.dtype),
                " elements of sizes ", IntArrayRef(header.sizes),
                ", but the file is too short for them");
  }
  return has_zero ? 0 : bytes;
}

IdxHeader read_header(Content& content) {
  std::array<uint8_t, 4> magic;
  content.read(magic.data(), magic.size());
  IdxHeader header{dtype_of_code(magic[2]), {}, 0};
  if (magic[0] != 0 || magic[1] != 0 || header.dtype == ScalarType::Undefined ||
      magic[3] > kMaxDims)
    bad_bytes(content.name(), 0,
              "expected an IDX header: two zeros, a type from 8 to 14 but not 10, at most ",
              kMaxDims, " dimensions; got ", int(magic[0]), ", ", int(magic[1]), ", ",
              int(magic[2]), ", ", int(magic[3]));
  for (int i = 0; i < magic[3]; ++i) {
    std::array<uint8_t, 4> size;
    content.read(size.data(), size.size());
    header.sizes.push_back(int64_t{size[0]} << 24 | size[1] << 16 | size[2] << 8 | size[3]);
  }
  header.nbytes = checked_nbytes(content, header);
  return header;
}

}  // namespace

Tensor read_idx(BytesPtr bytes) {
  Content content(std::move(bytes));
  const IdxHeader header = read_header(content);
  Tensor tensor = empty(header.sizes, header.dtype);
  content.read(tensor.data_ptr(), header.nbytes);
  content.expect_end();
  swap_bytes(tensor);  // the file is big-endian
  return tensor;
}

Tensor load_idx(const std::string& path) { return read_idx(map_file(path)); }

}  // namespace hearth::io
