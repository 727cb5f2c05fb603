// The world of the targets that read images and JSON: a component of each form, and what must hold of whatever was
// loaded.
#pragma once

#include "shared/image/json.hpp"

namespace shoal::fuzz {

struct ImageFuzzWorld : Registry {
  ImageFuzzWorld();
};

const ImageTypes& image_fuzz_types();

/// A few entities with everything, and a past.
void fill(Registry& world);

/// Asserts that the registry is sound: it saves and loads as itself, trees can be walked, everyone can be destroyed.
void use(Registry& world);
/// Asserts that nothing has happened to it.
void expect_untouched(const Registry& world);

}  // namespace shoal::fuzz
