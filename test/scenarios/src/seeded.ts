// SPDX-License-Identifier: Apache-2.0

/** Returns pseudo-random integers below a limit. The same seed gives the same sequence. */
export function seeded(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
    return (state >> 8) % below
  }
}
