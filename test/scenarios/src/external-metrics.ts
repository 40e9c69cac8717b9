// SPDX-License-Identifier: Apache-2.0

// Serves external metrics to the autoscalers of a real cluster: an aggregated API server on loopback. The value of a
// metric is an annotation of the autoscaler, the same one that the embedded cluster reads.
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { makeCertificates } from '@grove/cluster'
import type { Client } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Kubernetes } from '@grove/test-kubernetes'

const group = 'external.metrics.k8s.io'
const version = 'v1beta1'
const service = { name: 'external-metrics', namespace: 'kube-system' }

const kindsServed = {
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: `${group}/${version}`,
  resources: [],
}

export async function serveExternalMetrics(kubernetes: Kubernetes, client: Client): Promise<AsyncDisposable> {
  const { authority, server } = makeCertificates(Date.now(), [`${service.name}.${service.namespace}.svc`])
  const front = createServer(server, async ({ url = '' }, response) => {
    const body = await responseTo(url, client)
    response.writeHead(body ? 200 : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body ?? { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 404 }))
  })
  await new Promise<void>(resolve => front.listen(0, '127.0.0.1', resolve))
  await kubernetes.apply([
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: service,
      spec: { type: 'ExternalName', externalName: 'localhost' },
    },
    {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: `${version}.${group}` },
      spec: {
        group,
        version,
        groupPriorityMinimum: 100,
        versionPriority: 100,
        caBundle: Buffer.from(authority).toString('base64'),
        service: { ...service, port: (front.address() as AddressInfo).port },
      },
    },
  ] as never)
  return {
    async [Symbol.asyncDispose]() {
      front.closeAllConnections()
      await new Promise(resolve => front.close(resolve))
    },
  }
}

async function responseTo(url: string, client: Client): Promise<object | undefined> {
  const { pathname } = new URL(url, 'https://localhost')
  if (pathname === `/apis/${group}/${version}`) return kindsServed
  const [, namespace = '', metricName = ''] =
    new RegExp(`^/apis/${group}/${version}/namespaces/([^/]+)/([^/]+)$`).exec(pathname) ?? []
  if (!metricName) return undefined
  const { items } = await client.list(resources.autoscalers, { namespace })
  const value = items
    .map(({ metadata }) => metadata.annotations?.[`simulate.grove.io/metric.${metricName}`])
    .find(found => found !== undefined)
  const timestamp = new Date().toISOString()
  return {
    kind: 'ExternalMetricValueList',
    apiVersion: `${group}/${version}`,
    metadata: {},
    items: value === undefined ? [] : [{ metricName, metricLabels: {}, timestamp, value }],
  }
}
