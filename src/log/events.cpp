#include "log/events.h"

#include <chrono>
#include <cmath>

#include "hearth/operators.h"
#include "io/utf8.h"

namespace hearth::utils::tensorboard::detail {

namespace {

// Event
constexpr int kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5, kSessionLog = 7,
              kSourceMetadata = 10;
// Summary.Value
constexpr int kTag = 1, kSimpleValue = 2, kValueTensor = 8, kMetadata = 9;
// TensorProto and its DataType
constexpr int kDtype = 1, kTensorShape = 2;
constexpr int kFloatType = 1, kDoubleType = 2, kStringType = 7;
constexpr int kFloatValues = 5, kDoubleValues = 6, kStringValues = 8;

/// How TensorProto stores a dtype: its number and the field of the elements.
struct StoredType {
  int number, field;
};
StoredType stored_type(const std::string& tag, ScalarType dtype) {
  constexpr int kInts = 7, kComplexes = 9, kInt64s = 10, kBools = 11, kDoubleComplexes = 12,
                kHalves = 13, kUint32s = 16;
  switch (dtype) {
    case kFloat: return {kFloatType, kFloatValues};
    case kDouble: return {kDoubleType, kDoubleValues};
    case kHalf: return {19, kHalves};
    case kBFloat16: return {14, kHalves};
    case kByte: return {4, kUint32s};
    case kChar: return {6, kInts};
    case kShort: return {5, kInts};
    case kInt: return {3, kInts};
    case kLong: return {9, kInt64s};
    case kBool: return {10, kBools};
    case kComplexFloat: return {8, kComplexes};
    case kComplexDouble: return {18, kDoubleComplexes};
    default: hearth::detail::fail<ValueError>(tag, " has unsupported tensor dtype ", dtype);
  }
}

void add_elements(Message& message, int field, const Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case kFloat: message.packed(field, elements<float>(tensor)); return;
    case kDouble: message.packed(field, elements<double>(tensor)); return;
    case kComplexFloat: message.packed(field, elements<float>(view_as_real(tensor))); return;
    case kComplexDouble: message.packed(field, elements<double>(view_as_real(tensor))); return;
    case kHalf:
    case kBFloat16: {  // PyTorch stores the float32 bits of each value
      std::vector<int64_t> bits;
      for (const float value : elements<float>(tensor))
        bits.push_back(std::bit_cast<int32_t>(value));
      message.packed(field, bits);
      return;
    }
    default: message.packed(field, elements<int64_t>(tensor));
  }
}

}  // namespace

double now() {
  using std::chrono::system_clock;
  return std::chrono::duration<double>(system_clock::now().time_since_epoch()).count();
}

// TensorBoard stops reading a file at a time that is not a number.
Stamp::Stamp(Step step_, Walltime walltime) : time(walltime ? *walltime : now()), step(step_) {
  HEARTH_CHECK_AS(ValueError, std::isfinite(time), "walltime must be finite, but got ", time);
}

Message event_of(const Stamp& stamp) {
  Message event;
  event.real(kWallTime, stamp.time);
  if (stamp.step) event.integer(kStep, *stamp.step);
  return event;
}

std::string version_event() {
  return event_of(Stamp({}, {}))
      .bytes(kFileVersion, "brain.Event:2")
      .message(kSourceMetadata, Message().bytes(1, "hearth.utils.tensorboard"))
      .str();
}

std::vector<std::string> purge_events(int64_t step) {
  constexpr int64_t kStart = 1;  // SessionLog.START
  const Stamp stamp(step, {});
  return {event_of(stamp).bytes(kFileVersion, "brain.Event:2").str(),
          event_of(stamp).message(kSessionLog, Message().integer(1, kStart)).str()};
}

std::string summary_event(const Stamp& stamp, const Message& value) {
  return summary_event(stamp, std::vector{value});
}

std::string summary_event(const Stamp& stamp, const std::vector<Message>& values) {
  Message summary;
  for (const Message& value : values) summary.message(1, value);
  return event_of(stamp).message(kSummary, summary).str();
}

void check_utf8(const char* what, const std::string& text) {
  HEARTH_CHECK_AS(ValueError, io::is_utf8(text), what, " is not valid UTF-8: '", text, "'");
}

Message tagged(const std::string& tag) {
  check_utf8("The tag", tag);
  return Message().bytes(kTag, tag);
}

Message plugin_metadata(const std::string& plugin, const std::string& content) {
  Message data;
  data.bytes(1, plugin);
  if (!content.empty()) data.bytes(2, content);
  return Message().message(1, data);
}

Message shape_message(const std::vector<int64_t>& sizes) {
  Message shape;
  for (const int64_t size : sizes) shape.message(2, Message().integer(1, size));
  return shape;
}

Message text_tensor(const std::vector<std::string>& texts, const std::vector<int64_t>& sizes) {
  Message message;
  message.integer(kDtype, kStringType).message(kTensorShape, shape_message(sizes));
  for (const std::string& text : texts) message.bytes(kStringValues, text);
  return message;
}

Message float_tensor(const Tensor& tensor) {
  return Message()
      .integer(kDtype, kFloatType)
      .message(kTensorShape, shape_message(tensor.sizes().vec()))
      .packed(kFloatValues, elements<float>(tensor));
}

Message tensor_message(const std::string& tag, const Tensor& tensor) {
  constexpr size_t kMaxBytes = size_t{1} << 31;
  HEARTH_CHECK_AS(ValueError, tensor.nbytes() < kMaxBytes,
                  "tensor is bigger than protocol buffer's hard limit of 2GB in size");
  const StoredType stored = stored_type(tag, tensor.scalar_type());
  Message content;
  content.integer(kDtype, stored.number).message(kTensorShape, shape_message(tensor.sizes().vec()));
  add_elements(content, stored.field, tensor);
  return tagged(tag).message(kValueTensor, content).message(kMetadata, plugin_metadata("tensor"));
}

Message scalar_message(const std::string& tag, double value, bool new_style,
                       bool double_precision) {
  if (!new_style) return tagged(tag).real32(kSimpleValue, static_cast<float>(value));
  Message tensor;
  if (double_precision)
    tensor.integer(kDtype, kDoubleType).packed(kDoubleValues, std::vector{value});
  else
    tensor.integer(kDtype, kFloatType).packed(kFloatValues, std::vector{static_cast<float>(value)});
  return tagged(tag).message(kValueTensor, tensor).message(kMetadata, plugin_metadata("scalars"));
}

Tensor snapshot(const Tensor& tensor, const char* function, const char* argument) {
  HEARTH_CHECK_AS(TypeError, tensor.defined(), function, "(): argument '", argument,
                  "' must be Tensor, but got an undefined one");
  HEARTH_CHECK_AS(NotImplementedError, !tensor.is_meta(), function, "(): argument '", argument,
                  "' is a meta tensor, which has no values");
  const Tensor host = tensor.detach().to(kCPU);
  return (host.is_alias_of(tensor) ? host.clone() : host).contiguous();
}

}  // namespace hearth::utils::tensorboard::detail
