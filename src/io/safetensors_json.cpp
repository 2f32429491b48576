#include "io/safetensors_json.h"

#include <iterator>
#include <nlohmann/json.hpp>
#include <unordered_set>

namespace hearth::io {

namespace {

/// Iterator over characters that records the position read last, for the offset in errors.
class Characters {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Characters(const char* position, const char** last_read)
      : position_(position), last_read_(last_read) {}
  const char& operator*() const { return *position_; }
  Characters& operator++() {
    *last_read_ = ++position_;
    return *this;
  }
  Characters operator++(int) {
    Characters before = *this;
    ++*this;
    return before;
  }
  bool operator==(const Characters& other) const { return position_ == other.position_; }
  bool operator!=(const Characters& other) const { return position_ != other.position_; }

 private:
  const char* position_;
  const char** last_read_;
};

/// Receives the parser's events; throws at the first unexpected one, which limits the nesting.
class HeaderReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  HeaderReader(const Bytes& bytes, const char* const* last_read)
      : bytes_(bytes), last_read_(last_read) {}

  SafetensorsHeader take() { return std::move(header_); }

  /// As in the reference implementation, null stands for no metadata.
  bool null() override {
    if (state_ != State::kRoot || key_ != kMetadataKey) refuse("null");
    return true;
  }
  bool boolean(bool) override { refuse("a boolean"); }
  bool number_integer(number_integer_t) override { refuse("a negative number"); }
  bool number_float(number_float_t, const string_t&) override { refuse("a fraction"); }
  bool binary(binary_t&) override { refuse("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (state_ == State::kShape)
      add_size(value);
    else if (state_ == State::kOffsets && offsets_ < 2)
      (offsets_++ == 0 ? entry_.begin : entry_.end) = value;
    else
      refuse("a number");
    return true;
  }

  bool string(string_t& value) override {
    if (state_ == State::kMetadata) {
      header_.metadata.emplace_back(std::move(key_), std::move(value));
    } else if (state_ == State::kTensor && key_ == "dtype") {
      entry_.dtype = file_dtype(value);
      if (!entry_.dtype) fail("tensor '", entry_.name, "' has the unknown dtype '", value, "'");
    } else {
      refuse("a string");
    }
    return true;
  }

  bool start_object(size_t) override {
    if (state_ == State::kStart) {
      state_ = State::kRoot;
    } else if (state_ == State::kRoot && key_ == kMetadataKey) {
      state_ = State::kMetadata;
      seen_.clear();
    } else if (state_ == State::kRoot) {
      state_ = State::kTensor;
      seen_.clear();
      entry_ = TensorEntry();
      entry_.name = std::move(key_);
    } else {
      refuse("an object");
    }
    return true;
  }

  bool key(string_t& value) override {
    if (state_ == State::kTensor && value != "dtype" && value != "shape" && value != "data_offsets")
      fail("tensor '", entry_.name, "' has '", value, "' where dtype, shape or data_offsets are ",
           "expected");
    auto& seen = state_ == State::kRoot ? names_ : seen_;
    if (!seen.insert(value).second) fail("'", value, "' occurs twice");
    key_ = std::move(value);
    return true;
  }

  bool end_object() override {
    if (state_ == State::kTensor) {
      if (seen_.size() != 3)
        fail("tensor '", entry_.name, "' does not have all of dtype, shape and data_offsets");
      header_.tensors.push_back(std::move(entry_));
    }
    state_ = state_ == State::kRoot ? State::kEnd : State::kRoot;
    return true;
  }

  bool start_array(size_t) override {
    if (state_ != State::kTensor || key_ == "dtype") refuse("an array");
    state_ = key_ == "shape" ? State::kShape : State::kOffsets;
    offsets_ = 0;
    return true;
  }

  bool end_array() override {
    if (state_ == State::kOffsets && offsets_ != 2)
      fail("tensor '", entry_.name, "' needs two data_offsets");
    state_ = State::kTensor;
    return true;
  }

  bool parse_error(size_t, const std::string&, const nlohmann::json::exception& error) override {
    const std::string text = error.what();
    const size_t colon = text.find(": ");
    fail("the header is not valid JSON: ",
         colon == std::string::npos ? text : text.substr(colon + 2));
  }

 private:
  enum class State { kStart, kRoot, kMetadata, kTensor, kShape, kOffsets, kEnd };

  template <class... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    const auto* first = reinterpret_cast<const char*>(bytes_.data());
    bad_bytes(bytes_.name(), static_cast<uint64_t>(*last_read_ - first), parts...);
  }

  [[noreturn]] void refuse(const char* found) const {
    static constexpr const char* kExpected[] = {
        "an object",
        "an object for each name",
        "a string for each key of __metadata__",
        "a string for dtype, arrays for shape and data_offsets",
        "sizes",
        "two offsets",
        "the end of the header",
    };
    fail("expected ", kExpected[static_cast<int>(state_)], ", but there is ", found);
  }

  void add_size(uint64_t size) {
    if (entry_.sizes.size() == size_t(kMaxDims) || size > uint64_t{INT64_MAX})
      fail("tensor '", entry_.name, "' has more than ", kMaxDims, " dimensions or too large ones");
    entry_.sizes.push_back(static_cast<int64_t>(size));
  }

  const Bytes& bytes_;
  const char* const* last_read_;
  SafetensorsHeader header_;
  TensorEntry entry_;
  State state_ = State::kStart;
  int offsets_ = 0;
  std::string key_;
  std::unordered_set<std::string> names_, seen_;
};

std::string quoted(const std::string& text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception&) {
    detail::fail<Error>("cannot write '", text, "' to a safetensors file: it is not valid UTF-8");
  }
}

void append_entry(std::string& out, const TensorEntry& entry) {
  detail::append(
      out, detail::str(quoted(entry.name), ":{\"dtype\":\"", entry.dtype->name, "\",\"shape\":["));
  for (size_t i = 0; i < entry.sizes.size(); ++i)
    detail::append(out, detail::str(i == 0 ? "" : ",", entry.sizes[i]));
  detail::append(out, detail::str("],\"data_offsets\":[", entry.begin, ",", entry.end, "]}"));
}

}  // namespace

SafetensorsHeader parse_header_json(const Bytes& bytes, uint64_t begin, uint64_t end) {
  const std::string_view text = bytes.text(begin, end);
  const char* last_read = text.data();
  HeaderReader reader(bytes, &last_read);
  nlohmann::json::sax_parse(Characters(text.data(), &last_read),
                            Characters(text.data() + text.size(), &last_read), &reader);
  return reader.take();
}

std::string header_json(const SafetensorsHeader& header) {
  std::string out = "{";
  if (!header.metadata.empty()) {
    out += detail::str("\"", kMetadataKey, "\":{");
    for (size_t i = 0; i < header.metadata.size(); ++i) {
      const auto& [key, value] = header.metadata[i];
      out += detail::str(i == 0 ? "" : ",", quoted(key), ":", quoted(value));
    }
    out += "}";
  }
  for (const TensorEntry& entry : header.tensors) {
    if (out.size() > 1) out += ",";
    append_entry(out, entry);
  }
  return out + "}";
}

}  // namespace hearth::io
