// A kernel for `tilec build` and the like; see hopper.py.
#include "GradientBy80Queries.h"
