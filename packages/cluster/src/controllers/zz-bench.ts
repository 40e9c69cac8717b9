import { createClientOn } from '@grove/kube'
import { createCluster } from '../cluster.ts'
import { inProcessTransport } from '../front/in-process.ts'
import { plainNodes } from '../nodes/topology.ts'
import { deployments, pods } from './kinds.ts'
import { startControllers } from './start-controllers.ts'
import { podOf } from './testing/test-cluster.ts'

const nodes = Number(process.argv[2] ?? 100),
  count = Number(process.argv[3] ?? 3000)
const cluster = createCluster({ seed: 1 })
const client = createClientOn(inProcessTransport(cluster.handle))
const c = await startControllers(client, {
  kubelet: { settings: { startMs: 0, readyMs: 0, initMs: 0, stopMs: 0 } },
})
let t = performance.now()
await c.fleet.add(plainNodes(nodes))
await new Promise(r => setTimeout(r, 500))
console.log('nodes', nodes, Math.round(performance.now() - t - 500), 'ms')
const running = async (n: number) => {
  for (;;) {
    await new Promise(r => setTimeout(r, 50))
    let k = 0
    for (const p of cluster.store.list('pods', { prefix: '' }).items as any[])
      if (p.status?.phase === 'Running') k++
    if (k >= n) return
  }
}
t = performance.now()
await Promise.all(
  Array.from({ length: count }, (_, i) => client.create(pods, podOf(`p${i}`, { requests: { cpu: '100m' } }))),
)
console.log('created', Math.round(performance.now() - t))
await running(count)
console.log(
  'pods running',
  count,
  Math.round(performance.now() - t),
  'ms',
  Math.round((count / (performance.now() - t)) * 1000),
  '/s',
)
t = performance.now()
await client.deleteCollection(pods, { namespace: 'default' })
for (;;) {
  await new Promise(r => setTimeout(r, 20))
  if (cluster.store.list('pods', { prefix: '' }).items.length === 0) break
}
console.log('deleted', Math.round(performance.now() - t), 'ms')
t = performance.now()
await client.create(deployments, {
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    replicas: count,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
})
await running(count)
console.log('deployment', count, Math.round(performance.now() - t), 'ms')
t = performance.now()
await client.delete(deployments, { namespace: 'default', name: 'web' })
for (;;) {
  await new Promise(r => setTimeout(r, 20))
  if (cluster.store.list('pods', { prefix: '' }).items.length === 0) break
}
console.log(
  'gc',
  Math.round(performance.now() - t),
  'ms',
  Math.round(process.memoryUsage().heapUsed / 1e6),
  'MB',
)
await c.stop()
process.exit()
