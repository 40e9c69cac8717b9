// SPDX-License-Identifier: Apache-2.0

// Evaluates the observations of `grove doctor`. Pure. Checks are in the order of their dependencies: if one fails, the
// later ones would report its consequences.
import {
  type ClusterRole,
  type CustomResourceDefinition,
  customResourceDefinitions,
  type PolicyRule,
  scheduler,
} from '@grove/api'
import { droppedFields } from '@grove/installer'
import type { KubeError, WebhookConfiguration } from '@grove/kube'
import type { Observations } from './observe.ts'

export interface Finding {
  readonly check: string
  /** `unknown`: the user may not read what the check needs, or a check before it failed. */
  readonly state: 'ok' | 'problem' | 'unknown'
  readonly message: string
  /** The repair of a problem. */
  readonly fix?: string
}

interface Check {
  readonly name: string
  /** Checks whose problems explain a failure of this one. It is not evaluated after them. */
  readonly needs: readonly string[]
  evaluate(seen: Observations): Omit<Finding, 'check'>
}

/** The oldest version that the chart accepts. */
const oldestMinor = 29
/**
 * Kubernetes' own leader election tolerates a difference up to its renew deadline. Alerts and ages are wrong earlier.
 */
const clockToleranceMs = 5_000
/** The creation time of a dry run has whole seconds, and a slow network adds to the difference. */
const localClockToleranceMs = 30_000
/** A message lists at most this many of a kind. */
const listed = 5

const always = ['Kubernetes', 'CRDs']

const checks: readonly Check[] = [
  { name: 'Kubernetes', needs: [], evaluate: kubernetes },
  { name: 'CRDs', needs: ['Kubernetes'], evaluate: crds },
  { name: 'Configuration', needs: always, evaluate: configuration },
  { name: 'Permissions', needs: always, evaluate: permissions },
  { name: 'Operator', needs: always, evaluate: operator },
  { name: 'Webhooks', needs: [...always, 'Operator'], evaluate: webhooks },
  { name: 'Admission', needs: [...always, 'Operator', 'Webhooks'], evaluate: admission },
  { name: 'Schedulers', needs: always, evaluate: schedulers },
  { name: 'Shared nodes', needs: always, evaluate: sharedNodes },
  { name: 'Topology', needs: always, evaluate: topology },
  { name: 'Clock', needs: always, evaluate: clock },
]

export function examine(seen: Observations): Finding[] {
  const failed = new Set<string>()
  return checks.map(({ name, needs, evaluate }) => {
    const cause = needs.find(need => failed.has(need))
    const finding = cause ? unknown(`not checked: fix ${cause} first`) : evaluate(seen)
    if (cause || finding.state === 'problem') failed.add(name)
    return { check: name, ...finding }
  })
}

function kubernetes({ version, server }: Observations) {
  if (!version.ok)
    return problem(
      `the API server at ${server} does not respond: ${version.error.message}`,
      'Check the kubeconfig and the network.',
    )
  const [, minor] = /^v1\.(\d+)/.exec(version.value) ?? []
  if (minor === undefined) return unknown(`version ${version.value} at ${server}`)
  return Number(minor) >= oldestMinor
    ? ok(`${version.value} at ${server}`)
    : problem(
        `${version.value} is older than v1.${oldestMinor}`,
        `Upgrade the cluster to v1.${oldestMinor} or newer.`,
      )
}

function crds({ crds: found }: Observations) {
  const unreadable = [...found.values()].find(each => !each.ok)
  if (unreadable && !unreadable.ok) return unreadableBecause('CustomResourceDefinitions', unreadable.error)
  const installed = new Map(
    [...found].flatMap(([name, each]) => (each.ok && each.value ? [[name, each.value] as const] : [])),
  )
  const install = 'Run: grove crds | kubectl apply --server-side --force-conflicts -f -'
  const missing = [...found.keys()].filter(name => !installed.has(name))
  if (missing.length > 0)
    return problem(`${list(missing)} ${missing.length === 1 ? 'does' : 'do'} not exist`, install)
  for (const wanted of customResourceDefinitions) {
    const stored = installed.get(wanted.metadata.name ?? '')
    const without = stored ? droppedFields(wanted, stored as CustomResourceDefinition) : []
    if (without.length > 0)
      return problem(
        `${wanted.metadata.name} is of an older version, the API server drops ${list(without)}`,
        install,
      )
  }
  return ok(`${installed.size} CRDs are installed and current`)
}

function configuration({ isLocal, configurationOf, configurationProblem, operatorNamespace }: Observations) {
  if (isLocal) return ok('the operator runs inside `grove up`')
  if (configurationProblem)
    return problem(configurationProblem, 'Correct the value under `config` and run helm upgrade.')
  return configurationOf === 'Deployment'
    ? ok(`of Deployment ${operatorNamespace}/grove-operator`)
    : unknown(
        `there is no Deployment ${operatorNamespace}/grove-operator; the checks assume the default configuration. ` +
          '--operator-namespace names another namespace',
      )
}

