// SPDX-License-Identifier: Apache-2.0

// The hash that the Go-based operator stores, bit for bit, so that its objects can be taken over without restarting
// a pod. It is made of a print of Go values; see legacy-print.ts. It holds for objects written by operators that were
// built with the Kubernetes library 0.35; for others, adoption compares the templates themselves.
import { Fnv1a64 } from './fnv.ts'
import { type CliqueTemplateInput, objectOf, type SetSpecInput, type SetTemplateInput } from './input.ts'
import { legacyPrint } from './legacy-print.ts'

/** Digits 0 to 9 in the older operator's alphabet, which avoids vowels. */
const legacyAlphabet = '456789bcdf'

/** The older operator's value of the label `grove.io/pod-template-hash` for a clique as stored by the API server. */
export function legacyPodTemplateHash(template: SetTemplateInput, clique: CliqueTemplateInput): string {
  return encodeLegacySum(new Fnv1a64().update(legacyPodTemplatePrint(template, clique)).digest())
}

/** The older operator's `status.currentGenerationHash` for a spec as stored by the API server. */
export function legacyGenerationHash(spec: SetSpecInput): string {
  const template = objectOf(spec.template)
  const sum = new Fnv1a64()
  for (const clique of Array.isArray(template.cliques) ? template.cliques : [])
    sum.update(legacyPodTemplatePrint(template, objectOf(clique)))
  return encodeLegacySum(sum.digest())
}

/** The text that is hashed. It has the gang's priority class in place of the pod's. */
export function legacyPodTemplatePrint(template: SetTemplateInput, clique: CliqueTemplateInput): string {
  return legacyPrint('*v1.PodTemplateSpec', {
    metadata: { labels: clique.labels, annotations: clique.annotations },
    spec: { ...objectOf(objectOf(clique.spec).podSpec), priorityClassName: template.priorityClassName },
  })
}

export function encodeLegacySum(decimal: string): string {
  return decimal.replace(/\d/g, digit => legacyAlphabet[Number(digit)]!)
}
