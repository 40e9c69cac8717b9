// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { sessions } from '../session.ts'

/** Groups with the same kinds on both clusters. */
const groups = [
  'apps',
  'batch',
  'policy',
  'grove.io',
  'scheduler.grove.io',
  'apiextensions.k8s.io',
  'coordination.k8s.io',
]

export const discoverySessions = sessions({
  'version, cluster-info, api-resources, api-versions, raw paths': async shell => {
    assert.match(
      await shell.types('version', { only: text => text.replace(/v1\.37\.\d+\S*/g, 'v1.37') }),
      /Server Version: v1\.37/,
    )
    await shell.types('cluster-info')
    for (const group of groups) {
      await shell.types(`api-resources --api-group=${group} --no-headers`)
      await shell.types(`api-resources --api-group=${group} -o wide --no-headers`)
    }
    await shell.types('api-resources --api-group= --namespaced=true -o name', {
      only: linesWith(/^(pods|services|configmaps|events)$/),
    })
    await shell.types('api-versions', { only: linesWith(/^(v1|apps\/v1|batch\/v1|grove\.io.*|policy\/v1)$/) })
    for (const path of ['/healthz', '/readyz', '/livez/ping', '/version/nothing', '/apis/grove.io/v1'])
      await shell.types(`get --raw ${path}`, /nothing|v1$/.test(path) ? { code: 1 } : {})
    await shell.types('config view --minify -o jsonpath={.kind}')
    await shell.types('config current-context', { only: () => '' })
    await shell.isRejected('top nodes')
    await shell.isRejected('top pods')
  },

  'explain: kinds, fields, recursively, built-in and custom': async shell => {
    // Descriptions and requirements of the common metadata differ and are not compared.
    const lines = linesWith(/^(KIND|VERSION|GROUP|FIELD)|^ *\S+\t</)
    const fields = (text: string) => lines(text).replaceAll(' -required-', '')
    for (const kind of [
      'pod',
      'deployment',
      'service',
      'node',
      'configmap',
      'resourceclaim',
      'hpa',
      'pdb',
      'job',
    ])
      await shell.types(`explain ${kind}`, { only: fields })
    await shell.types('explain pod --recursive', { only: fields })
    await shell.types('explain deployment.spec --recursive', { only: fields })
    await shell.types('explain pod.spec.containers.resources', { only: fields })
    await shell.types('explain pod.spec.restartPolicy', { only: fields })
    for (const kind of ['pcs', 'pclq', 'pcsg', 'pg', 'ct'])
      await shell.types(`explain ${kind}`, { only: lines })
    await shell.types('explain pcs --recursive', { only: lines })
    await shell.types('explain pcs.spec.template.cliques.spec')
    await shell.types('explain podclique.spec.minAvailable')
    await shell.types('explain podgang --api-version=scheduler.grove.io/v1alpha1 --recursive', {
      only: lines,
    })
    await shell.isRejected('explain pcs.spec.nonsense')
    await shell.isRejected('explain nonsense')
  },
})

function linesWith(pattern: RegExp): (text: string) => string {
  return text =>
    text
      .split('\n')
      .filter(line => pattern.test(line))
      .join('\n')
}
