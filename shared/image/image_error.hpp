// Why an image could not be written or read.
#pragma once

#include <cstdint>
#include <string>

namespace shoal {

enum class ImageFault : std::uint8_t {
  Foreign,           // No image of shoal: look at what was given.
  Truncated,         // The end is missing: copy the file again, or take an older one.
  Damaged,           // Bytes are not those that were written: copy the file again, or take an older one.
  NewerFormat,       // A later shoal wrote it: update this one.
  Invalid,           // Whole, yet it says what cannot be: forged, or a fault of its writer.
  UnknownComponent,  // Register the component, or load with UnknownComponents::Skip.
  ChangedType,       // A component or field has another type now: give it another name, or convert the image.
  NotListed,         // Images cannot hold this component type until ImageTypes says how.
  Limits,            // More than 2 GiB, or indices that RegistryLimits does not allow: raise or match them.
  BadText,  // JSON that is none, or that does not say what was asked: correct it where the text says.
};

struct ImageError {
  ImageFault fault;
  std::string text;  // one sentence: what, where, and what to do
};

}  // namespace shoal
