// SPDX-License-Identifier: Apache-2.0

/**
 * Every scheduler backend, by its `pod.spec.schedulerName`. The configuration accepts exactly these, and the operator
 * does not compile without a backend for each.
 */
export const scheduler = {
  kai: 'kai-scheduler',
  default: 'default-scheduler',
  volcano: 'volcano',
  lpx: 'lpx-scheduler',
  grove: 'grove-scheduler',
} as const

export type SchedulerName = (typeof scheduler)[keyof typeof scheduler]
