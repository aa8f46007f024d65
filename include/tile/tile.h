// The whole language and host API: `#include <tile/tile.h>`, `using namespace tile;`.
#pragma once

#include <tile/Atomics.h>
#include <tile/Callable.h>
#include <tile/Const.h>
#include <tile/Control.h>
#include <tile/Debug.h>
#include <tile/Device.h>
#include <tile/Error.h>
#include <tile/Facts.h>
#include <tile/Foreign.h>
#include <tile/Graph.h>
#include <tile/Grid.h>
#include <tile/Hints.h>
#include <tile/HostArg.h>
#include <tile/Kernel.h>
#include <tile/Ops.h>
#include <tile/Random.h>
#include <tile/Ref.h>
#include <tile/Shape.h>
#include <tile/Specialize.h>
#include <tile/Tensor.h>
#include <tile/TileIr.h>
#include <tile/Tuning.h>
#include <tile/Types.h>
#include <tile/Value.h>
#include <tile/Version.h>
#include <tile/View.h>

#include <cmath> // INFINITY and NAN, as in x.tile({R, C}).pad(-INFINITY)
