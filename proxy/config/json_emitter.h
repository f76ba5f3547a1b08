// yaml-cpp's emitter as a writer of JSON (RFC 8259).
#pragma once

#include <string>

#include "yaml-cpp/yaml.h"

namespace levee {

// What is emitted becomes JSON, which is YAML's flow style with all texts quoted. Texts that are
// not UTF-8 are mended with U+FFFD.
class JsonEmitter {
 public:
  JsonEmitter() {
    out_.SetOutputCharset(YAML::EscapeAsJson);
    out_.SetStringFormat(YAML::DoubleQuoted);
    out_.SetMapFormat(YAML::Flow);
    out_.SetSeqFormat(YAML::Flow);
  }

  YAML::Emitter& out() { return out_; }

  // Everything so far, in one line.
  std::string text() const { return out_.c_str(); }

 private:
  YAML::Emitter out_;
};

}  // namespace levee
