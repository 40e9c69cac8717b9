// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { call } from '../testing/grove-call.ts'

const manifest = `
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: demo}
spec:
  template:
    resourceSharing: [{name: gpu, namespace: devices, scope: AllReplicas}]
    cliques:
      - {name: web, spec: {roleName: web, podSpec: {containers: [{name: main, image: registry.example/web:1}]}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpu, namespace: devices}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: example}}]}}}
`
const configuration = (namespaces: string) => `
apiVersion: operator.config.grove.io/v1alpha1
kind: OperatorConfiguration
resourceSharing: {allowedTemplateNamespaces: ${namespaces}}
`

test('claim templates of other namespaces are allowed, unless the configuration restricts them', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'grove-cli-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const set = file('set.yaml', manifest)
  for (const command of ['validate', 'render']) {
    const accepted = [[], ['--config', file('open.yaml', configuration('[devices]'))]]
    for (const args of accepted) assert.equal((await call([command, '-f', set, ...args])).status, 0, command)
    const restricted = file('restricted.yaml', configuration('[]'))
    const { status, stdout, stderr } = await call([command, '-f', set, '--config', restricted])
    assert.equal(status, 1, command)
    assert.match(stdout + stderr, /claim templates of namespace "devices" may not be used/)
  }
})
