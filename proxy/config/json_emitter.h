// SPDX-License-Identifier: Apache-2.0
// Writes JSON (RFC 8259) by yaml-cpp's emitter.
#pragma once

#include <string>

#include "yaml-cpp/yaml.h"

namespace levee {

// An emitter whose output is JSON, which is YAML's flow style with all texts quoted. Bytes of texts
// that are not UTF-8 become U+FFFD.
class JsonEmitter {
 public:
  JsonEmitter() {
    out_.SetOutputCharset(YAML::EscapeAsJson);
    out_.SetStringFormat(YAML::DoubleQuoted);
    out_.SetMapFormat(YAML::Flow);
    out_.SetSeqFormat(YAML::Flow);
    out_.SetNullFormat(YAML::LowerNull);
  }

  YAML::Emitter& out() { return out_; }

  // Returns everything so far, in one line.
  std::string text() const { return out_.c_str(); }

 private:
  YAML::Emitter out_;
};

}  // namespace levee
