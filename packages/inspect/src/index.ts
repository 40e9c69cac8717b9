// SPDX-License-Identifier: Apache-2.0

// The state of a PodCliqueSet as data, for the commands `tree` and `status` and for the dashboard. Pure.
export { causeObjects, causeText } from './cause-text.ts'
export { type Cause, type CauseObject, causesOf, isRootCause, isUnschedulable } from './causes.ts'
export {
  cliApiVersion,
  isConverged,
  type NodeDocument,
  type StatusDocument,
  statusDocument,
  type TreeDocument,
  treeDocument,
} from './documents.ts'
export { type CountedWait, sentenceOf, whyNotReady } from './pod-waits.ts'
export { type GangNote, type SetObjects, setTree, type TreeCount, type TreeNode } from './set-model.ts'
export { troublesOf } from './troubles.ts'
