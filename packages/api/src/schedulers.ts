// SPDX-License-Identifier: Apache-2.0

/**
 * Every scheduler backend, by the name of its profile, which is also the `pod.spec.schedulerName` unless noted. The
 * configuration accepts exactly these, and the operator does not compile without a backend for each.
 */
export const scheduler = {
  kai: 'kai-scheduler',
  default: 'default-scheduler',
  volcano: 'volcano',
  lpx: 'lpx-scheduler',
  grove: 'grove-scheduler',
  /** Native gangs of Kubernetes. Their pods name kube-scheduler, see `podSchedulerName` of the backend. */
  kubernetes: 'kubernetes',
} as const

export type SchedulerName = (typeof scheduler)[keyof typeof scheduler]
