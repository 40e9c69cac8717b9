// SPDX-License-Identifier: Apache-2.0

// KWOK Stages for tests that want to decide themselves when a pod is ready or fails.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Set to "true" or "false" on a pod under `gatedStages`. */
export const readyAnnotation = 'test.grove.io/ready'
/** Set to "crash" or "exit" on a pod under `gatedStages`. */
export const failAnnotation = 'test.grove.io/fail'

/** Pods start at once but become Ready, lose it and fail only as their annotations say. */
export const gatedStages = readFileSync(join(import.meta.dirname, 'stages', 'gated.yaml'), 'utf8')
