// SPDX-License-Identifier: Apache-2.0

export type * from './autoscaling.ts'
export type * from './cluster-topology-binding.ts'
export type * from './last-error.ts'
export type * from './pod-clique.ts'
export type * from './pod-clique-scaling-group.ts'
export type * from './pod-clique-set.ts'
export type * from './pod-clique-set-status.ts'
export type * from './pod-gang.ts'
export type * from './resource-sharing.ts'
export type * from './topology-constraint.ts'
