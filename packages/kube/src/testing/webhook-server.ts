// SPDX-License-Identifier: Apache-2.0

// A webhook server on loopback with its own authority, and a client that trusts it.
import { X509Certificate } from 'node:crypto'
import { Agent, type RequestOptions, request } from 'node:https'
import { connect } from 'node:tls'
import { type KeyPair, MemoryCertificateSource } from '../certificates/index.ts'
import { issueAuthority, issueServer } from '../certificates/issue.ts'
import { systemClock } from '../clock/index.ts'
import { captureLog } from '../log/index.ts'
import { createRegistry } from '../metrics/index.ts'
import { type ServerLimits, WebhookServer } from '../webhook/server.ts'

export const host = '127.0.0.1'
const name = 'hook.system.svc'
const lifetime = {
  notBefore: Date.now() - 3_600_000,
  notAfter: Date.now() + 86_400_000,
  key: 'ecdsa-p256' as const,
}

export const newAuthority = () => issueAuthority({ commonName: 'Test-CA', names: ['Test-CA'], ...lifetime })
export const newServerCertificate = (authority: KeyPair) =>
  issueServer({ commonName: name, names: [name], ...lifetime }, authority)

export interface WebhookResponse {
  readonly status: number
  readonly body: string
  readonly response: {
    uid: string
    allowed: boolean
    status: { code: number; message?: string; reason?: string }
    patch?: string
    patchType?: string
    warnings?: string[]
  }
  readonly apiVersion: string
}

export class TestServer {
  readonly authority: KeyPair
  readonly certificates = new MemoryCertificateSource()
  readonly registry = createRegistry()
  readonly agent = new Agent({ keepAlive: true })
  readonly server: WebhookServer

  private constructor(authority: KeyPair, limits: Partial<ServerLimits>) {
    this.authority = authority
    this.server = new WebhookServer({
      host,
      port: 0,
      certificates: this.certificates,
      clock: systemClock,
      registry: this.registry,
      log: captureLog().log,
      limits,
    })
  }

  static async start(authority: KeyPair, limits: Partial<ServerLimits> = {}): Promise<TestServer> {
    const created = new TestServer(authority, limits)
    created.certificates.set(await newServerCertificate(authority))
    await created.server.start(new AbortController().signal)
    return created
  }

  async stop(): Promise<void> {
    this.agent.destroy()
    await this.server.stop()
  }

  post(
    path: string,
    body: string | Buffer | undefined,
    options: RequestOptions = {},
  ): Promise<WebhookResponse> {
    return new Promise((resolve, reject) => {
      const call = request(
        {
          host,
          port: this.server.port,
          servername: name,
          ca: this.authority.cert,
          path,
          method: 'POST',
          agent: this.agent,
          headers: { 'content-type': 'application/json' },
          ...options,
        },
        response => {
          const chunks: Buffer[] = []
          response.on('data', chunk => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString()
            const json = response.headers['content-type'] === 'application/json' ? JSON.parse(text) : {}
            resolve({ status: response.statusCode ?? 0, body: text, ...json })
          })
        },
      )
      call.on('error', reject)
      call.end(body)
    })
  }

  /** Returns the serial number of the certificate that a new connection receives. */
  presentedSerial(ca: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port: this.server.port!, servername: name, ca })
      socket.on('error', reject)
      socket.on('secureConnect', () => {
        const serial = new X509Certificate(socket.getPeerCertificate(true).raw).serialNumber
        socket.end()
        resolve(serial)
      })
    })
  }
}

export const review = (over: object = {}, apiVersion = 'admission.k8s.io/v1') =>
  JSON.stringify({
    apiVersion,
    kind: 'AdmissionReview',
    request: {
      uid: 'u-1',
      operation: 'CREATE',
      kind: { group: 'example.com', version: 'v1', kind: 'Fleet' },
      resource: { group: 'example.com', version: 'v1', resource: 'fleets' },
      userInfo: { username: 'alice' },
      object: { spec: { replicas: 1 } },
      ...over,
    },
  })
