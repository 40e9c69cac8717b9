// SPDX-License-Identifier: Apache-2.0

import { resources } from '@grove/operator/resources'
import { type ClusterOptions, type LiveCluster, withCluster } from '../clusters/live-cluster.ts'
import { noSuchSet } from '../clusters/set-objects.ts'
import { CommandError } from '../command-error.ts'
import { readClusterObjects } from '../placement/cluster-objects.ts'
import { explainLines } from '../placement/explain-text.ts'
import { explainCluster } from '../placement/explained-gangs.ts'
import { placementApiVersion, withInputExitCode } from '../placement/placement-input.ts'
import { printJson, printLines } from '../terminal/print.ts'

export interface ExplainOptions extends ClusterOptions {
  readonly output: string
}

/** Prints why gangs wait: of the namespace, of a PodCliqueSet, or one PodGang. */
export function explainGangs(name: string | undefined, options: ExplainOptions): Promise<void> {
  return withInputExitCode(() =>
    withCluster(options, async cluster => {
      const { namespace } = cluster
      const objects = await readClusterObjects(cluster.client)
      const explained = explainCluster(objects, { namespace, name }, Date.now())
      const { gangs } = explained
      if (gangs.length === 0 && name !== undefined) await requireKnown(cluster, name)
      if (options.output === 'json') printJson({ apiVersion: placementApiVersion, kind: 'Explain', gangs })
      else if (gangs.length === 0)
        printLines([`No gang waits${name === undefined ? ` in namespace ${namespace}` : `: ${name}`}.`])
      else printLines(explainLines(explained))
    }),
  )
}

async function requireKnown(cluster: LiveCluster, name: string): Promise<void> {
  const { client, namespace } = cluster
  const object = { name, namespace }
  if (await client.find(resources.podCliqueSets, object)) return
  if (await client.find(resources.podGangs, object)) return
  const { message } = await noSuchSet(cluster, name)
  throw new CommandError(message.replace('no PodCliqueSet', 'no PodCliqueSet or PodGang'))
}
