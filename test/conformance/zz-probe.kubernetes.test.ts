// SPDX-License-Identifier: Apache-2.0
import { startKubernetes } from '@grove/test-kubernetes'
import { apply } from './cases/apply.ts'
import { applyLists } from './cases/apply-lists.ts'
import { owners } from './cases/owners.ts'
import { runSuite } from './suite.ts'

runSuite('real Kubernetes', [owners, apply, applyLists], async () => {
  const kubernetes = await startKubernetes({
    controllers: false,
    scheduler: false,
    kwok: false,
    flags: { 'kube-apiserver': ['--disable-admission-plugins=ServiceAccount'] },
  })
  const { server, ca, admin } = kubernetes
  return {
    target: { server, ca, certificate: admin.certificate, key: admin.key },
    stop: () => kubernetes.stop(),
  }
})
