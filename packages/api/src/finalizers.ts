// SPDX-License-Identifier: Apache-2.0

export const finalizer = {
  podCliqueSet: 'grove.io/podcliqueset.grove.io',
  computeDomain: 'grove.io/computedomain-finalizer',
  /** Written by other implementations of this API. The operator removes it and never adds it. */
  foreignPodClique: 'grove.io/podclique.grove.io',
  foreignScalingGroup: 'grove.io/podcliquescalinggroup.grove.io',
} as const

/**
 * Pods are created with this gate, unless their scheduler waits for complete gangs itself, and lose it when their
 * gang is complete. Gates of other controllers are left alone.
 */
export const podSchedulingGate = 'grove.io/podgang-pending-creation'
