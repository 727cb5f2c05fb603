// How images and JSON hold each component type of a game. Tags need no line here, nor do the components of shoal
// itself (shoal.Node, shoal.OnTeam, shoal.OwnedBy); everything else is refused by name until a line says what it is.
//
//   ImageTypes types;
//   types.add(demo::component_descriptors())       // the schema's: by fields, which may come and go
//       .add_opaque("game.Brain")                  // bytes as they lie in memory: the layout must stay
//       .add_encoded<Script>("game.Script", write, read)
//       .leave_out("game.Cache");                  // not saved, by intention
//
// Thread rule: from several threads once it is filled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shared/ecs/registry.hpp"
#include "shared/wire/component_descriptor.hpp"

namespace shoal {

/// The values of one type by functions of the game, without the type.
class ValueCodec {
 public:
  /// Values that were read and belong to no entity yet.
  class Values {
   public:
    virtual ~Values() = default;
    /// False if the bytes are no value.
    virtual bool read(std::span<const std::byte> bytes) = 0;
    /// Makes the pool's value number `at` of the one that was read as number `at`. Once each.
    virtual void move_to(std::byte* place, std::size_t at) = 0;
    /// Gives the last one to an entity, with signals. Once.
    virtual void give_to(Registry& registry, Entity entity) = 0;
  };

  virtual ~ValueCodec() = default;
  virtual bool fits(const StorageBase& pool) const = 0;
  virtual void write(const void* value, std::vector<std::byte>& target) const = 0;
  virtual std::unique_ptr<Values> values() const = 0;
};

class ImageTypes {
 public:
  enum class Form : std::uint8_t { Fields, Opaque, Encoded, LeftOut };
  struct Entry {
    Form form;
    const ComponentDescriptor* descriptor = nullptr;  // Fields
    std::shared_ptr<const ValueCodec> codec;          // Encoded
  };

  ImageTypes();

  // REQUIRES throughout: no entry of this name yet.

  /// `descriptors` and what they point to must outlive this.
  ImageTypes& add(std::span<const ComponentDescriptor> descriptors);
  /// A trivially copyable type whose layout does not change while images of it are kept: only name and size are
  /// checked. Its padding is saved as it is.
  ImageTypes& add_opaque(std::string_view name);
  /// write(const T&, std::vector<std::byte>& target) appends; read(std::span<const std::byte>) gives
  /// std::optional<T>, none for bytes that are no value. Neither touches a registry.
  template <class T>
  ImageTypes& add_encoded(std::string_view name,
                          std::function<void(const T& value, std::vector<std::byte>& target)> write,
                          std::function<std::optional<T>(std::span<const std::byte> bytes)> read);
  ImageTypes& leave_out(std::string_view name);

  /// Null if nothing is said of it.
  const Entry* find(std::string_view name) const;

 private:
  ImageTypes& add_entry(std::string_view name, Entry entry);

  std::map<std::string, Entry, std::less<>> entries_;
};

namespace detail {

template <class T>
class FunctionCodec final : public ValueCodec {
 public:
  using Write = std::function<void(const T&, std::vector<std::byte>&)>;
  using Read = std::function<std::optional<T>(std::span<const std::byte>)>;

  FunctionCodec(Write write, Read read) : write_(std::move(write)), read_(std::move(read)) {}

  bool fits(const StorageBase& pool) const override {
    return dynamic_cast<const Storage<T>*>(&pool) != nullptr;
  }
  void write(const void* value, std::vector<std::byte>& target) const override {
    write_(*static_cast<const T*>(value), target);
  }
  std::unique_ptr<Values> values() const override { return std::make_unique<TypedValues>(read_); }

 private:
  class TypedValues final : public Values {
   public:
    explicit TypedValues(Read read) : read_(std::move(read)) {}
    bool read(std::span<const std::byte> bytes) override {
      std::optional<T> value = read_(bytes);
      if (value) values_.push_back(*std::move(value));
      return value.has_value();
    }
    void move_to(std::byte* place, std::size_t at) override {
      ::new (static_cast<void*>(place)) T(std::move(values_[at]));
    }
    void give_to(Registry& registry, Entity entity) override {
      registry.emplace_or_replace<T>(entity, std::move(values_.back()));
    }

   private:
    Read read_;
    std::vector<T> values_;
  };

  Write write_;
  Read read_;
};

}  // namespace detail

template <class T>
ImageTypes& ImageTypes::add_encoded(std::string_view name,
                                    std::function<void(const T&, std::vector<std::byte>&)> write,
                                    std::function<std::optional<T>(std::span<const std::byte>)> read) {
  static_assert(!kIsTag<T>, "a tag has no value; it needs no entry");
  return add_entry(name, {Form::Encoded, nullptr,
                          std::make_shared<detail::FunctionCodec<T>>(std::move(write), std::move(read))});
}

}  // namespace shoal
