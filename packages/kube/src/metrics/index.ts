// SPDX-License-Identifier: Apache-2.0

export { requestMetrics } from './client-metrics.ts'
export {
  Counter,
  counter,
  createRegistry,
  Gauge,
  gauge,
  Histogram,
  histogram,
  onCollect,
  Registry,
} from './registry.ts'
