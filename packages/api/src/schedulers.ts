// SPDX-License-Identifier: Apache-2.0

/** Scheduler backends by the name that also stands in `pod.spec.schedulerName`. */
export const scheduler = {
  default: 'default-scheduler',
  kai: 'kai-scheduler',
  volcano: 'volcano',
  lpx: 'lpx-scheduler',
} as const
