// SPDX-License-Identifier: Apache-2.0

// The resource claims that Kubernetes would generate for pods which are not applied yet.
import type { Pod, ResourceClaim, ResourceClaimTemplate } from '@grove/api'

export interface ClaimingPods {
  readonly pods: readonly Pod[]
  readonly resourceClaims: readonly ResourceClaim[]
}

/** Adds a claim for every entry of a pod that names a template. An entry whose template does not exist stays as it is. */
export function withGeneratedClaims(
  pods: readonly Pod[],
  claims: readonly ResourceClaim[],
  templates: readonly ResourceClaimTemplate[],
): ClaimingPods {
  const byName = new Map(
    templates.map(template => [
      `${template.metadata.namespace ?? 'default'}/${template.metadata.name}`,
      template,
    ]),
  )
  const generated: ResourceClaim[] = []
  return {
    pods: pods.map(pod => {
      const { name, namespace = 'default' } = pod.metadata
      const statuses = (pod.spec.resourceClaims ?? []).flatMap(entry => {
        const template = byName.get(`${namespace}/${entry.resourceClaimTemplateName ?? ''}`)
        if (!template) return []
        const claim = `${name}-${entry.name}`
        generated.push({
          apiVersion: 'resource.k8s.io/v1',
          kind: 'ResourceClaim',
          metadata: { name: claim, namespace },
          spec: template.spec.spec,
        })
        return { name: entry.name, resourceClaimName: claim }
      })
      return statuses.length > 0
        ? { ...pod, status: { ...pod.status, resourceClaimStatuses: statuses } }
        : pod
    }),
    resourceClaims: [...claims, ...generated],
  }
}