function webhooks({ isLocal, webhooks: found, configuration: { server } }: Observations) {
  if (isLocal) return ok('admission runs inside `grove up`')
  if (!server.webhooks.enabled)
    return ok('disabled by server.webhooks.enabled: sets are stored without defaults and validation')
  const problems: string[] = []
  for (const [name, each] of found) {
    if (!each.ok) return unreadableBecause('webhook configurations', each.error)
    if (!each.value) problems.push(`${name} does not exist`)
    else if (withoutBundle(each.value)) problems.push(`${name} has no caBundle`)
  }
  if (problems.length === 0) return ok(`${found.size} configurations with a caBundle`)
  const isMissing = problems.some(text => text.endsWith('does not exist'))
  return problem(
    list(problems),
    isMissing
      ? 'Run helm upgrade with the chart of the installed version; it creates them.'
      : 'The operator sets it in mode auto: look at its log. In mode manual set it, or let cert-manager inject it.',
  )
}

function withoutBundle({ webhooks: entries = [] }: WebhookConfiguration): boolean {
  return entries.some(({ clientConfig }) => !clientConfig.caBundle)
}

/** Two dry runs test defaults and validation through the API server. */
function admission({ valid, invalid, configuration: { server }, isLocal }: Observations) {
  if (!isLocal && !server.webhooks.enabled) return ok('webhooks are disabled')
  const error = valid.ok ? undefined : valid.error
  if (error?.code === 'Forbidden' && !/admission webhook/.test(error.message))
    return unknown(`you may not create PodCliqueSets: ${error.message}`)
  if (error?.code === 'NotFound' && error.details?.kind === 'namespaces')
    return unknown(`namespace ${error.details.name} does not exist; name another one with -n`)
  if (error) return callProblem(error)
  if (valid.ok && valid.value.spec.template.terminationDelay === undefined)
    return problem('PodCliqueSets get no defaults', 'Install the webhook configurations with helm upgrade.')
  if (invalid.ok)
    return problem(
      'an invalid PodCliqueSet is accepted',
      'Install the validating webhook configuration with helm upgrade.',
    )
  return ok('PodCliqueSets get defaults and are validated')
}

function callProblem({ message }: KubeError) {
  const [, reason = message] = /failed calling webhook "[^"]+": (.*)$/s.exec(message) ?? []
  if (/x509|certificate/.test(reason))
    return problem(
      `the API server does not trust the certificate of the webhooks: ${reason}`,
      'In mode auto delete the Secret grove-webhook-server-cert: the operator creates a new one. In mode manual set the caBundle.',
    )
  if (/connection refused|no endpoints|not found|deadline|timeout|no such host|EOF|ECONN/i.test(reason))
    return problem(
      `the API server cannot reach the webhooks: ${reason}`,
      'Check that the pods of the operator are ready, and that NetworkPolicies let the API server reach them.',
    )
  return problem(
    `a valid PodCliqueSet is rejected: ${message}`,
    'Look for other admission webhooks and policies.',
  )
}

function operator({
  isLocal,
  deployment,
  lease,
  configuration: { leaderElection },
  operatorNamespace,
  serverTime,
  observedAt,
}: Observations) {
  if (isLocal) return ok('runs inside `grove up`')
  if (!deployment.ok) return unreadableBecause('Deployments', deployment.error)
  const logs = `Run: kubectl logs -n ${operatorNamespace} deployment/grove-operator`
  if (deployment.value && deployment.value.ready === 0)
    return problem(`no pod of Deployment ${operatorNamespace}/grove-operator is ready`, logs)
  if (!leaderElection.enabled)
    return deployment.value ? ok('ready, without leader election') : unknown('without leader election')
  if (!lease.ok) return unreadableBecause('Leases', lease.error)
  const name = `${leaderElection.resourceNamespace || operatorNamespace}/${leaderElection.resourceName}`
  if (!lease.value)
    return problem(
      `the Lease ${name} does not exist: no operator runs`,
      'Install the operator, or name its namespace with --operator-namespace.',
    )
  const { holder, writtenAt, renewedAt, durationSeconds } = lease.value
  const now = serverTime.ok ? serverTime.value.server : observedAt
  const ageMs = now - (writtenAt ?? renewedAt)
  if (ageMs > 2 * durationSeconds * 1000)
    return problem(`the Lease ${name} was renewed ${Math.round(ageMs / 1000)} s ago: no operator runs`, logs)
  return ok(`${holder} holds the Lease ${name}`)
}

function permissions({ isLocal, clusterRole }: Observations) {
  if (!clusterRole.ok) return unreadableBecause('ClusterRoles', clusterRole.error)
  const { stored, wanted } = clusterRole.value
  if (isLocal && !stored) return ok('granted by `grove up`')
  const name = wanted.metadata.name
  const upgrade = 'Run helm upgrade with the chart of the installed version, or grant them yourself.'
  if (!stored) return problem(`the ClusterRole ${name} does not exist`, upgrade)
  const missing = missingRights(stored, wanted)
  return missing.length === 0
    ? ok(`the ClusterRole ${name} grants all rights`)
    : problem(`the ClusterRole ${name} does not grant ${list(missing)}`, upgrade)
}

