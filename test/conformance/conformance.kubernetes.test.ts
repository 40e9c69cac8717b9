// SPDX-License-Identifier: Apache-2.0

import { startKubernetes } from '@grove/test-kubernetes'
import { chapters } from './cases/index.ts'
import { runSuite } from './suite.ts'

runSuite('real Kubernetes', chapters, async () => {
  // Only the API server runs: these cases do not cover controllers, scheduler and kubelets.
  const kubernetes = await startKubernetes({
    controllers: false,
    scheduler: false,
    kwok: false,
    flags: { 'kube-apiserver': ['--disable-admission-plugins=ServiceAccount'] },
  })
  const { server, ca, admin } = kubernetes
  return {
    target: { server, ca, certificate: admin.cert, key: admin.key },
    stop: () => kubernetes.stop(),
  }
})
