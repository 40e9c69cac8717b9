// SPDX-License-Identifier: Apache-2.0

// Every delay, timeout, retry and debounce of the operator, with its reason. No other file of the operator holds a literal
// time: a check of the repository enforces it. Times that users configure are in the operator configuration. Retries of
// failed reconciles, of requests and of watches are in packages/kube.

// From a change to a reconcile

/** A parent waits this long for further changes of its children, so that a burst of changes costs one reconcile. */
export const parentDebounceMs = 50
/** The wait grows with the number of children, because the cost of a reconcile does. */
export const parentDebouncePerChildMs = 0.2
/** The same for a clique and each of its pods. */
export const cliqueDebouncePerPodMs = 0.5
/** No reconcile waits longer for further changes. Users see a change of a large set within half a second. */
export const longestDebounceMs = 300
/**
 * For a set that is being updated. Every step of the update waits for it, so it does not grow with the number of children:
 * a reconcile of the set evaluates only replicas that have changed.
 */
export const updateDebounceMs = 10
/** Pods of one gang become scheduled and ready within moments of each other. */
export const gangDebounceMs = 100
/** A reconcile that may create more objects than one reconcile creates continues after this time, behind other keys. */
export const nextSliceMs = 1

// From a reconcile to a status

/**
 * Longest time by which a status write is delayed to cover further changes. Pods of a clique become ready within moments
 * of each other; without a delay each of them would cost a write. The status of a scaling group follows those of its
 * cliques: twice this delay and the time in which events are coalesced stay below one second.
 */
export const statusDebounceMs = 300
/**
 * A gang whose pods are being created is not created until they exist: then one request lists all of them. It never waits
 * longer than this, so that users see a gang whose pods cannot be created.
 */
export const gangCreationGraceMs = 3_000
/** A missing pod of a gang is reported only after this time: most pods are recreated within moments. */
export const lostPodGraceMs = 2_000
/** A cause for which a set makes no progress is reported as Stalled after this time: most are over within moments. */
export const stalledAfterMs = 5_000

// Pods that fail

/** Between the creation of a pod that failed and its replacement, after the first failure. Doubles with each failure. */
export const firstReplacementDelayMs = 1_000
/** The same bound as the back-off of a kubelet for containers. */
export const longestReplacementDelayMs = 300_000
/** A pod that is at least this old when it is replaced ends the series: its failure is the first of a new one. */
export const healthyAfterMs = 600_000

// Updates and gang termination

/** A burst of edits ends within this time. Until then pods that are still starting are not replaced. */
export const revisionStableAfterMs = 3_000
/** The delay of a set without `terminationDelay`. Admission sets the same default. */
export const defaultTerminationDelayMs = 14_400_000
/**
 * Earlier operators did not record that a clique was ever scheduled. A first condition that turned False no later than
 * this after the creation of the clique means that it never was.
 */
export const firstConditionWithinMs = 5_000

// Deletion

/** ComputeDomains are kept this long for pods that do not end: twice the usual grace period of a pod. */
export const domainsHeldMs = 60_000

// Tokens of start-up waiters. The operator does not watch Secrets, so it has to read them.

/** A Secret is not read again within this time: many cliques of one set start together. */
export const tokenReadValidMs = 1_000
/** While cliques wait for a token, the Secret is read after these waits, each twice as long as the one before. */
export const firstTokenPollMs = 100
export const longestTokenPollMs = 5_000
/** Clusters fill a token in within moments. After this time the set reports that it is missing. */
export const missingTokenReportedAfterMs = 10_000
/** Pods that still use the former Secret end at their own time, so reading it more often is of no use. */
export const formerTokenCheckMs = 60_000

// The process

/**
 * From a signal until the webhooks stop. Kubernetes signals a pod while API servers still open connections to it: the
 * EndpointSlice and the rules of every node follow, within a second or two.
 */
export const webhookDrainMs = 5_000
/** Events that are still to be written when the process stops get this long. */
export const lastEventsMs = 2_000
/** The API server waits this long for a webhook. It is the API server's own default. */
export const webhookTimeoutSeconds = 10
/** The API server waits this long for a warning. Users and autoscalers wait with it if the operator is unreachable. */
export const warningTimeoutSeconds = 2
/** After this time the operator allows the request without a warning. The webhook server rejects at 90 % of the timeout. */
export const scalingDeadlineMs = 1_500
/** The same for warnings about placement, which are worth less of the user's time. The operator responds earlier. */
export const placementTimeoutSeconds = 5
/** The operator admits a set without a warning after this time. */
export const placementDeadlineMs = 3_000
/** Longest work for one warning. The rest of the time is for the start of the process. */
export const placementBudgetMs = 2_000
