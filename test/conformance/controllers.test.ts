// SPDX-License-Identifier: Apache-2.0

import { createCluster, inProcessTransport, plainNodes, serveHttps, startControllers } from '@grove/cluster'
import { createClientOn } from '@grove/kube'
import { controllerChapters } from './cases/controllers/index.ts'
import { runSuite } from './suite.ts'

runSuite('the controllers of the embedded cluster', controllerChapters, async () => {
  const cluster = createCluster({ authorization: 'rbac' })
  const front = await serveHttps({ handle: cluster.handle, authenticate: cluster.authenticate })
  const { authority, admin } = front.certificates
  const controllers = await startControllers(createClientOn(inProcessTransport(cluster.handle)), {
    serviceAccounts: { caCertificate: authority, tokenIssuer: cluster.tokens },
    kubelet: { settings: { startMs: 1, initMs: 1, readyMs: 1, stopMs: 1 } },
  })
  await controllers.fleet.add(plainNodes(2))
  return {
    target: { server: front.url, ca: authority, certificate: admin.cert, key: admin.key },
    async stop() {
      await controllers.stop()
      await front.close()
      cluster.stop()
    },
  }
})
