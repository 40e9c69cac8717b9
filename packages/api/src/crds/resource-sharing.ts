// SPDX-License-Identifier: Apache-2.0

import type {
  CliqueFilter,
  CliqueOrScalingGroupFilter,
  PodCliqueSetResourceSharing,
  ResourceClaimTemplateConfig,
  ResourceSharing,
  ScalingGroupResourceSharing,
} from '../types/index.ts'
import { embedded } from './embedded.ts'
import { choice, described, list, type Members, object, required, string, stringList } from './schema.ts'

export const resourceClaimTemplates = list(
  'Claim templates for `resourceSharing`, by name. Immutable.',
  object<ResourceClaimTemplateConfig>('A claim template.', {
    name: required(string('Name for references in `resourceSharing`, unique in the set.')),
    templateSpec: required(
      described(
        'Spec of a ResourceClaimTemplate (see `kubectl explain resourceclaimtemplate.spec`). Its metadata is dropped.',
        embedded('resource.v1.ResourceClaimTemplateSpec'),
      ),
    ),
  }),
)

const sharing: Members<ResourceSharing> = {
  name: required(
    string(
      'Template of the claim: an entry of `spec.template.resourceClaimTemplates`, or else a ResourceClaimTemplate object.',
    ),
  ),
  namespace: string(
    'Namespace of the ResourceClaimTemplate object. Defaults to that of the set. Must be empty for a template of the set itself.',
  ),
  scope: required(
    choice(
      'AllReplicas: one claim for all replicas of the owner together. PerReplica: one claim for each replica.',
      ['AllReplicas', 'PerReplica'],
    ),
  ),
}

const childCliqueNames = stringList('Names of cliques whose pods use the claim.')

const text = 'Claims that several pods share. Immutable.'

export const cliqueResourceSharing = list(text, object<ResourceSharing>('A shared claim.', sharing))

export const scalingGroupResourceSharing = list(
  text,
  object<ScalingGroupResourceSharing>('A shared claim.', {
    ...sharing,
    filter: object<CliqueFilter>('Only the pods of these cliques use the claim. Defaults to all.', {
      childCliqueNames,
    }),
  }),
)

export const podCliqueSetResourceSharing = list(
  text,
  object<PodCliqueSetResourceSharing>('A shared claim.', {
    ...sharing,
    filter: object<CliqueOrScalingGroupFilter>(
      'Only the pods of these cliques and scaling groups use the claim. Defaults to all.',
      {
        childCliqueNames,
        childScalingGroupNames: stringList('Names of scaling groups whose pods use the claim.'),
      },
    ),
  }),
)
