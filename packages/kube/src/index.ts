// SPDX-License-Identifier: Apache-2.0

// Time
export { type Clock, FakeClock, systemClock, type Timer } from './clock/index.ts'
