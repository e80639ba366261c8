// SPDX-License-Identifier: Apache-2.0
// The high-level vector API.
#pragma once
#include "adv/math.h"
#include "adv/activation.h"
#include "adv/softmax.h"
#include "adv/softmax_flash.h"
#include "adv/reduce.h"
#include "adv/norm.h"
#include "adv/transform.h"
#include "adv/trans_data.h"
#include "adv/select.h"
#include "adv/quant.h"
