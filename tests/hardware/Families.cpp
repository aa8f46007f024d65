#include "tests/hardware/Probe.h"

#include <iterator>

namespace tile::hardware {

std::vector<Probe> allProbes() {
  std::vector<Probe> result;
  for (auto family :
       {floatProbes, halfProbes, conversionProbes, integerProbes, videoProbes, collectiveProbes,
        matrixMoveProbes, atomicProbes, specialProbes, fragmentProbes, tensorLoadProbes,
        tensorStoreProbes, bulkProbes, barrierProbes, clusterProbes, mmaProbes, wgmmaProbes,
        sparseWgmmaProbes, descriptorProbes}) {
    std::vector<Probe> probes = family();
    result.insert(result.end(), std::move_iterator(probes.begin()),
                  std::move_iterator(probes.end()));
  }
  return result;
}

} // namespace tile::hardware
