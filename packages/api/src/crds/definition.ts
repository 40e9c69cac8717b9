// SPDX-License-Identifier: Apache-2.0

import packageJson from '../../package.json' with { type: 'json' }
import type { KindDescriptor } from '../kinds.ts'
import type { CustomResourceColumnDefinition, CustomResourceDefinition } from '../kubernetes/index.ts'
import { embeddedKubernetesVersions } from './embedded.ts'
import type { StructuralSchema, ValidationRule } from './structural-schema.ts'

/** The parts of a CustomResourceDefinition that differ between kinds. The rest is the same for all. */
export interface Definition {
  readonly kind: KindDescriptor
  readonly description: string
  readonly columns: readonly CustomResourceColumnDefinition[]
  /** Present if the kind has the scale subresource: the path of the selector that autoscalers read. */
  readonly scaleSelectorPath?: string
  readonly spec: StructuralSchema
  readonly status: StructuralSchema
  /** Validation rules of the whole object. */
  readonly rules?: readonly ValidationRule[]
}

/** Identifies the Kubernetes versions of the embedded pod specs, which determine the fields that the CRD prunes. */
export const generatorAnnotation = 'grove.io/crd-generator'

export function rootSchema(definition: Definition): StructuralSchema {
  return {
    description: definition.description,
    type: 'object',
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string', description: 'Group and version of the API.' },
      kind: { type: 'string', description: 'Kind of the object.' },
      metadata: { type: 'object' },
      spec: definition.spec,
      status: definition.status,
    },
    ...(definition.rules && { 'x-kubernetes-validations': definition.rules }),
  }
}

export function customResourceDefinition(
  definition: Definition,
  schema: StructuralSchema,
): CustomResourceDefinition {
  const { kind, scaleSelectorPath } = definition
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${kind.resource}.${kind.group}`,
      annotations: {
        [generatorAnnotation]: `grove ${packageJson.version}, Kubernetes ${embeddedKubernetesVersions.join(' and ')}`,
      },
    },
    spec: {
      group: kind.group,
      scope: kind.namespaced ? 'Namespaced' : 'Cluster',
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.resource,
        singular: kind.singular,
        shortNames: [kind.shortName],
      },
      versions: [
        {
          name: kind.version,
          served: true,
          storage: true,
          subresources: {
            status: {},
            ...(scaleSelectorPath && {
              scale: {
                specReplicasPath: '.spec.replicas',
                statusReplicasPath: '.status.replicas',
                labelSelectorPath: scaleSelectorPath,
              },
            }),
          },
          additionalPrinterColumns: [...definition.columns, age],
          schema: { openAPIV3Schema: schema },
        },
      ],
    },
  }
}

const age: CustomResourceColumnDefinition = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
}

export function integerColumn(name: string, jsonPath: string): CustomResourceColumnDefinition {
  return { name, type: 'integer', jsonPath }
}

export function textColumn(name: string, jsonPath: string): CustomResourceColumnDefinition {
  return { name, type: 'string', jsonPath }
}

/** Shown with `-o wide` only. */
export function wide(column: CustomResourceColumnDefinition): CustomResourceColumnDefinition {
  return { ...column, priority: 1 }
}

/** The status of the condition that triggers gang termination. */
export const breachColumn = wide(
  textColumn('MinBreached', '.status.conditions[?(@.type=="MinAvailableBreached")].status'),
)
