// What the two published recipes know about labels, without the models' room.
#pragma once

#include "imaging/label_map.h"

namespace mezzotint::testing {

inline LabelSet whole_head_labels() {
  LabelSet set;
  set.labels = {{1, "brain"}, {2, "tumour"}};
  set.brain = 1;
  set.tumour = 2;
  set.recipe = "whole-head";
  return set;
}

inline LabelSet brats_labels() {
  LabelSet set;
  set.labels = {{1, "necrotic core"}, {2, "oedema"}, {3, "enhancing tumour"}, {4, "brain"}};
  set.minus_one_is_background = true;
  set.brain = 4;
  set.needs_brain = true;
  set.raw = RawLabel{4, 3};
  set.recipe = "brats";
  return set;
}

}  // namespace mezzotint::testing
