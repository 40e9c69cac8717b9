// SPDX-License-Identifier: Apache-2.0

// The program of the processes that decide admission reviews. An entry point of its own: it loads the rules and nothing
// that speaks to a cluster.
import { flushCompileCache } from 'node:module'
import { serveReviews } from '@grove/kube/admission'
import { warmUpSet } from '../rehearsal/warm-up-set.ts'
import {
  type AdmissionSetup,
  type Facts,
  type Questions,
  webhookPaths,
  webhooksByPath,
} from './webhook-rules.ts'

/** As often as it helps: after that V8 has compiled the rules. */
const warmUpRounds = 8

serveReviews<AdmissionSetup, Questions, Facts>(setup => {
  const webhooks = webhooksByPath(setup)
  // The first request would otherwise wait a tenth of a second for the decoder and the compiler.
  for (let round = 0; round < warmUpRounds; round++) {
    const object = warmUpSet(`round-${round}`)
    const request = {
      uid: '',
      operation: 'CREATE',
      namespace: object.metadata.namespace ?? '',
      kind: { group: 'grove.io', version: 'v1alpha1', kind: 'PodCliqueSet' },
      resource: { group: 'grove.io', version: 'v1alpha1', resource: 'podcliquesets' },
      userInfo: {},
      object,
    }
    for (const path of [webhookPaths.defaultPodCliqueSet, webhookPaths.validatePodCliqueSet])
      webhooks[path]?.decide(request, undefined)
  }
  // Stored now: the process is killed, never ended in order. Nothing happens unless NODE_COMPILE_CACHE names a folder.
  flushCompileCache()
  return webhooks
})
