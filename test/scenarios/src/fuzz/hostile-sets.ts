// SPDX-License-Identifier: Apache-2.0

// Expensive PodCliqueSets: each is valid JSON within the size limit of an API server, and each targets one rule or one
// expansion.
type Loose = Record<string, unknown>

const podSpec = { containers: [{ name: 'main', image: 'engine:1' }] }

function clique(name: string, more: Loose = {}): Loose {
  return { name, spec: { roleName: name, replicas: 1, minAvailable: 1, podSpec, ...more } }
}

function set(template: Loose, more: Loose = {}): Loose {
  return {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueSet',
    metadata: { name: 'hostile', ...more },
    spec: { replicas: 1, template: { cliques: [clique('a')], ...template } },
  }
}

const names = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`)

/** Expensive sets by their target; `size` is the length of the relevant list. */
export const hostileSets: Readonly<Record<string, (size: number) => Loose>> = {
  claimNames: size =>
    set({
      cliques: [
        { ...clique('a'), resourceSharing: names('t', size).map(name => ({ name, scope: 'PerReplica' })) },
      ],
      resourceSharing: names('s', size).map(name => ({ name, scope: 'AllReplicas' })),
      podCliqueScalingGroups: [
        {
          name: 'g',
          cliqueNames: ['a'],
          resourceSharing: names('u', size).map(name => ({ name, scope: 'PerReplica' })),
        },
      ],
    }),
  clashingNames: size =>
    set({
      cliques: names('c', size).map(name => clique(name)),
      podCliqueScalingGroups: names('c', size).map(name => ({ name: `${name}-0`, cliqueNames: [name] })),
    }),
  startsAfter: size =>
    set({
      cliqueStartupType: 'CliqueStartupTypeExplicit',
      cliques: names('c', size).map((name, index) =>
        clique(name, { startsAfter: names('c', Math.min(index, 50)) }),
      ),
    }),
  startupCycle: size =>
    set({
      cliqueStartupType: 'CliqueStartupTypeExplicit',
      cliques: names('c', size).map((name, index) =>
        clique(name, { startsAfter: [`c${(index + 1) % size}`] }),
      ),
    }),
  oneLargeGroup: size =>
    set({
      cliques: names('c', size).map(name => clique(name)),
      podCliqueScalingGroups: [{ name: 'g', cliqueNames: names('c', size) }],
    }),
  unknownNames: size =>
    set({ podCliqueScalingGroups: [{ name: 'g', cliqueNames: names('unknown-', size * 10) }] }),
  wrongValues: size =>
    set({ cliques: names('c', size).map(name => clique(`${name}_${'x'.repeat(100)}`, { replicas: -1 })) }),
  duplicates: size => set({ cliques: Array.from({ length: size }, () => clique('same')) }),
  containers: size =>
    set({
      cliques: [
        clique('a', {
          podSpec: {
            containers: names('n', size).map(name => ({ name, image: 'engine:1', env: [{ name }] })),
          },
        }),
      ],
    }),
  annotations: size =>
    set({}, { annotations: Object.fromEntries(names('example.com/', size * 20).map(name => [name, name])) }),
  longName: size => set({}, { name: 'n'.repeat(size * 100) }),
  depth: size => set({ cliques: [clique('a', { podSpec: nested(Math.min(size * 5, 1_000)) })] }),
  templates: size =>
    set({
      resourceClaimTemplates: names('t', size).map(name => ({
        name,
        templateSpec: {
          spec: { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'x' } }] } },
        },
      })),
      resourceSharing: names('t', size).map(name => ({
        name,
        scope: 'PerReplica',
        filter: { childCliqueNames: names('c', 20) },
      })),
    }),
  topology: size =>
    set({
      topologyConstraint: { topologyName: 'site', pack: { required: 'rack', preferred: 'host' } },
      cliques: names('c', size).map(name => ({
        ...clique(name),
        topologyConstraint: { topologyName: `t-${name}`, pack: { required: 'zone' } },
      })),
    }),
  replicas: size =>
    set({ cliques: names('c', Math.min(size, 50)).map(name => clique(name, { replicas: 2_147_483_647 })) }),
}

function nested(depth: number): Loose {
  let value: Loose = {}
  for (let level = 0; level < depth; level++) value = { nested: [value] }
  return value
}
