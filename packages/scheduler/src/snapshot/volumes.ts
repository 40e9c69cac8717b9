// SPDX-License-Identifier: Apache-2.0
import type { NodeSelector, PodSpec, Volume } from '@grove/api'
import { compareText } from '../order.ts'
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '../types.ts'

/** The storage objects of a cluster, by name. Claims are keyed by namespace and name. */
export interface Storage {
  readonly claims: ReadonlyMap<string, PersistentVolumeClaim>
  readonly volumes: ReadonlyMap<string, PersistentVolume>
  readonly classes: ReadonlyMap<string, StorageClass>
}

export interface VolumeNeeds {
  readonly selectors: readonly NodeSelector[]
  readonly missing: readonly { readonly kind: string; readonly name: string }[]
  readonly unsupported: readonly string[]
  /** Claims of ephemeral volumes that are provisioned for the node of the pod. */
  readonly provisioned: readonly string[]
}

/** On a claim that waits for its first consumer: the node for which Kubernetes provisions the volume. */
export const selectedNodeAnnotation = 'volume.kubernetes.io/selected-node'

/** In-tree disks that only one node may attach: the core does not know which pods share one. */
const exclusiveSources = ['gcePersistentDisk', 'awsElasticBlockStore', 'iscsi', 'rbd'] as const

const defaultClassAnnotation = 'storageclass.kubernetes.io/is-default-class'

/** Matches no node: a claim of an Immediate class is bound by its controller before any pod can use it. */
const nowhere: NodeSelector = { nodeSelectorTerms: [] }

/** Returns where the volumes of a pod can be used. Anything that is not visible in the objects is unsupported. */
export function volumeNeeds(
  namespace: string,
  pod: string,
  spec: Pick<PodSpec, 'volumes'>,
  storage: Storage,
): VolumeNeeds {
  const selectors: NodeSelector[] = []
  const missing: { kind: string; name: string }[] = []
  const unsupported: string[] = []
  const provisioned: string[] = []
  for (const volume of spec.volumes ?? []) {
    for (const source of exclusiveSources) if (volume[source]) unsupported.push(`spec.volumes[].${source}`)
    const name = volume.persistentVolumeClaim?.claimName ?? (volume.ephemeral && `${pod}-${volume.name}`)
    if (name === undefined) continue
    const claim = storage.claims.get(`${namespace}/${name}`)
    if (!claim && !volume.ephemeral) {
      missing.push({ kind: 'PersistentVolumeClaim', name })
      continue
    }
    if (claim?.spec?.accessModes?.includes('ReadWriteOncePod'))
      unsupported.push('spec.volumes[].persistentVolumeClaim with access mode ReadWriteOncePod')
    else if (claim?.spec?.volumeName) {
      const bound = storage.volumes.get(claim.spec.volumeName)
      if (!bound) missing.push({ kind: 'PersistentVolume', name: claim.spec.volumeName })
      else if (bound.spec?.nodeAffinity?.required) selectors.push(bound.spec.nodeAffinity.required)
    } else unbound(volume, claim, name)
  }
  return { selectors, missing, unsupported, provisioned }

  function unbound(volume: Volume, claim: PersistentVolumeClaim | undefined, name: string): void {
    const className =
      (claim?.spec ?? volume.ephemeral?.volumeClaimTemplate?.spec)?.storageClassName ??
      [...storage.classes.values()]
        .filter(({ metadata }) => metadata.annotations?.[defaultClassAnnotation] === 'true')
        .map(({ metadata }) => metadata.name)
        .sort(compareText)[0]
    if (!className) {
      selectors.push(nowhere)
      return
    }
    const storageClass = storage.classes.get(className)
    if (!storageClass) missing.push({ kind: 'StorageClass', name: className })
    else if (storageClass.volumeBindingMode !== 'WaitForFirstConsumer') selectors.push(nowhere)
    // The first pod decides where the volume of a shared claim is created, so later pods would be placed on a guess.
    else if (!volume.ephemeral)
      unsupported.push('spec.volumes[].persistentVolumeClaim that waits for its first consumer')
    else {
      provisioned.push(name)
      const selected = claim?.metadata.annotations?.[selectedNodeAnnotation]
      if (selected) selectors.push(onlyNode(selected))
      if (storageClass.allowedTopologies?.length) selectors.push(allowedNodes(storageClass))
    }
  }
}

/** Kubernetes may provision the volume there already. */
function onlyNode(name: string): NodeSelector {
  return { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }] }] }
}

function allowedNodes({ allowedTopologies = [] }: StorageClass): NodeSelector {
  return {
    nodeSelectorTerms: allowedTopologies.map(({ matchLabelExpressions = [] }) => ({
      matchExpressions: matchLabelExpressions.map(({ key, values }) => ({
        key,
        operator: 'In',
        values: [...values],
      })),
    })),
  }
}
