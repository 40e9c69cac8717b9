// SPDX-License-Identifier: Apache-2.0
import type { HostPort } from '../types.ts'

const everyAddress = '0.0.0.0'

export function portsConflict(left: readonly HostPort[], right: readonly HostPort[]): boolean {
  return left.some(one => right.some(other => conflict(one, other)))
}

/** Two ports conflict if port and protocol are equal, and their addresses are equal or one is the wildcard address. */
function conflict(one: HostPort, other: HostPort): boolean {
  return (
    one.port === other.port &&
    one.protocol === other.protocol &&
    (one.address === other.address || one.address === everyAddress || other.address === everyAddress)
  )
}
