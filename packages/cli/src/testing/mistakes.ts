// SPDX-License-Identifier: Apache-2.0

// A valid set, and common mistakes in it.

export const soundSet = `apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata:
  name: mine
spec:
  replicas: 1
  template:
    cliqueStartupType: CliqueStartupTypeExplicit
    cliques:
      - name: lead
        spec:
          roleName: lead
          replicas: 1
          podSpec:
            containers:
              - name: main
                image: registry.example/lead:1
                resources:
                  limits:
                    nvidia.com/gpu: 8
                  requests:
                    nvidia.com/gpu: 8
      - name: work
        spec:
          roleName: work
          replicas: 2
          startsAfter: [lead]
          podSpec:
            containers:
              - name: main
                image: registry.example/work:1
    podCliqueScalingGroups:
      - name: grp
        cliqueNames: [work]
        replicas: 2
`

export interface Mistake {
  readonly title: string
  readonly manifest: string
  /** The output of `grove validate` below the name of the set. */
  readonly lines: readonly string[]
}

function mistake(title: string, edits: [string | RegExp, string][], lines: readonly string[]): Mistake {
  const manifest = edits.reduce((text, [from, to]) => {
    const edited = text.replaceAll(from, to)
    if (edited === text) throw new Error(`${title}: ${from} is not in the manifest`)
    return edited
  }, soundSet)
  return { title, manifest, lines }
}

const cliques = 'spec.template.cliques'
const main = `${cliques}[0].spec.podSpec.containers[0]`
const longName = 'a-very-long-name-for-a-set-of-cliques-which-is-too-long'

