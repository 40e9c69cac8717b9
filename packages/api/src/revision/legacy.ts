// SPDX-License-Identifier: Apache-2.0

// The hash that the Go-based operator stores, bit for bit, so that this operator can take over its objects without
// restarting a pod. It hashes a print of Go values, see legacy-print.ts. It applies to operators built with the
// Kubernetes library 0.35. For others, the operator compares the templates.
import { Fnv1a64 } from './fnv.ts'
import { type CliqueTemplateInput, objectOf, type SetSpecInput, type SetTemplateInput } from './input.ts'
import { legacyPrint } from './legacy-print.ts'

/** Digits 0 to 9 in the alphabet of the Go-based operator, which avoids vowels. */
const legacyAlphabet = '456789bcdf'

/** The label `grove.io/pod-template-hash` that the Go-based operator sets for a stored clique. */
export function legacyPodTemplateHash(template: SetTemplateInput, clique: CliqueTemplateInput): string {
  return encodeLegacySum(new Fnv1a64().update(legacyPodTemplatePrint(template, clique)).digest())
}

/** The `status.currentGenerationHash` that the Go-based operator sets for a stored spec. */
export function legacyGenerationHash(spec: SetSpecInput): string {
  const template = objectOf(spec.template)
  const sum = new Fnv1a64()
  for (const clique of Array.isArray(template.cliques) ? template.cliques : [])
    sum.update(legacyPodTemplatePrint(template, objectOf(clique)))
  return encodeLegacySum(sum.digest())
}

/** The hashed text. It contains the priority class of the gang in place of the pod's. */
export function legacyPodTemplatePrint(template: SetTemplateInput, clique: CliqueTemplateInput): string {
  return legacyPrint('*v1.PodTemplateSpec', {
    metadata: { labels: clique.labels, annotations: clique.annotations },
    spec: { ...objectOf(objectOf(clique.spec).podSpec), priorityClassName: template.priorityClassName },
  })
}

export function encodeLegacySum(decimal: string): string {
  return decimal.replace(/\d/g, digit => legacyAlphabet[Number(digit)]!)
}
