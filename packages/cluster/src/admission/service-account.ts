// SPDX-License-Identifier: Apache-2.0

import { storages } from '../registry/storages.ts'
import type { Container, PodSpec, ServiceAccount, Volume } from '../schema/types.generated.ts'
import type { AdmissionPlugin } from '../server/admission.ts'
import type { ServerContext } from '../server/context.ts'
import { generateName } from '../server/metadata.ts'
import { apiError } from '../server/status.ts'
import { objectIn } from '../store/index.ts'

const defaultAccount = 'default'
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount'
const volumePrefix = 'kube-api-access-'
/** One hour, plus a margin for clock skew. */
const tokenSeconds = 3_607
const fileMode = 0o644
/** A controller creates the default service account shortly after its namespace. */
const defaultAccountAttempts = 10
const retryMs = 100

/**
 * Sets the service account of a pod and mounts its token into all containers, unless the pod or the account
 * disables it.
 */
export const serviceAccountAdmission: AdmissionPlugin = {
  name: 'ServiceAccount',
  mutate({ operation, resource, subresource, namespace, name, object }, context) {
    const pod = objectIn(storages.pods, object, resource.storage)
    if (operation !== 'CREATE' || subresource !== '' || !pod) return
    pod.spec ??= {}
    pod.spec.serviceAccountName ||= defaultAccount
    pod.spec.serviceAccount = pod.spec.serviceAccountName
    const account = findAccount(context, namespace, pod.spec.serviceAccountName)
    if (account) return applyAccount(pod.spec, account, context)
    return awaitAccount(context, namespace, pod.spec.serviceAccountName, pod.metadata.name ?? name).then(
      found => applyAccount(pod.spec!, found, context),
    )
  },
}

function findAccount({ store }: ServerContext, namespace: string, name: string): ServiceAccount | undefined {
  return store.get(storages.serviceAccounts, `${namespace}/${name}`)
}

async function awaitAccount(
  context: ServerContext,
  namespace: string,
  account: string,
  pod: string,
): Promise<ServiceAccount> {
  for (let attempt = account === defaultAccount ? defaultAccountAttempts : 0; attempt > 0; attempt--) {
    await context.clock.sleep(retryMs)
    const found = findAccount(context, namespace, account)
    if (found) return found
  }
  throw apiError.forbidden(
    { group: '', plural: 'pods' },
    pod,
    `error looking up service account ${namespace}/${account}: serviceaccount "${account}" not found`,
  )
}

function applyAccount(spec: PodSpec, account: ServiceAccount, context: ServerContext): void {
  if (!spec.imagePullSecrets?.length && account.imagePullSecrets?.length)
    spec.imagePullSecrets = structuredClone(account.imagePullSecrets)
  if (!(spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true)) return
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])]
  const without = containers.filter(container => !hasMount(container))
  const existing = spec.volumes?.find(({ name }) => name?.startsWith(volumePrefix))
  const name = existing?.name ?? generateName(volumePrefix, context.random)
  for (const container of without)
    container.volumeMounts = [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath }]
  if (!existing && without.length > 0) spec.volumes = [...(spec.volumes ?? []), tokenVolume(name)]
}

function hasMount({ volumeMounts = [] }: Container): boolean {
  return volumeMounts.some(mount => mount.mountPath === mountPath)
}

function tokenVolume(name: string): Volume {
  return {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: tokenSeconds, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
          },
        },
      ],
      defaultMode: fileMode,
    },
  }
}
