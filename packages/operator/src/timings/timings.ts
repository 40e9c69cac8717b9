// SPDX-License-Identifier: Apache-2.0

// Every delay, timeout, retry and debounce of the operator, with its reason. No other file of the operator holds a
// literal time: a check of the repository enforces it. Times that users configure are in the operator configuration.
// Retries of failed reconciles, of requests and of watches are in packages/kube.

// From a change to a reconcile

/** A parent waits this long for further changes of its children, so that a burst of changes costs one reconcile. */
export const parentDebounceMs = 50
/** The wait grows with the number of children, because the cost of a reconcile does. */
export const parentDebouncePerChildMs = 0.2
/** The same debounce for a clique, per pod. */
export const cliqueDebouncePerPodMs = 0.5
/** The longest debounce. Users see a change of a large set within half a second. */
export const longestDebounceMs = 300
/**
 * For a set that is being updated. Every step of the update waits for it, so it does not grow with the number of
 * children. A reconcile of the set evaluates only replicas that have changed.
 */
export const updateDebounceMs = 10
/** Pods of one gang become scheduled and ready within moments of each other. */
export const gangDebounceMs = 100
/** Delay until the next slice, if one reconcile could not create all objects. Other keys are processed first. */
export const nextSliceMs = 1

// From a reconcile to a status

/**
 * Longest time by which a status write is delayed to cover further changes. Pods of a clique become ready within
 * moments of each other; without a delay each of them would cost a write. The status of a scaling group follows those
 * of its cliques: twice this delay and the time in which events are coalesced stay below one second.
 */
export const statusDebounceMs = 300
/**
 * A gang is created when its pods exist: then one request lists all of them. It is created after this time at the
 * latest, so that users see a gang whose pods cannot be created.
 */
export const gangCreationGraceMs = 3_000
/** A missing pod of a gang is reported only after this time: most pods are recreated within moments. */
export const lostPodGraceMs = 2_000
/**
 * A cause that blocks a set is reported as Stalled after this time, because most causes are resolved within moments.
 */
export const stalledAfterMs = 5_000

// Pods that fail

/**
 * Time between the creation of a failed pod and its replacement, after the first failure. Doubles with each failure.
 */
export const firstReplacementDelayMs = 1_000
/** The same limit as the container back-off of a kubelet. */
export const longestReplacementDelayMs = 300_000
/** A pod that is at least this old when it is replaced ends the series: its failure is the first of a new series. */
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

/** ComputeDomains are kept this long for pods that do not terminate: twice the default grace period of a pod. */
export const domainsHeldMs = 60_000

// Tokens of start-up waiters. The operator does not watch Secrets, so it has to read them.

/** A Secret is not read again within this time: many cliques of one set start together. */
export const tokenReadValidMs = 1_000
/** While cliques wait for a token, the Secret is read after these delays, each twice as long as the one before. */
export const firstTokenPollMs = 100
export const longestTokenPollMs = 5_000
/** Clusters write a token within moments. After this time the set reports that it is missing. */
export const missingTokenReportedAfterMs = 10_000
/** Pods that use the former Secret end independently, so reading it more often would not help. */
export const formerTokenCheckMs = 60_000

// The process

/**
 * Time from a signal until the webhooks stop. Kubernetes signals a pod while API servers still open connections to it.
 * The EndpointSlice and the rules of every node follow within a second or two.
 */
export const webhookDrainMs = 5_000
/** When the process stops, pending events are written for this long. */
export const lastEventsMs = 2_000
/** The API server waits this long for a webhook. It is the API server's own default. */
export const webhookTimeoutSeconds = 10
/** The API server waits this long for a warning. Users and autoscalers wait with it if the operator is unreachable. */
export const warningTimeoutSeconds = 2
/**
 * After this time the operator allows the request without a warning. The webhook server rejects at 90 % of the
 * timeout.
 */
export const scalingDeadlineMs = 1_500
/**
 * The timeout of warnings about placement. They are less important, so users wait less. The operator responds earlier.
 */
export const placementTimeoutSeconds = 5
/** The operator admits a set without a warning after this time. */
export const placementDeadlineMs = 3_000
/** Longest work for one warning. The rest of the time is for the start of the process. */
export const placementBudgetMs = 2_000
