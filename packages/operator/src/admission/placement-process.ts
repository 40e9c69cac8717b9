// SPDX-License-Identifier: Apache-2.0

// The entry point of the process that checks whether sets fit on the present nodes. It is separate so that the other
// review processes do not load the placement core.
import { serveReviews } from '@grove/kube/admission'
import { type PlacementQuestion, placementWebhook, type SentFacts } from './placement-webhook.ts'
import { type AdmissionSetup, webhookPaths } from './webhook-rules.ts'

serveReviews<AdmissionSetup, PlacementQuestion, SentFacts>(({ configuration }) => ({
  [webhookPaths.warnAboutPlacement]: placementWebhook(configuration),
}))
