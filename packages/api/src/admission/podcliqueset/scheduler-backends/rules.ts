// SPDX-License-Identifier: Apache-2.0

import type { PodCliqueSet } from '../../../types/index.ts'
import type { ClusterView } from '../../cluster-view.ts'

/** Rules of one scheduler backend for a PodCliqueSet, in addition to the general rules. */
export interface SchedulerRules {
  /**
   * All parts of the object that `validate` reads. An update that leaves them unchanged is not validated again: a queue
   * that was closed later must not block scaling, labelling or deleting.
   */
  inputs(set: PodCliqueSet): unknown
  /** Returns the error message, if the set is invalid. */
  validate(set: PodCliqueSet, cluster: ClusterView): string | undefined
}
