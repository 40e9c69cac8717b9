// SPDX-License-Identifier: Apache-2.0

// Trades CPU time for memory. By default, V8 collects garbage only when the heap is a multiple of the live objects.
// Imported first, so that the flags apply from the start, however the process was started.
import { setFlagsFromString } from 'node:v8'

setFlagsFromString('--optimize-for-size')
