// SPDX-License-Identifier: Apache-2.0

import { pod, service } from '../../objects.ts'
import { sessions } from '../session.ts'

const manifest = (...objects: object[]) => objects.map(object => JSON.stringify(object)).join('\n---\n')
const greedy = { name: 'a', image: 'a', resources: { requests: { cpu: '9999' } } }

export const podSessions = sessions({
  'pods: run, get, describe, events, Service': async shell => {
    // Only one node is schedulable, so that both schedulers choose the same.
    await shell.types('cordon node-b')
    await shell.types('run web --image=registry.example/web:1 --port=80 --env=A=b --labels=app=web')
    await shell.sees('get pod web', /1\/1 +Running/)
    await shell.types('get pod web')
    await shell.types('get pod web -o wide')
    await shell.types('get pods --field-selector=status.phase=Running,spec.nodeName!= -o name')
    await shell.types('wait --for=condition=Ready pod/web --timeout=120s')
    await shell.types('wait --for=jsonpath={.status.phase}=Running pod/web')
    await shell.types('describe pod web', { only: withoutRuntime })
    await shell.sees('events --for pod/web', /Scheduled/)
    await shell.types('events --for pod/web', { only: linesWith(/Scheduled|^LAST/) })
    await shell.types('events --for pod/web --types=Warning')
    await shell.types('get events --field-selector=reason=Scheduled,involvedObject.name=web')
    await shell.types('get events --field-selector=involvedObject.name=missing')
    const scheduled = 'get events -o name --field-selector=reason=Scheduled,involvedObject.name=web'
    const event = (await shell.silently(scheduled)).trim()
    await shell.types(`describe ${event}`, { only: linesWith(/^(Namespace|Kind|Message|Reason|Type):/) })
    await shell.types('create -f -', { input: manifest(service('web')) })
    await shell.sees('get endpointslices -l kubernetes.io/service-name=web', /198\.1/)
    await shell.types('describe service web')
    await shell.types('create -f -', { input: manifest(pod('huge', { containers: [greedy] })) })
    await shell.sees('events --for pod/huge', /FailedScheduling/)
    await shell.types('describe pod huge')
    await shell.types('get pod huge')
    await shell.types('events', { only: linesWith(/huge|^LAST/) })
    await shell.types('logs huge')
    await shell.isRejected('logs web -c missing')
    await shell.isRejected('logs nowhere')
    await shell.isRejected('exec nowhere -- true')
    await shell.types('delete pod web huge', { sorted: true })
    await shell.types('uncordon node-b')
  },

  'rejected pods: a service account, a priority class or a name that does not exist': async shell => {
    await shell.isRejected('create -f -', { input: manifest(pod('a', { serviceAccountName: 'missing' })) })
    await shell.isRejected('create -f -', { input: manifest(pod('a', { priorityClassName: 'nothing' })) })
    await shell.isRejected('run Bad_Name --image=a')
    await shell.types('create serviceaccount robot')
    await shell.types('patch serviceaccount robot -p {"imagePullSecrets":[{"name":"pull"}]}')
    await shell.types('create -f - -o yaml --dry-run=server', {
      input: manifest(
        pod('a', { serviceAccountName: 'robot', initContainers: [{ name: 'first', image: 'b' }] }),
      ),
    })
    await shell.types('patch serviceaccount robot -p {"automountServiceAccountToken":false}')
    await shell.types('create -f - -o jsonpath={.spec.volumes}{.spec.serviceAccount} --dry-run=server', {
      input: manifest(pod('a', { serviceAccountName: 'robot' })),
    })
  },
})

function linesWith(pattern: RegExp): (text: string) => string {
  return text =>
    text
      .split('\n')
      .filter(line => pattern.test(line))
      .join('\n')
}

/** Fields that only a container runtime sets. */
function withoutRuntime(text: string): string {
  return text
    .replace(/^( +(Container|Image) ID:).*/gm, '$1')
    .replace(/^ +PodReadyToStartContainers .*\n/m, '')
}
