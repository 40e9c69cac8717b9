// SPDX-License-Identifier: Apache-2.0

// A valid set, and common mistakes in it: one row for each, with the output of `grove validate`, `grove apply` and
// `kubectl apply`. Admission returns the messages of the Go operator, which other tools match; `grove` explains them.

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
  /** The set that the cluster has already, if the mistake is in an update. */
  readonly stored?: string
  /** The output of `grove validate` below the name of the set. `grove apply` prints the same. */
  readonly lines: readonly string[]
  /** The errors and warnings of `kubectl apply`. For an update, the last line without what kubectl tried. */
  readonly kubectl: string
  /** The output of `grove validate` and of `grove apply`, if they do not print `lines`. */
  readonly validate?: string
  readonly apply?: string
  /** Exit codes, if they are not 1. */
  readonly exitCodes?: {
    readonly validate: number
    readonly apply: number
    readonly kubectl: number
  }
}

type Edit = readonly [from: string | RegExp, to: string]

function edited(title: string, edits: readonly Edit[]): string {
  return edits.reduce((text, [from, to]) => {
    const changed = text.replaceAll(from, to)
    if (changed === text) throw new Error(`${title}: ${from} is not in the manifest`)
    return changed
  }, soundSet)
}

function mistake(title: string, edits: readonly Edit[], lines: readonly string[], kubectl: string): Mistake {
  return { title, manifest: edited(title, edits), lines, kubectl }
}

/** A mistake in an update of the valid set. */
function update(title: string, edits: readonly Edit[], lines: readonly string[], text: string): Mistake {
  const kubectl = `for: "STDIN": error when patching "STDIN": ${validatingWebhook}${text}`
  return { title, stored: soundSet, manifest: edited(title, edits), lines, kubectl }
}

const validatingWebhook = 'admission webhook "pcs.validating.webhooks.grove.io" denied the request: '

function denied(text: string): string {
  return `Error from server (Forbidden): error when creating "STDIN": ${validatingWebhook}${text}`
}

function undecodable(text: string): string {
  return `Error from server: error when creating "STDIN": admission webhook "pcs.defaulting.webhooks.grove.io" denied the request: ${text}`
}

function unknownFields(...fields: string[]): string {
  const unknown = fields.map(field => `unknown field "${field}"`).join(', ')
  return `Error from server (BadRequest): error when creating "STDIN": PodCliqueSet in version "v1alpha1" cannot be handled as a PodCliqueSet: strict decoding error: ${unknown}`
}

function invalid(...texts: string[]): string {
  const listed = texts.length === 1 ? texts[0] : texts.map(text => `\n* ${text}`).join('')
  return `The PodCliqueSet "mine" is invalid: ${listed}`
}

const notChecked =
  '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation'

const cliques = 'spec.template.cliques'
const groups = 'spec.template.podCliqueScalingGroups'
const main = `${cliques}[0].spec.podSpec.containers[0]`
const longName = 'a-very-long-name-for-a-set-of-cliques-which-is-too-long'

const quantityPattern =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"

function noContainers(clique: number): string {
  const field = `${cliques}[${clique}].spec.podSpec.containers`
  return `${field}: Invalid value: "null": ${field} in body must be of type array: "null"`
}

