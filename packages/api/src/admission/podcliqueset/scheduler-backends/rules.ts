// SPDX-License-Identifier: Apache-2.0

import type { PodCliqueSet } from '../../../types/index.ts'
import type { ClusterView } from '../../cluster-view.ts'

/** What one scheduler backend asks of a PodCliqueSet beyond the rules that hold for all. */
export interface SchedulerRules {
  /**
   * Everything in the object that `validate` looks at. What an update leaves as it was is not judged again: a queue
   * that was closed meanwhile must not keep anybody from scaling, labelling or deleting.
   */
  inputs(set: PodCliqueSet): unknown
  /** What is wrong, if anything. */
  validate(set: PodCliqueSet, cluster: ClusterView): string | undefined
}
