// SPDX-License-Identifier: Apache-2.0

// The program of the processes that decide admission reviews. An entry point of its own: it loads the rules and nothing
// that speaks to a cluster.
import { flushCompileCache } from 'node:module'
import { serveReviews } from '@grove/kube/admission'
import { type AdmissionSetup, type Facts, type Questions, webhooksByPath } from './webhook-rules.ts'

serveReviews<AdmissionSetup, Questions, Facts>(setup => {
  const webhooks = webhooksByPath(setup)
  // Stored now: the process is killed, never ended in order. Nothing happens unless NODE_COMPILE_CACHE names a folder.
  flushCompileCache()
  return webhooks
})
