// SPDX-License-Identifier: Apache-2.0

import { startKubernetes } from '@grove/test-kubernetes'
import { controllerChapters } from './cases/controllers/index.ts'
import { runSuite } from './suite.ts'

runSuite('the controllers of real Kubernetes', controllerChapters, async () => {
  const kubernetes = await startKubernetes({ nodes: 2 })
  const { server, ca, admin } = kubernetes
  return {
    target: { server, ca, certificate: admin.cert, key: admin.key },
    stop: () => kubernetes.stop(),
  }
})
