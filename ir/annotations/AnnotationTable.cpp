#include "ir/annotations/AnnotationTable.h"

#include "ir/gpu/TileGpuDialect.h"

using namespace mlir;
using namespace tile::gpu;

LogicalResult TileGpuDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  for (ArrayRef<Annotation> subject : {accessAnnotations(), dotAnnotations(), functionAnnotations(),
                                       loopAnnotations(), variantAnnotations()})
    for (const Annotation &known : subject)
      if (known.name == attribute.getName())
        return known.verify(op, attribute.getValue());
  return op->emitOpError() << "has the attribute '" << attribute.getName().getValue()
                           << "', which `tilegpu` does not know";
}
