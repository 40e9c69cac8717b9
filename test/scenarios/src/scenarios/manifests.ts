// SPDX-License-Identifier: Apache-2.0

/** One clique of two pods. */
export const solo = `
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: solo}
spec:
  replicas: 1
  template:
    cliques:
      - name: web
        spec:
          roleName: web
          replicas: 2
          podSpec: {containers: [{name: main, image: registry.example/web:1}]}
`

/** A standalone router clique and a scaling group of leader and workers, with one replica above its minimum. */
export const grouped = `
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: grouped}
spec:
  replicas: 1
  template:
    cliques:
      - name: router
        spec:
          roleName: router
          replicas: 2
          minAvailable: 1
          podSpec: {containers: [{name: main, image: registry.example/router:1}]}
      - name: lead
        spec:
          roleName: lead
          replicas: 1
          podSpec: {containers: [{name: main, image: registry.example/engine:1}]}
      - name: work
        spec:
          roleName: work
          replicas: 3
          minAvailable: 2
          podSpec: {containers: [{name: main, image: registry.example/engine:1}]}
    podCliqueScalingGroups:
      - {name: eng, cliqueNames: [lead, work], replicas: 2, minAvailable: 1}
`

/** One replica with a clique and a scaling group, both with autoscalers. */
export const whole = (replicas = 1) => `
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: whole}
spec:
  replicas: ${replicas}
  template:
    cliques:
      - name: web
        spec:
          roleName: web
          replicas: 1
          autoScalingConfig: {maxReplicas: 3}
          podSpec: {containers: [{name: main, image: registry.example/web:1}]}
      - name: work
        spec: {roleName: work, replicas: 1, podSpec: {containers: [{name: main, image: registry.example/w:1}]}}
    podCliqueScalingGroups:
      - {name: eng, cliqueNames: [work], replicas: 1, minAvailable: 1, scaleConfig: {maxReplicas: 3}}
`
