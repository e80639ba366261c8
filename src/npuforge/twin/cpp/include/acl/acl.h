// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "acl_base.h"
#include "acl_mdl.h"
#include "acl_rt.h"
