// Which volumes a batch makes, and where.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "mezzotint/batch.h"
#include "mezzotint/result.h"

namespace mezzotint {

// Masks in a folder by name: .nii, .nii.gz, .hdr and .hdr.gz; hidden files and folders are not
// looked at. kInvalidInput when there is none.
Result<std::vector<std::filesystem::path>> masks_in(const std::filesystem::path& folder);

// All volumes, masks in order and the samples of each. kInvalidInput for a count of samples that
// cannot be, for masks that differ in their ending only, and when volumes would go into the folder
// of the masks, where a second run would take them for masks.
Result<std::vector<BatchVolume>> list_batch(const BatchRequest& request);

}  // namespace mezzotint
