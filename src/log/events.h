#pragma once

#include <string>
#include <vector>

#include "hearth/tensor.h"
#include "hearth/utils/tensorboard.h"
#include "log/wire.h"

// TensorBoard's messages. The numbers of fields are those of its .proto files.
namespace hearth::utils::tensorboard::detail {

double now();  ///< seconds since 1970

/// Time and step of an event.
struct Stamp {
  Stamp(Step step_, Walltime walltime);
  double time;
  Step step;
};

/// An event without content.
Message event_of(const Stamp& stamp);
/// The first event of each file.
std::string version_event();
/// The events that make TensorBoard hide earlier events from this step on.
std::vector<std::string> purge_events(int64_t step);
/// An event with one or several Summary.Values.
std::string summary_event(const Stamp& stamp, const Message& value);
std::string summary_event(const Stamp& stamp, const std::vector<Message>& values);
/// The two events of a graph.
std::vector<std::string> graph_events(const Graph& traced);

/// Throws unless the text is UTF-8, which readers of events require.
void check_utf8(const char* what, const std::string& text);

/// A Summary.Value with its tag; the content follows.
Message tagged(const std::string& tag);
/// The metadata that assigns a value to a plugin.
Message plugin_metadata(const std::string& plugin, const std::string& content = {});
/// A TensorShapeProto.
Message shape_message(const std::vector<int64_t>& sizes);
/// A TensorProto with texts.
Message text_tensor(const std::vector<std::string>& texts, const std::vector<int64_t>& sizes);
/// A TensorProto of float32 with the tensor's elements and sizes.
Message float_tensor(const Tensor& tensor);
/// The Summary.Value of a tensor, with its dtype, elements and sizes.
Message tensor_message(const std::string& tag, const Tensor& tensor);
/// The Summary.Value of a number; the flags are those of add_scalar().
Message scalar_message(const std::string& tag, double value, bool new_style, bool double_precision);

/// The elements as T.
template <class T>
std::vector<T> elements(const Tensor& tensor) {
  const Tensor flat = tensor.to(kCPU, dtype_of<T>).contiguous();
  const T* data = flat.data_ptr<T>();
  return std::vector<T>(data, data + flat.numel());
}

/// A copy in the host's memory without history; later changes of the tensor do not affect it.
Tensor snapshot(const Tensor& tensor, const char* function, const char* argument);

}  // namespace hearth::utils::tensorboard::detail
