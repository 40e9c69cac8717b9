// SPDX-License-Identifier: Apache-2.0

// The set of a round: two replicas, each with a standalone clique that can lose one pod and a scaling group that can
// lose one replica. Containers have the names of their cliques.

export const shape = {
  set: { replicas: 2 },
  web: { replicas: 3, minAvailable: 2 },
  group: { replicas: 2, minAvailable: 1 },
  members: { lead: { replicas: 1, minAvailable: 1 }, work: { replicas: 2, minAvailable: 2 } },
} as const
export type Shape = typeof shape

export const setName = 'fire'
export const firstImages: ReadonlyMap<string, string> = new Map(
  ['web', 'lead', 'work'].map(name => [name, `registry.example/${name}:1`]),
)
const podsOfReplica = 9
export const allPods = shape.set.replicas * podsOfReplica

const clique = (name: string, { replicas, minAvailable }: { replicas: number; minAvailable: number }) => `
      - name: ${name}
        spec:
          roleName: ${name}
          replicas: ${replicas}
          minAvailable: ${minAvailable}
          podSpec:
            terminationGracePeriodSeconds: 1
            containers: [{name: ${name}, image: "${firstImages.get(name)}"}]`

export const manifest = (terminationDelay: string) => `
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: ${setName}}
spec:
  replicas: ${shape.set.replicas}
  template:
    terminationDelay: ${terminationDelay}
    cliques:${clique('web', shape.web)}${clique('lead', shape.members.lead)}${clique('work', shape.members.work)}
    podCliqueScalingGroups:
      - name: eng
        cliqueNames: [lead, work]
        replicas: ${shape.group.replicas}
        minAvailable: ${shape.group.minAvailable}
`
