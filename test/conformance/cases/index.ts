// SPDX-License-Identifier: Apache-2.0

import { apply } from './apply.ts'
import { applyLists } from './apply-lists.ts'
import { autoscalers } from './autoscalers.ts'
import { badRequests } from './bad-requests.ts'
import { bindings } from './bindings.ts'
import { resourceClaims } from './claims.ts'
import { crud } from './crud.ts'
import { customResources } from './custom-resources.ts'
import { customValidation } from './custom-validation.ts'
import { deletion } from './deletion.ts'
import { discovery } from './discovery.ts'
import { dryRun } from './dry-run.ts'
import { events } from './events.ts'
import { evictions } from './evictions.ts'
import { fieldErrors } from './field-errors.ts'
import { kept } from './kept.ts'
import { kinds } from './kinds.ts'
import { nodeCases } from './nodes.ts'
import { owners } from './owners.ts'
import { paging } from './paging.ts'
import { patches } from './patches.ts'
import { podResize } from './pod-resize.ts'
import { podSubresources } from './pod-subresources.ts'
import { podUpdates } from './pod-updates.ts'
import { pods } from './pods.ts'
import { preconditions } from './preconditions.ts'
import { rbac } from './rbac.ts'
import { rejectionChapters } from './rejections/index.ts'
import { requests } from './requests.ts'
import { rights } from './rights.ts'
import { scale } from './scale.ts'
import { scaleWebhooks } from './scale-webhooks.ts'
import { selectors } from './selectors.ts'
import { services } from './services.ts'
import { status } from './status.ts'
import { strategicPatches } from './strategic-patches.ts'
import { tokens } from './tokens.ts'
import { watches } from './watches.ts'
import { webhookConfigurations } from './webhook-configurations.ts'
import { webhookMatching } from './webhook-matching.ts'
import { webhooks } from './webhooks.ts'

export const chapters = [
  crud,
  patches,
  strategicPatches,
  owners,
  apply,
  applyLists,
  selectors,
  watches,
  paging,
  preconditions,
  deletion,
  dryRun,
  status,
  scale,
  scaleWebhooks,
  pods,
  podUpdates,
  podSubresources,
  bindings,
  evictions,
  podResize,
  nodeCases,
  kinds,
  kept,
  autoscalers,
  resourceClaims,
  services,
  customResources,
  customValidation,
  fieldErrors,
  requests,
  badRequests,
  discovery,
  events,
  rbac,
  rights,
  tokens,
  webhooks,
  webhookMatching,
  webhookConfigurations,
  ...rejectionChapters,
]
