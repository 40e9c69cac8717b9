// SPDX-License-Identifier: Apache-2.0

export { LeaseElector, type LeaseElectorOptions } from './elector.ts'
export { FencedTransport } from './fenced-transport.ts'
export { type Leadership, LeadershipLost, unelected } from './leadership.ts'
export { type LeaseClient, leaseClient } from './lease-client.ts'
export { type Lease, leases } from './record.ts'
export { defaultLeaseTimes, type LeaseTimes } from './times.ts'
