// SPDX-License-Identifier: Apache-2.0

// An admission webhook on loopback with responses that a case chooses.
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { makeCertificates } from '@grove/cluster'
import type { JsonObject } from './json.ts'
import type { Fixture } from './suite.ts'

export interface HookRequest extends JsonObject {
  readonly uid: string
  readonly operation: string
  readonly object: (JsonObject & { metadata: JsonObject }) | null
  readonly oldObject: (JsonObject & { metadata: JsonObject }) | null
}

/** The response without its uid. A response that never resolves stays pending until the server is closed. */
export type Respond = (request: HookRequest) => object | Promise<object>

export interface HookServer {
  readonly port: number
  readonly caBundle: string
  readonly seen: HookRequest[]
  close(): Promise<void>
}

/** The certificate is valid for 127.0.0.1 and for the Service `hook` in the namespace of the case. */
export async function startHook({ namespace }: Fixture, respond: Respond): Promise<HookServer> {
  const certificates = makeCertificates(Date.now(), ['127.0.0.1', `hook.${namespace}.svc`])
  const seen: HookRequest[] = []
  const server = createServer(certificates.server, async (incoming, outgoing) => {
    let text = ''
    for await (const chunk of incoming.setEncoding('utf8')) text += chunk
    const { request } = JSON.parse(text) as { request: HookRequest }
    seen.push(request)
    const response = { uid: request.uid, ...(await respond(request)) }
    outgoing.setHeader('content-type', 'application/json')
    outgoing.end(JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', response }))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    caBundle: Buffer.from(certificates.authority).toString('base64'),
    seen,
    async close() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
