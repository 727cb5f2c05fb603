# cmake -DFILE=… -DOUTPUT=… -DHEADER=… -DFUNCTION=… -P EmbedFile.cmake: a C++ source whose function shoal::FUNCTION()
# returns the bytes of FILE.
file(READ ${FILE} digits HEX)
string(REPEAT "." 32 sixteen_bytes)
string(REGEX REPLACE "(${sixteen_bytes})" "\\1\n" digits "${digits}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${digits}")
file(WRITE ${OUTPUT}.new "#include \"${HEADER}\"

namespace shoal {
namespace {

constexpr char kBytes[] = {
${bytes}
};

}  // namespace

std::string_view ${FUNCTION}() {
  return {kBytes, sizeof(kBytes)};
}

}  // namespace shoal
")
file(RENAME ${OUTPUT}.new ${OUTPUT})
