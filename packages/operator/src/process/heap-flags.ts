// SPDX-License-Identifier: Apache-2.0

// Trades CPU time for memory. By default, V8 collects garbage only when the heap is a multiple of the live objects.
// This file is imported first, so that the flags apply from the start in every way to start the process.
import { setFlagsFromString } from 'node:v8'

setFlagsFromString('--optimize-for-size')
