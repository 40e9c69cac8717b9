// SPDX-License-Identifier: Apache-2.0

/** On a Node: simulates a failed machine. Its pods do not change, and it sends no heartbeats. */
export const stoppedAnnotation = 'simulate.grove.io/stopped'
