#include "hearth/distributed/checkpoint.h"

#include "distributed/sharding/checkpoint_contents.h"
#include "distributed/sharding/checkpoint_files.h"
#include "distributed/sharding/plain_mode.h"
#include "distributed/sharding/same_on_all_ranks.h"
#include "hearth/distributed/collectives.h"
#include "hearth/operators.h"

namespace hearth::distributed::checkpoint {

namespace {

/// Runs f on all ranks; if it throws on one of them, calls undo() and throws that error on all.
template <class F, class Undo>
void on_all_ranks(const ProcessGroupPtr& group, const F& f, const Undo& undo) {
  std::string error;
  try {
    f();
  } catch (const std::exception& failure) {
    error = failure.what();
    if (error.empty()) error = "unknown error";
  }
  try {
    check_all_succeeded(error, group);
  } catch (...) {
    undo();
    throw;
  }
}

/// Throws on all ranks if the contents cannot be collected on one of them.
Contents contents_of(const nn::Module& model, const optim::Optimizer* optimizer,
                     const ProcessGroupPtr& group) {
  Contents contents;
  on_all_ranks(
      group,
      [&] {
        const ModelParameters parameters(model);
        add_model(model, parameters, contents);
        if (optimizer) add_optimizer(*optimizer, parameters, contents);
      },
      [] {});
  return contents;
}

/// Throws unless this rank has its block of the rows.
void check_division(const Piece& piece, const ProcessGroupPtr& group) {
  const int ranks = get_world_size(group), rank = get_rank(group);
  const RowBlocks blocks(piece.sizes[0], ranks);
  HEARTH_CHECK(blocks.begin(rank) == piece.begin && blocks.size(rank) == piece.local.size(0), "'",
               piece.key, "' is not divided among the ", ranks, " ranks of this group");
}

/// The whole tensor on rank 0; undefined on others.
Tensor gather_rows(const Piece& piece, const ProcessGroupPtr& group) {
  const PlainMode plain;
  const int ranks = get_world_size(group), rank = get_rank(group);
  const RowBlocks blocks(piece.sizes[0], ranks);
  std::vector<int64_t> sizes = piece.sizes;
  sizes[0] = blocks.chunk;
  const Tensor padded = zeros(sizes, piece.local.options().requires_grad(false).device(kCPU));
  padded.narrow(0, 0, piece.local.size(0)).copy_(piece.local);
  std::vector<Tensor> parts;
  for (int i = 0; rank == 0 && i < ranks; ++i) parts.push_back(empty_like(padded));
  gather(padded, parts, get_global_rank(group, 0), group);
  return rank == 0 ? cat(parts).narrow(0, 0, piece.sizes[0]) : Tensor();
}

/// Replaces the pieces by whole tensors on rank 0.
void gather_pieces(std::vector<Piece>& pieces, const ProcessGroupPtr& group) {
  const auto check = [&] {
    for (const Piece& piece : pieces)
      if (piece.is_divided()) check_division(piece, group);
  };
  on_all_ranks(group, check, [] {});
  for (Piece& piece : pieces) {
    if (!piece.is_divided()) continue;
    piece.local = gather_rows(piece, group);
    piece.begin = -1;
  }
}

/// The parts of all ranks' files, on rank 0.
std::vector<std::vector<FilePart>> gather_parts(const std::vector<FilePart>& own,
                                                const ProcessGroupPtr& group) {
  std::vector<int64_t> numbers;
  for (const FilePart& part : own) numbers.insert(numbers.end(), {part.begin, part.rows, part.crc});
  std::vector<std::vector<FilePart>> all;
  for (const IValue& of_rank : gather_object(numbers, get_global_rank(group, 0), group)) {
    std::vector<FilePart>& parts = all.emplace_back();
    const std::vector<int64_t> values = of_rank.toIntVector();
    for (size_t i = 0; i + 3 <= values.size(); i += 3)
      parts.push_back({values[i], values[i + 1], values[i + 2]});
  }
  return all;
}

std::string agreed_id(const ProcessGroupPtr& group) {
  std::vector<IValue> id{new_id()};
  broadcast_object_list(id, get_global_rank(group, 0), group);
  return id[0].toStringRef();
}

/// The checkpoint that is in the folder now, if there is a valid one.
std::optional<Index> former_index(const Folder& folder) {
  try {
    return Index::read(folder);
  } catch (const Error&) {
    return std::nullopt;
  }
}

void remove_files(const Folder& folder, const Index& index) {
  for (int64_t i = 0; i < index.files; ++i) folder.remove(index.id, i, index.files);
}

/// Writes the index on rank 0 and removes the files of the former checkpoint or, after an error,
/// the new ones: not before all ranks know the outcome, so that both stay if a rank is lost.
template <class AddParts, class RemoveNewFile>
void write_index(Index& index, const Folder& folder, const ProcessGroupPtr& group,
                 const AddParts& add_parts, const RemoveNewFile& remove_new_file) {
  std::string error;
  std::optional<Index> former;
  if (get_rank(group) == 0) try {
      add_parts();
      former = former_index(folder);
      index.write(folder);
    } catch (const std::exception& failure) {
      error = failure.what();
    }
  const std::string of_rank_0 = all_gather_object(error, group)[0].toStringRef();
  if (!of_rank_0.empty()) {
    remove_new_file();
    detail::fail<Error>("rank 0: ", of_rank_0);
  }
  if (former) remove_files(folder, *former);
}

void save_contents(Contents contents, const std::string& path, const Options& options) {
  const ProcessGroupPtr& group = options.process_group();
  const int rank = get_rank(group);
  const auto describe = [&] {
    Descriptions lines;
    for (const Piece& piece : contents.pieces)
      lines.push_back(detail::str("'", piece.key, "' ", IntArrayRef(piece.sizes)));
    return lines;
  };
  check_same_on_all_ranks(
      {"checkpoint::save", "save different tensors", "save the same module and optimizer"},
      describe, group);
  if (options.full_state_dict()) gather_pieces(contents.pieces, group);

  const Folder folder(path);
  Index index;
  index.id = agreed_id(group);
  index.files = options.full_state_dict() ? 1 : get_world_size(group);
  index.values = contents.values;
  const auto remove_new_file = [&] {
    if (rank < index.files) folder.remove(index.id, rank, index.files);
  };
  std::vector<FilePart> own;
  on_all_ranks(
      group,
      [&] {
        folder.create();
        if (rank < index.files)
          own = write_parts(contents.pieces, rank == 0, folder.file(index.id, rank, index.files));
      },
      remove_new_file);
  const auto parts = gather_parts(own, group);
  const auto add_parts = [&] {
    for (size_t i = 0; i < contents.pieces.size(); ++i) {
      auto& entry = index.parts.emplace_back(contents.pieces[i].key, std::vector<FilePart>());
      for (int64_t file = 0; file < index.files; ++file)
        entry.second.push_back(parts[static_cast<size_t>(file)][i]);
    }
  };
  write_index(index, folder, group, add_parts, remove_new_file);
}

}  // namespace

void save(const nn::Module& model, const std::string& checkpoint_id, const Options& options) {
  save_contents(contents_of(model, nullptr, options.process_group()), checkpoint_id, options);
}

void save(const nn::Module& model, const optim::Optimizer& optimizer,
          const std::string& checkpoint_id, const Options& options) {
  save_contents(contents_of(model, &optimizer, options.process_group()), checkpoint_id, options);
}

OrderedDict<std::string, Tensor> get_model_state_dict(const nn::Module& model,
                                                      const ProcessGroupPtr& process_group) {
  Contents contents = contents_of(model, nullptr, process_group);
  gather_pieces(contents.pieces, process_group);
  OrderedDict<std::string, Tensor> state;
  if (get_rank(process_group) != 0) return state;
  for (const Piece& piece : contents.pieces)
    state.insert(piece.key.substr(std::string_view(kModelPrefix).size()), piece.local.cpu());
  return state;
}

}  // namespace hearth::distributed::checkpoint
