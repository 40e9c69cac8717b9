// SPDX-License-Identifier: Apache-2.0

/** Whole numbers below a limit, the same from the same seed. */
export function seeded(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
    return (state >> 8) % below
  }
}
