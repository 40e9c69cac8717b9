// SPDX-License-Identifier: Apache-2.0

// The real kubectl on the embedded cluster: what people type.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Cluster, createCluster, type HttpsFront, serveHttps } from '@grove/cluster'
import { Kubectl } from './kubectl.ts'
import { definitionsPath, deployment, widget, widgetDefinition } from './objects.ts'
import type { Ground } from './suite.ts'

describe('kubectl', () => {
  let cluster: Cluster
  let front: HttpsFront
  let kubectl: Kubectl

  before(async () => {
    cluster = createCluster()
    front = await serveHttps({ handle: cluster.handle })
    kubectl = await Kubectl.for(front.kubeconfig)
  })
  after(async () => {
    await front?.close()
    cluster?.stop()
    kubectl?.close()
  })

  const run: Kubectl['run'] = (...words) => kubectl.run(...words)
  const ok: Kubectl['ok'] = (...words) => kubectl.ok(...words)

  it('sees the server and its kinds', async () => {
    assert.match(await ok('version'), /Server Version: v1\.37/)
    assert.match(await ok('api-resources'), /^deployments +deploy +apps\/v1 +true +Deployment$/m)
    assert.match(await ok('get namespaces'), /^default +Active/m)
  })

  it('creates with typed clients, which send protobuf', async () => {
    assert.equal(await ok('create namespace demo'), 'namespace/demo created\n')
    assert.equal(await ok('-n demo run web --image=nginx --port=80 --env=A=b'), 'pod/web created\n')
    assert.match(await ok('-n demo get pod web -o wide'), /^web +0\/1 +Pending +0 +\S+ +<none> +<none>/m)
    assert.equal(await ok('-n demo get pod web -o jsonpath={.spec.containers[0].env[0].value}'), 'b')
    assert.equal(await ok('-n demo create configmap m --from-literal=k=v'), 'configmap/m created\n')
    assert.equal(await ok('-n demo create secret generic s --from-literal=k=v'), 'secret/s created\n')
    assert.equal(await ok('-n demo expose pod web --port=80'), 'service/web exposed\n')
  })

  it('applies, compares, edits, patches, scales, labels and annotates', async () => {
    const manifest = (replicas: number) => JSON.stringify(deployment('site', { replicas }))
    assert.equal(await ok('apply -f -', manifest(1)), 'deployment.apps/site created\n')
    assert.equal(await ok('apply -f -', manifest(1)), 'deployment.apps/site unchanged\n')
    const difference = await run('diff -f -', manifest(2))
    assert.equal(difference.code, 1)
    assert.match(difference.out, /^\+ +replicas: 2$/m)
    assert.equal(await ok('apply -f -', manifest(2)), 'deployment.apps/site configured\n')
    assert.equal(await ok('scale deployment site --replicas=4'), 'deployment.apps/site scaled\n')
    assert.equal(
      await ok('edit deployment site', undefined, { EDITOR: 'sed -i s/app:1/app:2/' }),
      'deployment.apps/site edited\n',
    )
    assert.equal(
      await ok('get deployment site -o jsonpath={.spec.template.spec.containers[0].image}'),
      'registry.example/app:2',
    )
    assert.equal(
      await ok('patch deployment site -p {"spec":{"paused":true}}'),
      'deployment.apps/site patched\n',
    )
    assert.equal(
      await ok('patch deployment site --type=json -p [{"op":"remove","path":"/spec/paused"}]'),
      'deployment.apps/site patched\n',
    )
    assert.equal(
      await ok('patch deployment site --type=merge -p {"spec":{"minReadySeconds":1}}'),
      'deployment.apps/site patched\n',
    )
    assert.equal(await ok('label deployment site a=b'), 'deployment.apps/site labeled\n')
    assert.equal(await ok('annotate deployment site c=d'), 'deployment.apps/site annotated\n')
    assert.equal(
      await ok('wait --for=jsonpath={.spec.replicas}=4 deployment/site'),
      'deployment.apps/site condition met\n',
    )
    assert.match(await ok('describe deployment site'), /^Replicas: +4 desired/m)
  })

  it('says what is wrong in the server’s words', async () => {
    const { code, error } = await run(
      'apply -f -',
      JSON.stringify({ ...deployment('bad'), spec: { replicas: 'many' } }),
    )
    assert.equal(code, 1)
    assert.match(
      error,
      /cannot unmarshal string into Go struct field DeploymentSpec\.spec\.replicas of type int32/,
    )
    const strict = await run('apply -f -', JSON.stringify(deployment('bad', { nonsense: 1 })))
    assert.match(strict.error, /strict decoding error: unknown field "spec\.nonsense"/)
  })

  it('explains kinds, custom ones too', async () => {
    assert.match(await ok('explain pod.spec.containers.resources'), /limits\t<map\[string\]\S+>/)
    const ground = { id: 'kubectl' } as Ground
    const response = await cluster.handle({
      method: 'POST',
      path: definitionsPath,
      query: new URLSearchParams(),
      headers: {},
      body: JSON.stringify(widgetDefinition(ground)),
      user: { name: 'test', groups: [] },
    })
    assert.equal(response.status, 201)
    assert.match(await ok('explain widget.spec'), /size\t<integer>/)
    assert.equal(
      await ok('apply -f -', JSON.stringify(widget(ground, 'w'))),
      'widget.kubectl.example.com/w created\n',
    )
    assert.match(await ok('get widgets'), /^w +\d+s$/m)
    assert.equal(
      await ok(`delete crd widgets.kubectl.example.com`),
      'customresourcedefinition.apiextensions.k8s.io "widgets.kubectl.example.com" deleted\n',
    )
  })

  it('cordons and taints nodes', async () => {
    await ok('create -f -', JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } }))
    assert.equal(await ok('cordon n1'), 'node/n1 cordoned\n')
    assert.match(await ok('get node n1'), /SchedulingDisabled/)
    assert.equal(await ok('uncordon n1'), 'node/n1 uncordoned\n')
    assert.equal(await ok('taint node n1 key=value:NoSchedule'), 'node/n1 tainted\n')
  })

  it('asks what it may do, and deletes', async () => {
    assert.equal(await ok('auth can-i create pods'), 'yes\n')
    assert.match(await ok('auth whoami'), /system:masters/)
    assert.match(await ok('-n demo delete pod web'), /^pod "web" deleted/)
    assert.match(await ok('-n demo delete configmap m --cascade=background'), /deleted/)
    assert.match(await ok('-n demo delete secret --all'), /secret "s" deleted/)
    assert.equal(
      (await run('-n demo get pod web')).error,
      'Error from server (NotFound): pods "web" not found\n',
    )
  })
})
