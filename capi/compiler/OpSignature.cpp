// Signatures of ops by name.
#include "capi/Parameter.h"
#include "capi/Sized.h"

#include <tile/OpSignature.h>
#include <tile/Registry.h>
#include <tile/c/OpSignature.h>

#include <mutex>
#include <set>

using namespace tile;
using namespace tile::capi;

namespace {

/// A text that lives as long as the process.
const char *kept(const std::string &text) {
  static std::mutex mutex;
  static auto *texts = new std::set<std::string>;
  std::lock_guard lock(mutex);
  return texts->insert(text).first->c_str();
}

std::string joined(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

const OpEntry &opNamed(const char *name) {
  if (const OpEntry *op = findOp(required(name, "name")))
    return *op;
  refuse(ErrorCode::InvalidArgument, std::string("there is no op '") + name + "'");
}

/// An op that nobody described has an empty signature.
const OpSignature &signatureOf(const OpEntry &op) {
  static const OpSignature none;
  const OpSignature *known = findSignature(op.name);
  return known ? *known : none;
}

int32_t numberOf(OpSetting::Kind kind) {
  switch (kind) {
  case OpSetting::Kind::Integer:
  case OpSetting::Kind::Natural:
    return TILE_INTEGER_SETTING;
  case OpSetting::Kind::Number:
  case OpSetting::Kind::Value:
    return TILE_NUMBER_SETTING;
  case OpSetting::Kind::Flag:
    return TILE_FLAG_SETTING;
  case OpSetting::Kind::Dtype:
    return TILE_DTYPE_SETTING;
  case OpSetting::Kind::Integers:
    return TILE_INTEGERS_SETTING;
  case OpSetting::Kind::Word:
  case OpSetting::Kind::Text:
    break;
  }
  return TILE_TEXT_SETTING;
}

} // namespace

tile_status tile_op_signature_of(const char *name, tile_op_signature *signature) {
  return guarded([&] {
    const OpEntry &op = opNamed(name);
    const OpSignature &known = signatureOf(op);
    writeSized(signature, "signature",
               tile_op_signature{sizeof *signature, kept(joined(known.inputs)),
                                 kept(joined(known.outputs)),
                                 static_cast<int32_t>(op.settings.size())});
  });
}

tile_status tile_op_setting_at(const char *name, size_t index, tile_setting_description *setting) {
  return guarded([&] {
    const OpEntry &op = opNamed(name);
    if (index >= op.settings.size())
      refuseIndex(index, op.settings.size(), "settings");
    const OpSetting &found = op.settings[index];
    const auto &meanings = signatureOf(op).settings;
    auto meaning = meanings.find(found.name);
    bool hasDefault = found.absence == OpSetting::Absence::Default;
    writeSized(setting, "setting",
               tile_setting_description{
                   sizeof *setting, kept(found.name), kept(hasDefault ? found.fallback : ""),
                   kept(meaning == meanings.end() ? "" : meaning->second), numberOf(found.kind),
                   found.absence == OpSetting::Absence::Refused});
  });
}