export const mistakes: readonly Mistake[] = [
  mistake(
    'misspelt fields',
    [
      ['roleName: lead', 'rolename: lead'],
      ['image: registry.example/work:1', 'img: registry.example/work:1'],
    ],
    [
      `unknown field "${cliques}[0].spec.rolename"  (line 12)`,
      '  did you mean roleName?',
      `unknown field "${cliques}[1].spec.podSpec.containers[0].img"  (line 31)`,
      '  did you mean image?',
    ],
  ),
  mistake(
    'an unknown field of the metadata',
    [['  name: mine', '  name: mine\n  label: {}']],
    ['unknown field "metadata.label"  (line 5)'],
  ),
  mistake(
    'no roleName',
    [[/ *roleName: .*\n/g, '']],
    [
      `${cliques}[0].spec.roleName: Required value  (line 11)`,
      `${cliques}[1].spec.roleName: Required value  (line 23)`,
    ],
  ),
  mistake(
    'podTemplate for podSpec',
    [['podSpec:', 'podTemplate:']],
    [
      `unknown field "${cliques}[0].spec.podTemplate"  (line 14)`,
      '  did you mean podSpec?',
      `unknown field "${cliques}[1].spec.podTemplate"  (line 28)`,
      '  did you mean podSpec?',
    ],
  ),
  mistake(
    'no podSpec',
    [[/ {10}podSpec:\n( {12}.*\n)+/g, '']],
    [
      `${cliques}[0].spec.podSpec.containers: Required value  (line 11)`,
      `${cliques}[1].spec.podSpec.containers: Required value  (line 15)`,
    ],
  ),
  mistake(
    'no containers',
    [[/podSpec:\n( {12}.*\n)+/g, 'podSpec: {}\n']],
    [
      `${cliques}[0].spec.podSpec.containers: Required value  (line 14)`,
      `${cliques}[1].spec.podSpec.containers: Required value  (line 20)`,
    ],
  ),
  mistake(
    'a quantity in args',
    [['gpu: 8', 'gpu: eight']],
    [
      `${main}.resources.limits.nvidia.com/gpu: Invalid value: "eight": must be a quantity such as 8, 500m or 2Gi  (line 20)`,
      `${main}.resources.requests.nvidia.com/gpu: Invalid value: "eight": must be a quantity such as 8, 500m or 2Gi  (line 22)`,
    ],
  ),
  mistake(
    'an unknown clique in startsAfter',
    [['startsAfter: [lead]', 'startsAfter: [leader]']],
    [
      `${cliques}[1].spec.startsAfter[0]: Invalid value: "leader": no clique has this name; the cliques are lead, work  (line 27)`,
    ],
  ),
  mistake(
    'an unknown clique in a group',
    [['cliqueNames: [work]', 'cliqueNames: [work, worker]']],
    [
      'spec.template.podCliqueScalingGroups[0].cliqueNames[1]: Invalid value: "worker": no clique has this name; the cliques are lead, work  (line 34)',
    ],
  ),
  mistake(
    'a set name that is too long',
    [['name: mine', `name: ${longName}`]],
    [
      `metadata.name: Invalid value: "${longName}": too long: together with "grp" and "work" it is part of pod names, where these names may have 45 characters, not 62  (line 4)`,
      '  use at most 38 characters',
    ],
  ),
  mistake(
    'a clique name that is too long',
    [
      ['name: lead\n', `name: ${longName}\n`],
      ['[lead]', '[]'],
    ],
    [
      `${cliques}[0].name: Invalid value: "${longName}": too long: together with "mine" it is part of pod names, where these names may have 45 characters, not 59  (line 10)`,
      '  use at most 41 characters',
    ],
  ),
  mistake(
    'a role twice',
    [['roleName: work', 'roleName: lead']],
    [`${cliques}[1].spec.roleName: Duplicate value: "lead"  (line 25, first at line 12)`],
  ),
  mistake(
    'a clique twice',
    [['- name: work', '- name: lead']],
    [`${cliques}[1]: Duplicate value: {"name":"lead"}  (line 23)`],
  ),
  mistake(
    'a clique twice in a group',
    [['[work]', '[work, work]']],
    [
      'spec.template.podCliqueScalingGroups[0].cliqueNames[1]: Duplicate value: "work"  (line 34, first at line 34)',
    ],
  ),
  mistake(
    'a clique that starts after itself',
    [['startsAfter: [lead]', 'startsAfter: [lead, work]']],
    [
      `${cliques}[1].spec.startsAfter: Invalid value: "work": clique dependency cannot refer to itself  (line 27)`,
    ],
  ),
  mistake(
    'cliques that wait for each other',
    [['roleName: lead', 'roleName: lead\n          startsAfter: [work]']],
    [`${cliques}: Invalid value: [["lead","work"]]: clique must not have circular dependencies  (line 13)`],
  ),
  mistake(
    'a start-up type that does not exist',
    [['TypeExplicit', 'TypeParallel']],
    [
      'spec.template.cliqueStartupType: Unsupported value: "CliqueStartupTypeParallel": supported values: "CliqueStartupTypeAnyOrder", "CliqueStartupTypeInOrder", "CliqueStartupTypeExplicit"  (line 8)',
    ],
  ),
  mistake(
    'minAvailable above replicas',
    [['replicas: 1\n          podSpec', 'replicas: 1\n          minAvailable: 2\n          podSpec']],
    [
      `${cliques}[0].spec.minAvailable: Invalid value: 2: minAvailable must not be greater than replicas  (line 14)`,
    ],
  ),
  mistake(
    'minAvailable of a group above replicas',
    [['[work]\n        replicas: 2', '[work]\n        minAvailable: 3\n        replicas: 2']],
    [
      'spec.template.podCliqueScalingGroups[0].minAvailable: Invalid value: 3: minAvailable must not be greater than replicas  (line 35)',
    ],
  ),
  mistake(
    'text for a number',
    [['replicas: 1\n          podSpec', 'replicas: one\n          podSpec']],
    [`${cliques}[0].spec.replicas: must be an integer, not a string  (line 13)`],
  ),
  mistake(
    'a name that is no name',
    [['- name: grp', '- name: Grp_1']],
    [
      'spec.template.podCliqueScalingGroups[0].name: Invalid value: "Grp_1": invalid PodCliqueScalingGroupConfig name, must be a valid DNS subdomain  (line 33)',
    ],
  ),
  mistake(
    'a duration that is none',
    [['  template:', '  template:\n    terminationDelay: soon']],
    ['spec.template.terminationDelay: time: invalid duration "soon"  (line 8)'],
  ),
  mistake(
    'packDomain',
    [['  template:', '  template:\n    topologyConstraint: {topologyName: site, packDomain: rack}']],
    [
      'spec.template.topologyConstraint.packDomain: Forbidden: packDomain is deprecated and cannot be used on new workloads; use pack.required  (line 8)',
    ],
  ),
  mistake(
    'a negative number',
    [['replicas: 1\n  template', 'replicas: -1\n  template']],
    ['.spec.replicas: Invalid value: -1: should be a non-negative integer  (line 6)'],
  ),
  mistake(
    'a member of a group that is autoscaled',
    [['startsAfter: [lead]', 'autoScalingConfig: {minReplicas: 2, maxReplicas: 3}']],
    [
      'spec.template.podCliqueScalingGroups: Invalid value: "work": AutoScalingConfig is not allowed to be defined for PodClique that is part of scaling group  (line 27)',
    ],
  ),
  mistake(
    'a label that is none',
    [['name: mine', 'name: mine\n  labels:\n    good: label\n    b@d: label']],
    [
      `metadata.labels: Invalid value: "b@d": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')  (line 7)`,
    ],
  ),
]
