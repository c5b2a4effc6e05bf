// The words of a comparison.
#pragma once

#include <string>
#include <vector>

#include "report/compare.h"

namespace mezzotint {

// From all else that `difference` holds. `base` and `other` are labels.
[[nodiscard]] std::vector<std::string> difference_sentences(const Difference& difference,
                                                            const std::string& base,
                                                            const std::string& other);

}  // namespace mezzotint
