// SPDX-License-Identifier: Apache-2.0

// How much memory the process takes for how much work. V8 by itself lets garbage pile up to a multiple of what is
// alive before it looks. Imported first: it counts from then on, however the process was started.
import { setFlagsFromString } from 'node:v8'

setFlagsFromString('--optimize-for-size')
