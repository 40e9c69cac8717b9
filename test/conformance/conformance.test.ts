// SPDX-License-Identifier: Apache-2.0

import { createCluster, serveHttps } from '@grove/cluster'
import { chapters } from './cases/index.ts'
import { runSuite } from './suite.ts'

runSuite('the embedded cluster', chapters, async () => {
  const cluster = createCluster({ authorization: 'rbac' })
  const front = await serveHttps({ handle: cluster.handle, authenticate: cluster.authenticate })
  const { authority, admin } = front.certificates
  return {
    target: { server: front.url, ca: authority, certificate: admin.cert, key: admin.key },
    async stop() {
      await front.close()
      cluster.stop()
    },
  }
})
