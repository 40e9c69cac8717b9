// SPDX-License-Identifier: Apache-2.0

export interface LeaseTimes {
  /** The wait of candidates after the last renewal. The Lease contains it in seconds, rounded up. */
  readonly leaseDurationMs: number
  /**
   * The longest time that the leader continues without a successful renewal. The rest of the lease duration is the
   * margin for requests in flight and for clocks that run at different rates.
   */
  readonly renewDeadlineMs: number
  readonly retryPeriodMs: number
}

/** As in client-go and controller-runtime. */
export const defaultLeaseTimes: LeaseTimes = {
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2_000,
}
/** Candidates wait for the retry period and up to this many more, so that they do not retry together. */
export const candidateJitter = 1.2

export function checkTimes({ leaseDurationMs, renewDeadlineMs, retryPeriodMs }: LeaseTimes): void {
  if (leaseDurationMs <= renewDeadlineMs)
    throw new RangeError('leaseDuration must be greater than renewDeadline')
  if (renewDeadlineMs <= candidateJitter * retryPeriodMs)
    throw new RangeError(`renewDeadline must be greater than retryPeriod × ${candidateJitter}`)
  if (!(retryPeriodMs > 0)) throw new RangeError('retryPeriod must be greater than zero')
}
