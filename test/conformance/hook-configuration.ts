// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { type HookServer, type Respond, startHook } from './hook-server.ts'
import type { Response } from './http.ts'
import { configMap } from './objects.ts'
import type { Fixture } from './suite.ts'

const group = '/apis/admissionregistration.k8s.io/v1'

export const mapsRule = {
  operations: ['CREATE', 'UPDATE', 'DELETE'],
  apiGroups: [''],
  apiVersions: ['v1'],
  resources: ['configmaps'],
}

type Kind = 'Mutating' | 'Validating'

interface Setting extends Fixture {
  readonly hook: HookServer
  readonly hookName: string
  /** Creates a ConfigMap until the webhook is called: a real server observes a new configuration with a delay. */
  heard(): Promise<Response>
}

/** Runs a case with one webhook for the ConfigMaps of its namespace; `hook` overrides fields of its configuration. */
export async function withHook(
  fixture: Fixture,
  kind: Kind,
  respond: Respond,
  hook: (server: HookServer) => object,
  run: (setting: Setting) => Promise<void>,
): Promise<void> {
  const { http, id, namespace, core } = fixture
  const server = await startHook(fixture, respond)
  const path = `${group}/${kind.toLowerCase()}webhookconfigurations`
  const hookName = `hook.${id}.example.com`
  const made = await http.post(path, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: `${kind}WebhookConfiguration`,
    metadata: { name: id },
    webhooks: [
      {
        name: hookName,
        clientConfig: { url: `https://127.0.0.1:${server.port}/validate`, caBundle: server.caBundle },
        rules: [mapsRule],
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        timeoutSeconds: 5,
        ...hook(server),
      },
    ],
  })
  try {
    assert.equal(made.status, 201, made.raw)
    const heard = async () => {
      let attempt = 0
      let last: Response | undefined
      await fixture.eventually(
        async () => {
          last = await http.post(core('configmaps'), configMap(`probe-${attempt++}`))
        },
        () => server.seen.length > 0 || last?.status !== 201,
      )
      return last!
    }
    await run({ ...fixture, hook: server, hookName, heard })
  } finally {
    await http.delete(`${path}/${id}`)
    await server.close()
  }
}
