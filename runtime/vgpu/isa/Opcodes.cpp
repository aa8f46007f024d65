// The list of the files that have rows of opcodes.
#include "runtime/vgpu/isa/Opcodes.h"

#include "runtime/vgpu/decode/Stack.h"

namespace tile::vgpu {

// Each is defined at the end of the file of its name. They are declared here alone: one more recompiles nothing else.
OpcodeRows bitsOpcodes();
OpcodeRows carryOpcodes();
OpcodeRows compareOpcodes();
OpcodeRows convertOpcodes();
OpcodeRows floatOpcodes();
OpcodeRows integerOpcodes();
OpcodeRows moveOpcodes();
OpcodeRows productsOpcodes();
OpcodeRows videoOpcodes();
OpcodeRows addressSpacesOpcodes();
OpcodeRows atomicsOpcodes();
OpcodeRows cacheHintsOpcodes();
OpcodeRows clusterAddressOpcodes();
OpcodeRows loadStoreOpcodes();
OpcodeRows asyncCopyOpcodes();
OpcodeRows tensorMapOpcodes();
OpcodeRows barrierOpcodes();
OpcodeRows controlOpcodes();
OpcodeRows fenceOpcodes();
OpcodeRows gridControlOpcodes();
OpcodeRows mbarrierOpcodes();
OpcodeRows shuffleOpcodes();
OpcodeRows warpRegistersOpcodes();
OpcodeRows matrixOpcodes();
OpcodeRows mmaOpcodes();
OpcodeRows wgmmaOpcodes();
OpcodeRows wmmaOpcodes();
OpcodeVariants asyncStoreVariants();

const OpcodeTable &opcodes() {
  static const OpcodeTable table({stackOpcodes(),         bitsOpcodes(),
                                  carryOpcodes(),         compareOpcodes(),
                                  convertOpcodes(),       floatOpcodes(),
                                  integerOpcodes(),       moveOpcodes(),
                                  productsOpcodes(),      videoOpcodes(),
                                  addressSpacesOpcodes(), atomicsOpcodes(),
                                  cacheHintsOpcodes(),    clusterAddressOpcodes(),
                                  loadStoreOpcodes(),     asyncCopyOpcodes(),
                                  tensorMapOpcodes(),     barrierOpcodes(),
                                  controlOpcodes(),       fenceOpcodes(),
                                  gridControlOpcodes(),   mbarrierOpcodes(),
                                  shuffleOpcodes(),       warpRegistersOpcodes(),
                                  matrixOpcodes(),        mmaOpcodes(),
                                  wgmmaOpcodes(),         wmmaOpcodes()},
                                 {asyncStoreVariants()});
  return table;
}

} // namespace tile::vgpu
