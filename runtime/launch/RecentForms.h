// What is known of calls made lately, by their form.
#pragma once

#include "runtime/launch/CallForm.h"

#include <concepts>
#include <cstddef>
#include <utility>
#include <vector>

namespace tile::launch {

/// Holds a bounded number, where newer ones take the places of older ones. Two have one place, so that calls whose forms do not
/// differ in what hash() looks at may alternate.
template <class Known> class RecentForms {
public:
  /// What was added for a call of this form and fits, or null.
  template <std::predicate<const Known &> Fits>
  Known *find(const CallForm &form, const Fits &fits) {
    for (Entry &entry : placeOf(form).entries)
      if (entry.form == form && fits(entry.known))
        return &entry.known;
    return nullptr;
  }
  /// Returns what was added, which the next call to add may move or replace.
  Known &add(const CallForm &form, Known known) {
    auto &[newer, older] = placeOf(form).entries;
    older = std::exchange(newer, {KeptForm(form), std::move(known)});
    return newer.known;
  }

private:
  struct Entry {
    KeptForm form;
    Known known;
  };
  struct Place {
    Entry entries[2];
  };
  static constexpr int kPlaceBits = 9;
  Place &placeOf(const CallForm &form) { return places_[form.hash() >> (64 - kPlaceBits)]; }

  std::vector<Place> places_ = std::vector<Place>(size_t{1} << kPlaceBits);
};

} // namespace tile::launch
