// SPDX-License-Identifier: Apache-2.0

import { kinds } from '../kinds.ts'
import type {
  PodCliqueSpec,
  PodCliqueStatus,
  PodCliqueUpdateProgress,
  PodsSelectedToUpdate,
} from '../types/index.ts'
import { autoScaling } from './autoscaling.ts'
import { conditions } from './condition.ts'
import { breachColumn, type Definition, integerColumn, wide } from './definition.ts'
import { embedded } from './embedded.ts'
import { lastErrors } from './last-error.ts'
import { described, int32, int64, object, required, string, stringList, time } from './schema.ts'
import type { StructuralSchema } from './structural-schema.ts'

/** The spec of a PodClique, and of a clique template of a PodCliqueSet. */
export function podCliqueSpec(description: string): StructuralSchema {
  return object<PodCliqueSpec>(description, {
    roleName: required(string('Role of the clique in the system, unique in the set. Immutable.')),
    podSpec: required(
      described(
        'Spec of the pods (see `kubectl explain pod.spec`). All cliques of a set must have the same scheduler.',
        embedded('core.v1.PodSpec'),
      ),
    ),
    replicas: required(int32('Number of pods.')),
    minAvailable: int32(
      'Number of pods that are scheduled together, all or none, and that must stay available. With fewer available pods the termination delay starts. Defaults to `replicas`. Immutable.',
    ),
    startsAfter: stringList(
      'Cliques that must be ready before the pods of this one start. Only for CliqueStartupTypeExplicit, and without cycles. Immutable. In a PodClique these are full names of PodCliques.',
    ),
    autoScalingConfig: autoScaling(
      'Creates a HorizontalPodAutoscaler for the clique. Not allowed for members of a scaling group, which scale as a group.',
    ),
  })
}

const updateProgress = object<PodCliqueUpdateProgress>(
  'Progress of the current update, or of the last one.',
  {
    updateStartedAt: time('Start time of the update.'),
    updateEndedAt: time('End time of the update. Absent during the update.'),
    podCliqueSetGenerationHash: required(
      string('Target of the update: generation hash of the PodCliqueSet.'),
    ),
    podTemplateHash: required(string('Target of the update: hash of the pod template.')),
    readyPodsSelectedToUpdate: object<PodsSelectedToUpdate>('Ready pods that are replaced, one at a time.', {
      current: required(string('Pod that is being replaced.')),
      completed: stringList('Pods that were replaced already, oldest first.'),
      currentIndex: int32(
        'Index of the pod that is being replaced. The next pod is replaced when the new pod with this index is ready.',
      ),
    }),
  },
)

const status = object<PodCliqueStatus>('Status reported by the operator.', {
  observedGeneration: int64('Last observed generation of the object.'),
  lastErrors,
  replicas: int32('Pods that exist and are not being deleted.'),
  readyReplicas: required(int32('Pods that are ready.', { default: 0 })),
  updatedReplicas: required(int32('Pods with the newest template.', { default: 0 })),
  scheduleGatedReplicas: required(
    int32('Pods with a scheduling gate, until their gang is complete.', { default: 0 }),
  ),
  scheduledReplicas: required(int32('Pods that are bound to a node.', { default: 0 })),
  hpaPodSelector: string('Selects the pods for autoscalers. Absent for members of a scaling group.'),
  conditions,
  currentPodCliqueSetGenerationHash: string(
    'Generation hash of the PodCliqueSet that all pods have reached.',
  ),
  currentPodTemplateHash: string('Hash of the pod template that all pods have reached.'),
  updateProgress,
})

export const podClique: Definition = {
  kind: kinds.podClique,
  description:
    'PodClique is a group of pods with one role that are scheduled as a gang. The operator creates it from a clique of a PodCliqueSet. Edit the PodCliqueSet to change it.',
  columns: [
    integerColumn('MinAvail', '.spec.minAvailable'),
    integerColumn('Replicas', '.spec.replicas'),
    integerColumn('Ready', '.status.readyReplicas'),
    integerColumn('Scheduled', '.status.scheduledReplicas'),
    integerColumn('Updated', '.status.updatedReplicas'),
    wide(integerColumn('Gated', '.status.scheduleGatedReplicas')),
    breachColumn,
  ],
  scaleSelectorPath: '.status.hpaPodSelector',
  spec: podCliqueSpec('Desired state of the PodClique.'),
  status,
}
