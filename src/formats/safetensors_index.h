// Safetensors kept in several files: an index (`model.safetensors.index.json`) beside its shards,
// as Hugging Face's tools write them. The index is JSON whose "weight_map" gives each tensor's
// file.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "formats/tensor_file.h"
#include "mezzotint/result.h"

namespace mezzotint {

// Tensor name -> name of its shard, a plain file name. What else the index holds is skipped.
// kInvalidInput with one line for JSON of another kind, a name that is given twice, and a shard
// that would not lie in the index's own folder.
Result<std::map<std::string, std::string>> read_weight_map(const InputFile& index);

struct ShardedSafetensors {
  std::vector<InputFile> shards;  // by name
  TensorDirectory directory;      // its storages count files from 1: 0 is the index
};

// Opens every shard. Each tensor must be where the index says and nowhere else, and no shard may
// hold another. Metadata are those of the first shard that has them.
Result<ShardedSafetensors> read_sharded_safetensors(const InputFile& index);

}  // namespace mezzotint
