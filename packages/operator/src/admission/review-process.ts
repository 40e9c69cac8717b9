// SPDX-License-Identifier: Apache-2.0

// The program of the processes that decide admission reviews. An entry point of its own: it loads the rules and nothing
// that speaks to a cluster.
import { flushCompileCache } from 'node:module'
import { serveReviews } from '@grove/kube/admission'
import { type AdmissionSetup, type Facts, type Questions, webhooksByPath } from './webhook-rules.ts'

serveReviews<AdmissionSetup, Questions, Facts>(setup => {
  const webhooks = webhooksByPath(setup)
  // Stores the compile cache now, because the process is always killed. Has no effect unless NODE_COMPILE_CACHE is set.
  flushCompileCache()
  return webhooks
})
