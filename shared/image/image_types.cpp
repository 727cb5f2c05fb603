#include "shared/image/image_types.hpp"

#include <fmt/format.h>

#include "shared/base/assert.hpp"
#include "shared/image/field_layout.hpp"
#include "shared/image/own_components.hpp"

namespace shoal {

ImageTypes::ImageTypes() {
  add(own_component_descriptors());
}

ImageTypes& ImageTypes::add(std::span<const ComponentDescriptor> descriptors) {
  for (const ComponentDescriptor& descriptor : descriptors) {
    for (const FieldDescriptor& field : descriptor.fields) {
      SHOAL_ASSERT(field.offset_bytes + size_of(field.type) <= descriptor.size_bytes,
                   "a descriptor with a field beyond its value: take those that the generator made");
    }
    add_entry(descriptor.name, {Form::Fields, &descriptor, nullptr});
  }
  return *this;
}

ImageTypes& ImageTypes::add_opaque(std::string_view name) {
  return add_entry(name, {Form::Opaque, nullptr, nullptr});
}

ImageTypes& ImageTypes::leave_out(std::string_view name) {
  return add_entry(name, {Form::LeftOut, nullptr, nullptr});
}

const ImageTypes::Entry* ImageTypes::find(std::string_view name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : &found->second;
}

ImageTypes& ImageTypes::add_entry(std::string_view name, Entry entry) {
  if (!entries_.try_emplace(std::string(name), std::move(entry)).second) {
    assertion_failed("image types", fmt::format("{} has an entry already; keep one of the two", name).c_str(),
                     __FILE__, __LINE__);
  }
  return *this;
}

}  // namespace shoal
