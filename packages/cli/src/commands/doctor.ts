// SPDX-License-Identifier: Apache-2.0

import { loadKubeconfig } from '@grove/kube'
import { type ClusterOptions, type LiveCluster, withCluster } from '../clusters/live-cluster.ts'
import { localKubeconfigs } from '../clusters/local-clusters.ts'
import { examine, type Finding } from '../doctor/checks.ts'
import { type Observations, observe } from '../doctor/observe.ts'
import { bad, faint, good, type Line, waiting } from '../terminal/line.ts'
import { printJson, printLines } from '../terminal/print.ts'

export interface DoctorOptions extends ClusterOptions {
  readonly operatorNamespace: string
  readonly output: string
}

/** Checks whether the cluster is ready for Grove. The exit code is 1 if there is a problem. */
export async function doctor(options: DoctorOptions): Promise<number> {
  const findings = examine(await withCluster(options, cluster => observeCluster(cluster, options)))
  const isHealthy = findings.every(({ state }) => state !== 'problem')
  if (options.output === 'json')
    printJson({ apiVersion: 'cli.grove.io/v1alpha1', kind: 'Diagnosis', healthy: isHealthy, findings })
  else printLines(findings.flatMap(linesOf))
  return isHealthy ? 0 : 1
}

export function observeCluster(
  cluster: LiveCluster,
  { operatorNamespace }: Pick<DoctorOptions, 'operatorNamespace'>,
): Promise<Observations> {
  const isLocal = localKubeconfigs().some(path => loadKubeconfig({ path }).server === cluster.server)
  return observe(cluster, { operatorNamespace, isLocal })
}

function linesOf({ check, state, message, fix }: Finding): Line[] {
  const text = `${check}: ${message}`
  if (state === 'ok') return [[good('✓'), ` ${text}`]]
  if (state === 'unknown') return [[waiting('?'), ` ${text}`]]
  return [[bad('✗'), ` ${text}`], ...(fix ? [faint(`  ${fix}`)] : [])]
}
