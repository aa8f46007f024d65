// All ops. A program that uses a few of them compiles faster with their own headers, such as
// <tile/ops/Matmul.h>.
#pragma once

#include <tile/ops/Activations.h>
#include <tile/ops/Arithmetic.h>
#include <tile/ops/Attention.h>
#include <tile/ops/CrossEntropy.h>
#include <tile/ops/Einsum.h>
#include <tile/ops/Embedding.h>
#include <tile/ops/KvCache.h>
#include <tile/ops/Map.h>
#include <tile/ops/Matmul.h>
#include <tile/ops/Norm.h>
#include <tile/ops/Optimizers.h>
#include <tile/ops/Random.h>
#include <tile/ops/Reduce.h>
#include <tile/ops/Rotary.h>
#include <tile/ops/Sampling.h>
#include <tile/ops/Softmax.h>