/** Permissions of the wanted role that the stored one lacks, such as `patch pods`. */
function missingRights(stored: ClusterRole, wanted: ClusterRole): string[] {
  const granted = stored.rules ?? []
  return (wanted.rules ?? []).flatMap(rule =>
    (rule.apiGroups ?? []).flatMap(group =>
      (rule.resources ?? []).flatMap(resource =>
        rule.verbs
          .filter(
            verb => !granted.some(each => covers(each, { group, resource, verb, names: rule.resourceNames })),
          )
          .map(verb => `${verb} ${resource}${group ? `.${group}` : ''}`),
      ),
    ),
  )
}

function covers(
  rule: PolicyRule,
  right: { group: string; resource: string; verb: string; names: readonly string[] | undefined },
): boolean {
  const has = (values: readonly string[] | undefined, value: string) =>
    values?.some(each => each === '*' || each === value) ?? false
  const names = rule.resourceNames ?? []
  return (
    has(rule.apiGroups, right.group) &&
    has(rule.resources, right.resource) &&
    has(rule.verbs, right.verb) &&
    (names.length === 0 || (right.names?.every(name => names.includes(name)) ?? false))
  )
}

function schedulers({ schedulers: found, isLocal }: Observations) {
  if (isLocal) return ok('run inside `grove up`')
  for (const [name, each] of found) {
    if (!each.ok) return unreadableBecause(`the API of ${name}`, each.error)
    if (each.value)
      return problem(
        `the profile ${name} is enabled, but ${each.value}`,
        `Install ${name}, or remove it from config.scheduler.profiles.`,
      )
  }
  return ok([...found.keys()].join(', '))
}

function sharedNodes({
  isLocal,
  sharedNodes: found,
  configuration: { scheduler: configured },
}: Observations) {
  if (!found.ok) return unreadableBecause('pods', found.error)
  if (!isLocal && !configured.profiles.some(({ name }) => name === scheduler.grove))
    return ok('grove-scheduler is not enabled')
  const [first] = found.value
  if (!first) return ok('grove-scheduler shares no extended resource of a node with another scheduler')
  const names = [...new Set(found.value.map(({ node }) => node))]
  return problem(
    `grove-scheduler and ${first.others.join(', ')} both bind pods with ${first.resource} to ${names.length === 1 ? 'node' : 'nodes'} ${list(names)}`,
    'Give each scheduler its own nodes with a taint. Otherwise both promise the same devices, and the kubelet rejects pods.',
  )
}

function topology({ bindings, nodes }: Observations) {
  if (!bindings.ok) return unreadableBecause('ClusterTopologyBindings', bindings.error)
  if (!nodes.ok) return unreadableBecause('nodes', nodes.error)
  if (bindings.value.length === 0)
    return ok('no ClusterTopologyBinding: sets cannot have topology constraints')
  for (const { metadata, spec } of bindings.value)
    for (const { domain, key } of spec.levels) {
      const without = nodes.value.filter(({ labels }) => labels[key] === undefined).map(({ name }) => name)
      if (without.length === 0) continue
      const all = without.length === nodes.value.length
      return problem(
        `level ${domain} of ClusterTopologyBinding ${metadata.name}: ${all ? 'no node has' : `${without.length} of ${nodes.value.length} nodes lack`} the label ${key}${all ? '' : ` (${list(without)})`}`,
        'Label the nodes, or correct the level. Pods with a required level are never scheduled to nodes without its label.',
      )
    }
  return ok(
    `all ${nodes.value.length} nodes have the labels of ${bindings.value.length} ClusterTopologyBindings`,
  )
}

function clock({ lease, serverTime }: Observations) {
  // The time of the API server has whole seconds.
  const skew = lease.ok && lease.value?.writtenAt ? lease.value.renewedAt - lease.value.writtenAt : 0
  if (Math.abs(skew) > clockToleranceMs)
    return problem(
      `the clock of the operator is ${seconds(skew)} ${skew > 0 ? 'ahead of' : 'behind'} that of the API server`,
      'Synchronize the clocks of the nodes (NTP).',
    )
  if (!serverTime.ok) return unreadableBecause('the time of the API server', serverTime.error)
  const local = serverTime.value.local - serverTime.value.server
  return Math.abs(local) > localClockToleranceMs
    ? problem(
        `the clock of this machine is ${seconds(local)} ${local > 0 ? 'ahead of' : 'behind'} that of the API server`,
        'Synchronize the clock of this machine. Ages and tokens depend on it.',
      )
    : ok('the clocks agree')
}

function seconds(milliseconds: number): string {
  return `${Math.round(Math.abs(milliseconds) / 1000)} s`
}

function unreadableBecause(what: string, { message }: KubeError) {
  return unknown(`${what} cannot be read: ${message}`)
}

function list(names: readonly string[]): string {
  const more = names.length - listed
  return `${names.slice(0, listed).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

function ok(message: string) {
  return { state: 'ok', message } as const
}

function unknown(message: string) {
  return { state: 'unknown', message } as const
}

function problem(message: string, fix: string) {
  return { state: 'problem', message, fix } as const
}
