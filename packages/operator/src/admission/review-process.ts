// SPDX-License-Identifier: Apache-2.0

// The entry point of the processes that decide admission reviews. It is separate so that they load only the rules, and
// no Kubernetes client.
import { flushCompileCache } from 'node:module'
import { serveReviews } from '@grove/kube/admission'
import { type AdmissionSetup, type Facts, type Questions, webhooksByPath } from './webhook-rules.ts'

serveReviews<AdmissionSetup, Questions, Facts>(setup => {
  const webhooks = webhooksByPath(setup)
  // Stores the compile cache now, because the process is always killed and would not store it at exit. Has no effect
  // unless NODE_COMPILE_CACHE is set.
  flushCompileCache()
  return webhooks
})
