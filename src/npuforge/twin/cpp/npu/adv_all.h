// SPDX-License-Identifier: Apache-2.0
// The high-level vector API.
#pragma once
