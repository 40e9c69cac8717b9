// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { sessions } from '../session.ts'

export const accessSessions = sessions({
  'auth can-i: yes, no, for other users, all rules': async shell => {
    const { namespace } = shell
    const robot = `system:serviceaccount:${namespace}:robot`
    assert.equal(await shell.types('auth can-i create pods'), 'yes\n')
    await shell.types('auth can-i * *')
    await shell.types('auth can-i delete nodes')
    await shell.types('create serviceaccount robot')
    assert.equal(await shell.types(`auth can-i list pods --as=${robot}`, { code: 1 }), 'no\n')
    await shell.types('create role reader --verb=get,list --resource=pods,pods/log,deployments.apps')
    await shell.types(`create rolebinding reader --role=reader --serviceaccount=${namespace}:robot`)
    assert.equal(await shell.sees(`auth can-i list pods --as=${robot}`, /yes/), 'yes\n')
    await shell.types(`auth can-i get pods/log --as=${robot}`)
    await shell.types(`auth can-i get pods --subresource=log --as=${robot}`)
    await shell.types(`auth can-i list pods -A --as=${robot}`, { code: 1 })
    await shell.types(`auth can-i delete pods --as=${robot} -q`, { code: 1 })
    await shell.types(`auth can-i get /healthz --as=${robot}`)
    await shell.types(`auth can-i --list --as=${robot}`, { sorted: true })
    await shell.types('auth can-i get nonsense')
    await shell.types('auth whoami', { only: text => text.replace(/^(Extra|Username).*\n/gm, '') })
    await shell.types('auth whoami -o jsonpath={.kind}')
    await shell.isRejected(`get secrets --as=${robot}`)
    await shell.types(`get pods --as=${robot}`)
    await shell.isRejected(`create configmap no --as=${robot}`)
    await shell.isRejected(`get nodes --as=${robot} --as-group=missing`)
    await shell.types('auth reconcile -f - --dry-run=client', {
      input: JSON.stringify({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: { name: 'reader', namespace },
        rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'watch'] }],
      }),
    })
  },

  'create token: creates a valid token': async shell => {
    await shell.types('create serviceaccount robot')
    const token = (await shell.silently('create token robot --duration=10m')).trim()
    assert.match(token, /^[\w-]+\.[\w-]+\.[\w-]+$/)
    const claims = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())
    assert.equal(claims.sub, `system:serviceaccount:${shell.namespace}:robot`)
    assert.equal(claims.exp - claims.iat, 600)
    const rejected = await shell.isRejected('create token missing')
    assert.match(rejected, /serviceaccounts "missing" not found/)
  },
})
