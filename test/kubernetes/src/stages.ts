// SPDX-License-Identifier: Apache-2.0

// KWOK Stages for tests that control when a pod becomes ready or fails.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Set to "true" or "false" on a pod under `gatedStages`. */
export const readyAnnotation = 'test.grove.io/ready'
/** Set to "crash" or "exit" on a pod under `gatedStages`. */
export const failAnnotation = 'test.grove.io/fail'

/** Pods start at once, but become Ready, become unready and fail only according to their annotations. */
export const gatedStages = readFileSync(join(import.meta.dirname, 'stages', 'gated.yaml'), 'utf8')
