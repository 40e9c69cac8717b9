// SPDX-License-Identifier: Apache-2.0

export const finalizer = {
  podCliqueSet: 'grove.io/podcliqueset.grove.io',
  computeDomain: 'grove.io/computedomain-finalizer',
  /** Written by other implementations of this API. The operator removes it and never adds it. */
  foreignPodClique: 'grove.io/podclique.grove.io',
  foreignScalingGroup: 'grove.io/podcliquescalinggroup.grove.io',
} as const

/** Every pod is created with this gate and loses it when its gang is complete. Gates of others are left alone. */
export const podSchedulingGate = 'grove.io/podgang-pending-creation'
