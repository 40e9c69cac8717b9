// SPDX-License-Identifier: Apache-2.0

import { startKubernetes } from '@grove/test-kubernetes'
import { chapters } from './cases/index.ts'
import { runSuite } from './suite.ts'

runSuite('real Kubernetes', chapters, async () => {
  // The API server alone: what controllers, scheduler and kubelets do is not what these cases are about.
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
