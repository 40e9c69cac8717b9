// SPDX-License-Identifier: Apache-2.0

export { type Clock, sleepOn, systemClock, type Timer } from './clock.ts'
export { FakeClock } from './fake-clock.ts'
