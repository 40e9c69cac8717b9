// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decodeMetadata, decodePodCliqueSet } from './decode.ts'

const pod = { containers: [{ name: 'main', image: 'i' }] }

function setOf(template: object, metadata: object = { name: 'demo' }): object {
  return { apiVersion: 'grove.io/v1alpha1', kind: 'PodCliqueSet', metadata, spec: { template } }
}

function cliqueWith(spec: object, rest: object = {}): object {
  return setOf({
    cliques: [{ name: 'a', spec: { roleName: 'r', replicas: 1, podSpec: pod, ...spec }, ...rest }],
  })
}

function podWith(podSpec: object): object {
  return cliqueWith({ podSpec: { ...pod, ...podSpec } })
}

function messageFor(object: unknown): string {
  const decoded = decodePodCliqueSet(object)
  return decoded.ok ? 'fine' : decoded.message
}

const spec = 'spec.template.cliques[0].spec'

describe('a value of a wrong type is rejected, and the message contains its path', () => {
  const cases: [object: unknown, message: string][] = [
    [null, 'expected an object, not null'],
    [[], 'expected an object, not a list'],
    [{ spec: 3 }, 'spec: must be an object, not an integer'],
    [setOf({ cliques: {} }), 'spec.template.cliques: must be a list, not an object'],
    [setOf({ cliques: [null] }), 'spec.template.cliques[0]: must not be null'],
    [setOf({ cliques: ['a'] }), 'spec.template.cliques[0]: must be an object, not a string'],
    [cliqueWith({ replicas: '1' }), `${spec}.replicas: must be an integer, not a string`],
    [cliqueWith({ replicas: 1.5 }), `${spec}.replicas: must be an integer, not 1.5`],
    [cliqueWith({ replicas: 2 ** 31 }), `${spec}.replicas: 2147483648 does not fit into 32 bits`],
    [cliqueWith({ replicas: 2 ** 31 - 1 }), 'fine'],
    [cliqueWith({ replicas: -(2 ** 31) }), 'fine'],
    [cliqueWith({ startsAfter: 'b' }), `${spec}.startsAfter: must be a list, not a string`],
    [
      cliqueWith({}, { labels: { a: 1 } }),
      'spec.template.cliques[0].labels.a: must be a string, not an integer',
    ],
    [cliqueWith({}, { labels: ['a'] }), 'spec.template.cliques[0].labels: must be an object, not a list'],
    [podWith({ hostNetwork: 'yes' }), `${spec}.podSpec.hostNetwork: must be true or false, not a string`],
    [podWith({ terminationGracePeriodSeconds: 2 ** 40 }), 'fine'],
    [
      podWith({ containers: [{ name: 'c', ports: [{ containerPort: 80 }, { containerPort: '80' }] }] }),
      `${spec}.podSpec.containers[0].ports[1].containerPort: must be an integer, not a string`,
    ],
    [
      podWith({ containers: [{ name: 'c', livenessProbe: { httpGet: { port: true } } }] }),
      `${spec}.podSpec.containers[0].livenessProbe.httpGet.port: must be an integer or a string, not a boolean`,
    ],
  ]
  for (const [object, message] of cases) {
    test(message === 'fine' ? `fine: ${JSON.stringify(object)}` : message, () => {
      assert.equal(messageFor(object), message)
    })
  }

  test('several are reported together, up to a limit', () => {
    const many = messageFor(setOf({ cliques: Array.from({ length: 1000 }, () => 3) })).split('; ')
    assert.equal(many.length, 20)
    assert.equal(many[1], 'spec.template.cliques[1]: must be an object, not an integer')
  })
})

describe('quantities', () => {
  const field = `${spec}.podSpec.containers[0].resources.limits.cpu`
  const withCpu = (cpu: unknown): object =>
    podWith({ containers: [{ name: 'c', resources: { limits: { cpu } } }] })
  const stored = (cpu: unknown): unknown => {
    const decoded = decodePodCliqueSet(withCpu(cpu))
    assert.ok(decoded.ok)
    return decoded.value.spec.template.cliques[0]?.spec.podSpec.containers[0]?.resources?.limits?.cpu
  }

  test('are numbers or strings', () => {
    for (const cpu of ['1', '500m', '1.5Gi', '+1', '1e3', 8]) assert.equal(stored(cpu), cpu)
  })

  test('are normalized if the schema would not accept them', () => {
    assert.equal(stored(0.5), '500m')
    assert.equal(stored('.'), '0')
    assert.equal(stored(' 1 '), '1')
  })

  test('are rejected if malformed, whatever their size', () => {
    for (const cpu of ['', 'abc', '1 Gi', '1gb', '1e999999999', '9'.repeat(100_000)]) {
      assert.ok(messageFor(withCpu(cpu)).startsWith(`${field}: `), String(cpu).slice(0, 20))
    }
    assert.equal(messageFor(withCpu(true)), `${field}: must be a quantity such as 500m or 2Gi, not a boolean`)
  })
})

describe('durations', () => {
  const field = 'spec.template.terminationDelay'
  for (const [terminationDelay, message] of [
    ['4h', 'fine'],
    ['1.5h', 'fine'],
    ['0', 'fine'],
    ['-1s', 'fine'],
    ['', `${field}: time: invalid duration ""`],
    ['5', `${field}: time: missing unit in duration "5"`],
    ['1d', `${field}: time: unknown unit "d" in duration "1d"`],
    [' 1h', `${field}: time: invalid duration " 1h"`],
    ['9999999999h', `${field}: time: invalid duration "9999999999h"`],
    [3, `${field}: must be a duration such as 30s or 4h, not an integer`],
  ] as const) {
    test(JSON.stringify(terminationDelay), () => {
      assert.equal(messageFor(setOf({ cliques: [], terminationDelay })), message)
    })
  }
})

