// SPDX-License-Identifier: Apache-2.0

export { cacheMetrics, type ObservedCache } from './cache-metrics.ts'
export * from './catalogue.ts'
export { requestMetrics } from './client-metrics.ts'
export {
  describeCounter,
  describeGauge,
  describeHistogram,
  type MetricDescription,
} from './description.ts'
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
