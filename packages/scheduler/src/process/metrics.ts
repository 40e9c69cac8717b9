// SPDX-License-Identifier: Apache-2.0

import { counter, gauge, histogram, type Registry } from '@grove/kube'
import type { SchedulerCaches } from '../binder/caches.ts'
import type { Rejection } from '../binder/rejected-pods.ts'
import type { ShadowReport } from '../shadow/shadow-reports.ts'
import type { Decision } from '../types.ts'
import { dryRunCatalogue, schedulerCatalogue } from './metrics-catalogue.ts'

/** Labels by which providers and autoscalers name the pool of a node, in the order in which they are read. */
const nodePoolLabels = [
  'karpenter.sh/nodepool',
  'cloud.google.com/gke-nodepool',
  'eks.amazonaws.com/nodegroup',
  'kubernetes.azure.com/agentpool',
  'node.kubernetes.io/instance-type',
]

/** Returns the handler that counts pods that kubelets reject. Nodes without a pool label have the empty pool. */
export function rejectionMetrics(
  registry: Registry,
  caches: Pick<SchedulerCaches, 'nodes'>,
): (rejection: Rejection) => void {
  const conflicts = counter(registry, schedulerCatalogue.conflicts)
  return ({ node }) => {
    const labels = caches.nodes.get({ name: node })?.metadata.labels ?? {}
    const key = nodePoolLabels.find(label => labels[label])
    conflicts.inc({ node_pool: key ? labels[key]! : '' })
  }
}

/** Returns the handler that turns decisions into metrics. */
export function decisionMetrics(registry: Registry): (decision: Decision) => void {
  const decisions = counter(registry, schedulerCatalogue.decisions)
  const steps = counter(registry, schedulerCatalogue.steps)
  const waiting = gauge(registry, schedulerCatalogue.waiting)
  const bindings = counter(registry, schedulerCatalogue.bindings)
  for (const part of ['minimum', 'surplus']) bindings.inc({ part }, 0)
  return decision => {
    steps.inc(decision.steps)
    waiting.reset()
    for (const { verdict, provenance, explanation } of decision.gangs) {
      decisions.inc({ verdict, provenance })
      if (explanation) waiting.inc({ code: explanation.code, tier: explanation.tier })
    }
    for (const { part } of decision.bindings) bindings.inc({ part })
  }
}

/** Returns the handler that turns reports into metrics. */
export function shadowMetrics(registry: Registry): (report: ShadowReport) => void {
  const reports = counter(registry, dryRunCatalogue.reports)
  const lead = histogram(registry, dryRunCatalogue.lead)
  return report => {
    const { kind, scheduler } = report
    reports.inc({ kind, scheduler })
    if (kind === 'scheduledByOther' && report.afterMs !== undefined)
      lead.observe({ scheduler }, report.afterMs / 1_000)
  }
}
