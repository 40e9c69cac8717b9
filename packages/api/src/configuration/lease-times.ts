// SPDX-License-Identifier: Apache-2.0

/** In milliseconds. */
export interface LeaseTimesConfiguration {
  readonly leaseDuration: number
  readonly renewDeadline: number
  readonly retryPeriod: number
}

/** A leader must be able to retry once within its deadline. Candidates wait for up to this multiple of the retry period. */
const retryFactor = 1.2

/** Returns the mistakes of positive times that a lease elector rejects, in addition to a lease that ends too early. */
export function leaseTimeMistakes(times: LeaseTimesConfiguration) {
  const mistakes: { readonly key: keyof LeaseTimesConfiguration; readonly problem: string }[] = []
  if (times.renewDeadline <= retryFactor * times.retryPeriod)
    mistakes.push({ key: 'renewDeadline', problem: `must be greater than ${retryFactor} × retryPeriod` })
  return mistakes
}