function tooLong(field: string, value: string, length: number, names: string): string {
  return `${field}: Invalid value: "${value}": combined resource name length ${length} exceeds 45-character limit required for pod naming. Consider shortening: ${names}`
}

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
    unknownFields(`${cliques}[0].spec.rolename`, `${cliques}[1].spec.podSpec.containers[0].img`),
  ),
  mistake(
    'an unknown field of the metadata',
    [['  name: mine', '  name: mine\n  label: {}']],
    ['unknown field "metadata.label"  (line 5)'],
    unknownFields('metadata.label'),
  ),
  mistake(
    'lists without dashes',
    [
      ['      - name: grp', '        name: grp'],
      [
        '              - name: main\n                image: registry.example/work:1',
        '                name: main\n                image: registry.example/work:1',
      ],
    ],
    [
      `${cliques}[1].spec.podSpec.containers: must be a list, not an object  (line 29)`,
      '  start each item with "- "',
      `${groups}: must be a list, not an object  (line 32)`,
      '  start each item with "- "',
    ],
    unknownFields(
      `${cliques}[1].spec.podSpec.containers.image`,
      `${cliques}[1].spec.podSpec.containers.name`,
      `${groups}.cliqueNames`,
      `${groups}.name`,
      `${groups}.replicas`,
    ),
  ),
  mistake(
    'a list instead of an object',
    [
      [
        /resources:\n {18}limits:\n( {20}.*\n) {18}requests:\n {20}.*\n/g,
        'resources:\n                  - limits:\n  $1',
      ],
    ],
    [`${main}.resources: must be an object, not a list  (line 18)`],
    unknownFields(`${main}.resources[0].limits`),
  ),
  mistake(
    'no cliques',
    [[/ {4}cliques:\n( {6}.*\n)+/g, '']],
    [
      `${cliques}: Required value: at least one PodClique must be defined  (line 7)`,
      `${groups}[0].cliqueNames[0]: Invalid value: "work": no clique has this name; the set has no cliques  (line 11)`,
    ],
    denied(
      `[${cliques}: Required value: at least one PodClique must be defined, ${groups}[0].cliqueNames: Invalid value: "work": unidentified PodClique names found]`,
    ),
  ),
  mistake(
    'no roleName',
    [[/ *roleName: .*\n/g, '']],
    [
      `${cliques}[0].spec.roleName: Required value  (line 11)`,
      `${cliques}[1].spec.roleName: Required value  (line 23)`,
    ],
    denied(`${cliques}.roleName: Duplicate value: [""]`),
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
    unknownFields(`${cliques}[0].spec.podTemplate`, `${cliques}[1].spec.podTemplate`),
  ),
  mistake(
    'no podSpec',
    [[/ {10}podSpec:\n( {12}.*\n)+/g, '']],
    [
      `${cliques}[0].spec.podSpec.containers: Required value  (line 11)`,
      `${cliques}[1].spec.podSpec.containers: Required value  (line 15)`,
    ],
    invalid(noContainers(0), noContainers(1), notChecked),
  ),
  mistake(
    'no containers',
    [[/podSpec:\n( {12}.*\n)+/g, 'podSpec: {}\n']],
    [
      `${cliques}[0].spec.podSpec.containers: Required value  (line 14)`,
      `${cliques}[1].spec.podSpec.containers: Required value  (line 20)`,
    ],
    invalid(noContainers(0), noContainers(1), notChecked),
  ),
  mistake(
    'an invalid quantity',
    [['gpu: 8', 'gpu: eight']],
    [
      `${main}.resources.limits.nvidia.com/gpu: Invalid value: "eight": must be a quantity such as 8, 500m or 2Gi  (line 20)`,
      `${main}.resources.requests.nvidia.com/gpu: Invalid value: "eight": must be a quantity such as 8, 500m or 2Gi  (line 22)`,
    ],
    undecodable(
      `${main}.resources.limits.nvidia.com/gpu: ${quantityPattern}; ${main}.resources.requests.nvidia.com/gpu: ${quantityPattern}`,
    ),
  ),
  mistake(
    'an unknown clique in startsAfter',
    [['startsAfter: [lead]', 'startsAfter: [leader]']],
    [
      `${cliques}[1].spec.startsAfter[0]: Invalid value: "leader": no clique has this name; the cliques are lead, work  (line 27)`,
    ],
    denied(
      `${cliques}.startsAfter: Invalid value: "leader": unknown clique names found, all clique dependencies must be defined as cliques`,
    ),
  ),
  mistake(
    'an unknown clique in a group',
    [['cliqueNames: [work]', 'cliqueNames: [work, worker]']],
    [
      'spec.template.podCliqueScalingGroups[0].cliqueNames[1]: Invalid value: "worker": no clique has this name; the cliques are lead, work  (line 34)',
    ],
    denied(`${groups}[0].cliqueNames: Invalid value: "worker": unidentified PodClique names found`),
  ),
  mistake(
    'a set name that is too long',
    [['name: mine', `name: ${longName}`]],
    [
      `metadata.name: Invalid value: "${longName}": too long: together with "grp" and "work" it is part of pod names, where these names may have 45 characters, not 62  (line 4)`,
      '  use at most 38 characters',
    ],
    denied(
      `[${[
        tooLong(`${cliques}[0].name`, 'lead', 59, `PodCliqueSet '${longName}' or PodClique 'lead'`),
        tooLong('metadata.name', longName, 59, `PodCliqueSet '${longName}' or PodClique 'lead'`),
        ...[
          [`${groups}[0].cliqueNames[0].name`, 'work'],
          [`${groups}[0].name`, 'work'],
          ['metadata.name', longName],
        ].map(([field, value]) =>
          tooLong(
            field!,
            value!,
            62,
            `PodCliqueSet '${longName}', PodCliqueScalingGroup 'grp', or PodClique 'work'`,
          ),
        ),
      ].join(', ')}]`,
    ),
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
    denied(
      `[${tooLong(`${cliques}[0].name`, longName, 59, `PodCliqueSet 'mine' or PodClique '${longName}'`)}, ${tooLong('metadata.name', 'mine', 59, `PodCliqueSet 'mine' or PodClique '${longName}'`)}]`,
    ),
  ),
  mistake(
    'a role twice',
    [['roleName: work', 'roleName: lead']],
    [`${cliques}[1].spec.roleName: Duplicate value: "lead"  (line 25, first at line 12)`],
    denied(`${cliques}.roleName: Duplicate value: ["lead"]`),
  ),
  mistake(
    'a clique twice',
    [['- name: work', '- name: lead']],
    [`${cliques}[1]: Duplicate value: {"name":"lead"}  (line 23)`],
    invalid(`${cliques}[1]: Duplicate value: {"name":"lead"}`),
  ),
  mistake(
    'a clique twice in a group',
    [['[work]', '[work, work]']],
    [
      'spec.template.podCliqueScalingGroups[0].cliqueNames[1]: Duplicate value: "work"  (line 34, first at line 34)',
    ],
    denied(`${groups}.cliqueNames: Duplicate value: ["work"]`),
  ),
  mistake(
    'a clique that starts after itself',
    [['startsAfter: [lead]', 'startsAfter: [lead, work]']],
    [
      `${cliques}[1].spec.startsAfter: Invalid value: "work": clique dependency cannot refer to itself  (line 27)`,
    ],
    denied(`${cliques}[1].spec.startsAfter: Invalid value: "work": clique dependency cannot refer to itself`),
  ),
  mistake(
    'cliques that wait for each other',
    [['roleName: lead', 'roleName: lead\n          startsAfter: [work]']],
    [`${cliques}: Invalid value: [["lead","work"]]: clique must not have circular dependencies  (line 13)`],
    denied(`${cliques}: Invalid value: [["lead","work"]]: clique must not have circular dependencies`),
  ),
  mistake(
    'a start-up type that does not exist',
    [['TypeExplicit', 'TypeParallel']],
    [
      'spec.template.cliqueStartupType: Unsupported value: "CliqueStartupTypeParallel": supported values: "CliqueStartupTypeAnyOrder", "CliqueStartupTypeInOrder", "CliqueStartupTypeExplicit"  (line 8)',
    ],
    invalid(
      'spec.template.cliqueStartupType: Unsupported value: "CliqueStartupTypeParallel": supported values: "CliqueStartupTypeAnyOrder", "CliqueStartupTypeInOrder", "CliqueStartupTypeExplicit"',
      notChecked,
    ),
  ),
  mistake(
    'minAvailable above replicas',
    [['replicas: 1\n          podSpec', 'replicas: 1\n          minAvailable: 2\n          podSpec']],
    [
      `${cliques}[0].spec.minAvailable: Invalid value: 2: minAvailable must not be greater than replicas  (line 14)`,
    ],
    denied(
      `${cliques}[0].spec.minAvailable: Invalid value: 2: minAvailable must not be greater than replicas`,
    ),
  ),
  mistake(
    'minAvailable of a group above replicas',
    [['[work]\n        replicas: 2', '[work]\n        minAvailable: 3\n        replicas: 2']],
    [
      'spec.template.podCliqueScalingGroups[0].minAvailable: Invalid value: 3: minAvailable must not be greater than replicas  (line 35)',
    ],
    denied(`${groups}[0].minAvailable: Invalid value: 3: minAvailable must not be greater than replicas`),
  ),
  mistake(
    'text for a number',
    [['replicas: 1\n          podSpec', 'replicas: one\n          podSpec']],
    [`${cliques}[0].spec.replicas: must be an integer, not a string  (line 13)`],
    undecodable(`${cliques}[0].spec.replicas: must be an integer, not a string`),
  ),
  mistake(
    'an invalid name',
    [['- name: grp', '- name: Grp_1']],
    [
      'spec.template.podCliqueScalingGroups[0].name: Invalid value: "Grp_1": invalid PodCliqueScalingGroupConfig name, must be a valid DNS subdomain  (line 33)',
    ],
    denied(
      `${groups}[0].name: Invalid value: "Grp_1": invalid PodCliqueScalingGroupConfig name, must be a valid DNS subdomain`,
    ),
  ),
  mistake(
    'an invalid duration',
    [['  template:', '  template:\n    terminationDelay: soon']],
    ['spec.template.terminationDelay: time: invalid duration "soon"  (line 8)'],
    undecodable('spec.template.terminationDelay: time: invalid duration "soon"'),
  ),
  mistake(
    'packDomain',
    [['  template:', '  template:\n    topologyConstraint: {topologyName: site, packDomain: rack}']],
    [
      'spec.template.topologyConstraint.packDomain: Forbidden: packDomain is deprecated and cannot be used on new workloads; use pack.required  (line 8)',
    ],
    invalid(
      'spec.template.topologyConstraint.packDomain: Forbidden: packDomain is deprecated and cannot be used on new workloads; use pack.required',
    ),
  ),
  mistake(
    'a negative number',
    [['replicas: 1\n  template', 'replicas: -1\n  template']],
    ['spec.replicas: Invalid value: -1: should be a non-negative integer  (line 6)'],
    invalid('.spec.replicas: Invalid value: -1: should be a non-negative integer'),
  ),
  mistake(
    'a member of a group that is autoscaled',
    [['startsAfter: [lead]', 'autoScalingConfig: {minReplicas: 2, maxReplicas: 3}']],
    [
      'spec.template.podCliqueScalingGroups: Invalid value: "work": AutoScalingConfig is not allowed to be defined for PodClique that is part of scaling group  (line 27)',
    ],
    denied(
      `${groups}: Invalid value: "work": AutoScalingConfig is not allowed to be defined for PodClique that is part of scaling group`,
    ),
  ),
  mistake(
    'an invalid label',
    [['name: mine', 'name: mine\n  labels:\n    good: label\n    b@d: label']],
    [
      `metadata.labels: Invalid value: "b@d": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')  (line 7)`,
    ],
    invalid(
      `metadata.labels: Invalid value: "b@d": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
    ),
  ),
  {
    ...mistake('a version that does not exist', [['v1alpha1', 'v1']], [], ''),
    lines: ['kind PodCliqueSet is served as grove.io/v1alpha1, not grove.io/v1'],
    apply:
      'grove: standard input:1: the cluster serves no PodCliqueSet of grove.io/v1; it is served as grove.io/v1alpha1',
    kubectl:
      'error: resource mapping not found for name: "mine" namespace: "" from "STDIN": no matches for kind "PodCliqueSet" in version "grove.io/v1"\nensure CRDs are installed first',
  },
  {
    ...mistake('a tab', [['  replicas: 1\n  template', '\treplicas: 1\n  template']], [], ''),
    validate: 'grove: standard input:6:1: Tabs are not allowed as indentation',
    apply: 'grove: standard input:6:1: Tabs are not allowed as indentation',
    kubectl:
      'error: error parsing STDIN: error converting YAML to JSON: yaml: line 6: found character that cannot start any token',
    exitCodes: { validate: 2, apply: 2, kubectl: 1 },
  },
  {
    ...mistake(
      'startsAfter without the start-up type that it needs',
      [['    cliqueStartupType: CliqueStartupTypeExplicit\n', '']],
      [
        `warning: ${cliques}[1].spec.startsAfter: has no effect unless cliqueStartupType is CliqueStartupTypeExplicit  (line 26)`,
      ],
      `Warning: ${cliques}[1].spec.startsAfter: has no effect unless cliqueStartupType is CliqueStartupTypeExplicit`,
    ),
    apply: `Warning: ${cliques}[1].spec.startsAfter: has no effect unless cliqueStartupType is CliqueStartupTypeExplicit`,
    exitCodes: { validate: 0, apply: 0, kubectl: 0 },
  },
  update(
    'an immutable field of the second clique',
    [['roleName: work', 'roleName: other']],
    [`${cliques}.spec.roleName: Invalid value: "other": field is immutable  (line 25)`],
    `${cliques}.spec.roleName: Invalid value: "other": field is immutable`,
  ),
  update(
    'an immutable value that another clique has, too',
    [
      [
        'roleName: work\n          replicas: 2',
        'roleName: work\n          replicas: 2\n          minAvailable: 1',
      ],
    ],
    [`${cliques}.spec.minAvailable: Invalid value: 1: field is immutable  (line 27)`],
    `${cliques}.spec.minAvailable: Invalid value: 1: field is immutable`,
  ),
  update(
    'a clique with another name',
    [
      ['name: lead\n', 'name: leader\n'],
      ['[lead]', '[leader]'],
    ],
    [
      `${cliques}.name: Forbidden: not allowed to change clique composition, new clique name 'leader' is not allowed  (line 10)`,
      `${cliques}.spec.startsAfter: Invalid value: ["leader"]: field is immutable  (line 27)`,
    ],
    `[${cliques}.name: Forbidden: not allowed to change clique composition, new clique name 'leader' is not allowed, ${cliques}.spec.startsAfter: Invalid value: ["leader"]: field is immutable]`,
  ),
  update(
    'a clique that is removed',
    [
      [/ {6}- name: work\n( {8}.*\n)+/g, ''],
      [/ {4}podCliqueScalingGroups:\n( {6}.*\n)+/g, ''],
    ],
    [
      `${cliques}: Forbidden: not allowed to change clique composition  (line 9)`,
      `${groups}: Forbidden: not allowed to add or remove PodCliqueScalingGroupConfigs  (line 7)`,
    ],
    `[${cliques}: Forbidden: not allowed to change clique composition, ${groups}: Forbidden: not allowed to add or remove PodCliqueScalingGroupConfigs]`,
  ),
]