describe('absent values', () => {
  const completed = (object: object): object => {
    const decoded = decodePodCliqueSet(object)
    assert.ok(decoded.ok)
    return decoded.value.spec
  }

  test('an absent spec, template or list of cliques becomes an empty list of cliques', () => {
    for (const object of [
      {},
      { spec: null },
      { spec: {} },
      { spec: { template: null } },
      setOf({ cliques: null }),
    ]) {
      assert.deepEqual(completed(object), { template: { cliques: [] } })
    }
  })

  test('name, role and numbers of a clique are added', () => {
    assert.deepEqual(completed(setOf({ cliques: [{ spec: { podSpec: pod } }] })), {
      template: { cliques: [{ name: '', spec: { podSpec: pod, replicas: 0, roleName: '' } }] },
    })
  })

  test('an absent required list becomes null, which the schema rejects', () => {
    assert.deepEqual(completed(setOf({ cliques: [{ name: 'a' }] })), {
      template: {
        cliques: [{ name: 'a', spec: { podSpec: { containers: null }, replicas: 0, roleName: '' } }],
      },
    })
    assert.deepEqual(
      completed(
        setOf({ cliques: [], podCliqueScalingGroups: [{}], resourceClaimTemplates: [{ name: 'x' }] }),
      ),
      {
        template: {
          cliques: [],
          podCliqueScalingGroups: [{ name: '', cliqueNames: null }],
          resourceClaimTemplates: [{ name: 'x', templateSpec: { spec: { devices: { requests: null } } } }],
        },
      },
    )
  })

  test('required fields inside a pod are added, and null entries of its lists are replaced', () => {
    const containers = [{ ports: [{}], env: [{}], volumeMounts: [{}] }, null]
    assert.deepEqual(completed(podWith({ containers, volumes: [{}] })), {
      template: {
        cliques: [
          {
            name: 'a',
            spec: {
              roleName: 'r',
              replicas: 1,
              podSpec: {
                containers: [
                  {
                    name: '',
                    ports: [{ containerPort: 0 }],
                    env: [{ name: '' }],
                    volumeMounts: [{ mountPath: '', name: '' }],
                  },
                  { name: '' },
                ],
                volumes: [{ name: '' }],
              },
            },
          },
        ],
      },
    })
  })

  test('bounds, metrics and sharing entries are added', () => {
    assert.deepEqual(
      completed(
        setOf({
          cliques: [],
          resourceSharing: [{}],
          podCliqueScalingGroups: [
            { name: 'g', cliqueNames: [], scaleConfig: { metrics: [{ resource: {} }] } },
          ],
        }),
      ),
      {
        template: {
          cliques: [],
          resourceSharing: [{ name: '', scope: '' }],
          podCliqueScalingGroups: [
            {
              name: 'g',
              cliqueNames: [],
              scaleConfig: {
                maxReplicas: 0,
                metrics: [{ type: '', resource: { name: '', target: { type: '' } } }],
              },
            },
          ],
        },
      },
    )
  })

  test('a volume claim may refer to a core object, which has no group', () => {
    const dataSource = { kind: 'PersistentVolumeClaim', name: 'p' }
    const volumes = [{ name: 'v', ephemeral: { volumeClaimTemplate: { spec: { dataSource } } } }]
    const decoded = decodePodCliqueSet(podWith({ volumes }))
    assert.ok(decoded.ok)
    const [volume] = decoded.value.spec.template.cliques[0]?.spec.podSpec.volumes ?? []
    assert.deepEqual(volume?.ephemeral?.volumeClaimTemplate?.spec.dataSource, dataSource)
  })

  test('a complete object is returned unchanged', () => {
    const object = cliqueWith({})
    const decoded = decodePodCliqueSet(object)
    assert.ok(decoded.ok && (decoded.value as object) === object)
  })
})

test('opaque parameters may be any JSON up to a depth limit', () => {
  const nested = (depth: number): object => {
    let value = {}
    for (let level = 0; level < depth; level++) value = { a: value }
    return value
  }
  const withParameters = (parameters: unknown): object =>
    setOf({
      cliques: [],
      resourceClaimTemplates: [
        {
          name: 'x',
          templateSpec: {
            spec: { devices: { requests: [], config: [{ opaque: { driver: 'd', parameters } }] } },
          },
        },
      ],
    })
  assert.equal(messageFor(withParameters(nested(100))), 'fine')
  assert.match(
    messageFor(withParameters(nested(100_000))),
    /opaque\.parameters: must not be nested deeper than 1000 levels$/,
  )
})

describe('metadata', () => {
  const messageOf = (metadata: unknown): string => {
    const decoded = decodeMetadata({ metadata })
    return decoded.ok ? 'fine' : decoded.message
  }
  for (const [metadata, message] of [
    [undefined, 'fine'],
    [{ name: 'a', labels: { a: 'b' }, generation: 3, finalizers: ['x'], unknown: 3 }, 'fine'],
    [{ labels: null, annotations: { a: null } }, 'fine'],
    ['x', 'metadata: must be an object, not a string'],
    [{ name: 3 }, 'metadata.name: must be a string, not an integer'],
    [{ labels: { a: 3 } }, 'metadata.labels.a: must be a string, not an integer'],
    [{ labels: 'a=b' }, 'metadata.labels: must be an object, not a string'],
    [{ finalizers: 'x' }, 'metadata.finalizers: must be a list, not a string'],
    [
      { ownerReferences: [{ controller: 'true' }] },
      'metadata.ownerReferences[0].controller: must be true or false, not a string',
    ],
  ] as const) {
    test(`${JSON.stringify(metadata)}: ${message}`, () => {
      assert.equal(messageOf(metadata), message)
    })
  }
})
