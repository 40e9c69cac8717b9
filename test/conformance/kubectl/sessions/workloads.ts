// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { configMap, deployment } from '../../objects.ts'
import { sessions } from '../session.ts'

const manifest = (...objects: object[]) => objects.map(object => JSON.stringify(object)).join('\n---\n')
const image = '-o jsonpath={.spec.template.spec.containers[0].image}'

export const workloadSessions = sessions({
  'rollout: status, history, restart, undo, pause and resume; set image, env and resources': async shell => {
    await shell.types('apply -f -', { input: manifest(deployment('site', { replicas: 2 })) })
    const rolled = () => shell.types('rollout status deployment/site --timeout=120s', { only: lastLine })
    assert.match(await rolled(), /deployment "site" successfully rolled out/)
    await shell.types('wait --for=condition=Available deployment/site --timeout=120s')
    await shell.types('annotate deployment site kubernetes.io/change-cause=first')
    await shell.types('set image deployment/site main=registry.example/app:2')
    await shell.types('set image deployment/site nosuch=registry.example/app:2', { code: 1 })
    await rolled()
    await shell.types('annotate deployment site kubernetes.io/change-cause=second --overwrite')
    await shell.sees('rollout history deployment/site', /second/)
    await shell.types('rollout history deployment/site')
    await shell.types('rollout history deployment/site --revision=2')
    await shell.types('rollout undo deployment/site')
    await rolled()
    assert.equal(await shell.types(`get deployment site ${image}`), 'registry.example/app:1')
    await shell.types('rollout undo deployment/site --to-revision=2')
    await shell.isRejected('rollout undo deployment/site --to-revision=9')
    await rolled()
    await shell.types('rollout pause deployment/site')
    await shell.isRejected('rollout pause deployment/site')
    await shell.isRejected('rollout restart deployment/site')
    await shell.types('set env deployment/site A=b')
    await shell.types('set env deployment/site --list')
    await shell.types('set resources deployment/site --limits=cpu=1,memory=1Gi')
    await shell.types('set serviceaccount deployment site default')
    await shell.types('rollout resume deployment/site')
    await rolled()
    await shell.types('rollout restart deployment/site')
    await rolled()
    await shell.types('get deployment site')
    await shell.types('get deployment site -o wide')
    await shell.types('get replicasets -o custom-columns=WANT:.spec.replicas,READY:.status.readyReplicas', {
      sorted: true,
    })
    await shell.types('describe deployment site', { only: withoutEvents })
    await shell.types('get pods -l app=site', { sorted: true })
    await shell.types('set selector service/nowhere a=b --dry-run=client', { code: 1 })
  },

  'scale with preconditions; wait for fields': async shell => {
    await shell.types('create -f -', { input: manifest(deployment('site', { replicas: 1 })) })
    await shell.types('scale deployment site --replicas=3')
    await shell.types('wait --for=jsonpath={.status.readyReplicas}=3 deployment/site --timeout=120s')
    await shell.isRejected('scale deployment site --replicas=5 --current-replicas=1')
    await shell.types('scale deployment site --replicas=2 --current-replicas=3')
    await shell.types('wait --for=jsonpath={.status.replicas}=2 deployment/site --timeout=120s')
    await shell.types('scale --replicas=0 deployment/site')
    await shell.sees('get pods -o name', /^$/)
    await shell.types('scale deployment --all --replicas=1')
    await shell.sees('get pods -l app=site', /1\/1 +Running/)
    await shell.types('wait --for=condition=Ready pod -l app=site --timeout=120s')
    await shell.isRejected('wait --for=condition=Nothing deployment/site --timeout=5s')
    await shell.isRejected('wait --for=jsonpath={.spec.replicas}=7 deployment/site --timeout=5s')
    await shell.isRejected('wait --for=condition=Ready pod/nowhere --timeout=5s')
    await shell.types('wait --for=delete pod/nowhere --timeout=5s')
    await shell.types('get deployment/site --subresource=scale -o yaml')
  },

  'delete with every cascade mode, and the remaining objects': async shell => {
    const make = async (name: string) => {
      await shell.types('create -f -', { input: manifest(deployment(name, { replicas: 1 })) })
      await shell.sees(`get pods -l app=${name}`, /1\/1 +Running/)
    }
    const left = (name: string) => shell.types(`get deployments,replicasets,pods -l app=${name} -o name`)
    await make('background')
    await shell.types('delete deployment background')
    await shell.sees('get replicasets,pods -l app=background -o name', /^$/)
    await make('foreground')
    await shell.types('delete deployment foreground --cascade=foreground')
    // Foreground deletion deletes all dependents first.
    assert.equal(await left('foreground'), '')
    await make('orphan')
    await shell.types('delete deployment orphan --cascade=orphan')
    const orphans = await left('orphan')
    assert.match(orphans, /^replicaset\.apps\/orphan-\w+\npod\/orphan-\w+-\w+\n$/)
    await shell.types('get replicasets -l app=orphan -o jsonpath={.items[*].metadata.ownerReferences}')
    await shell.types('delete replicaset -l app=orphan --cascade=orphan', { sorted: true })
    await shell.types('get pods -l app=orphan -o jsonpath={.items[*].metadata.ownerReferences}')
    assert.match(await left('orphan'), /^pod\/orphan-\w+-\w+\n$/)
    await shell.types('delete pods --all --now')
    await shell.types('delete deployments --all')
    await make('forced')
    await shell.types('delete pod -l app=forced --force --grace-period=0')
    await shell.types('delete deployment/forced --wait=false')
    await shell.sees('get replicasets,pods -l app=forced -o name', /^$/)
  },

  'delete waits for finalizers until its timeout': async shell => {
    const held = configMap('held', {}, { finalizers: ['example.com/hold'] })
    await shell.types('create -f -', { input: manifest(held) })
    await shell.isRejected('delete configmap held --timeout=5s')
    await shell.types('get configmap held -o jsonpath={.metadata.finalizers}')
    const deleting = shell.begins('delete configmap held')
    await deleting.shows(/"held" deleted/)
    await shell.types('patch configmap held --type=merge -p {"metadata":{"finalizers":null}}')
    assert.equal((await deleting.ended).code, 0)
    await shell.types('wait --for=delete configmap/held --timeout=120s')
    await shell.isRejected('get configmap held')
    await shell.types('create -f -', { input: manifest(configMap('a'), configMap('b')) })
    await shell.types('delete configmap/a configmap/b')
    await shell.isRejected('delete configmap a b')
    await shell.types('delete configmap a --ignore-not-found')
  },
})

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? ''
}

/** The number of steps of a rollout depends on timing. */
function withoutEvents(text: string): string {
  return text.replace(/^Events:[\s\S]*/m, '').replace(/^(Old|New)ReplicaSets?:.*\n/gm, '')
}
