// SPDX-License-Identifier: Apache-2.0

import { sessions } from '../session.ts'

/** Commands that create an object from arguments. The typed clients of kubectl send these as protobuf. */
const generators = [
  'create configmap m --from-literal=k=v --from-literal=l=w',
  'create secret generic s --from-literal=k=v',
  'create secret docker-registry r --docker-server=r.example --docker-username=u --docker-password=p',
  'create serviceaccount robot',
  'create role reader --verb=get,list --resource=pods,configmaps',
  'create rolebinding reader --role=reader --serviceaccount=NAMESPACE:robot --user=jane',
  'create clusterrole NAMESPACE-reader --verb=get --resource=nodes --non-resource-url=/healthz',
  'create clusterrolebinding NAMESPACE-reader --clusterrole=NAMESPACE-reader --group=people',
  'create deployment web --image=registry.example/web:1 --replicas=2 --port=80',
  'create job once --image=registry.example/job:1 -- true',
  'create cronjob often --image=registry.example/job:1 --schedule=0_0_1_1_* -- true',
  'create service clusterip inside --tcp=80:8080',
  'create service clusterip headless --clusterip=None --tcp=80',
  'create service nodeport outside --tcp=80 --node-port=30123',
  'create service externalname away --external-name=example.com',
  'create ingress door --rule=example.com/path=inside:80',
  'create poddisruptionbudget guard --selector=app=web --min-available=1',
  'create quota small --hard=pods=100,configmaps=50',
  'create priorityclass NAMESPACE-high --value=1000 --description=first',
  'run single --image=registry.example/app:1 --env=A=b --labels=app=single --port=8080 --restart=Never',
  'expose pod single --port=80 --target-port=8080 --name=single',
  'expose deployment web --port=80 --type=NodePort --name=web-outside',
  'autoscale deployment web --min=1 --max=3 --cpu=80%',
]

export const generatorSessions = sessions({
  'objects created from arguments': async shell => {
    const withNamespace = (text: string) => text.replaceAll('NAMESPACE', shell.namespace)
    for (const generator of generators) {
      const [command, ...rest] = withNamespace(generator).split(' -- ')
      const arguments_ = command!.split(' ').map(word => word.replaceAll('_', ' '))
      await shell.types([...arguments_, '-o', 'yaml', ...(rest.length ? ['--', ...rest] : [])], {
        only: text => withoutChosenPorts(withoutStatus(text)),
      })
    }
    await shell.types('describe cronjob often')
    await shell.isRejected('create configmap m')
    await shell.isRejected('create service nodeport again --tcp=80 --node-port=30123')
    await shell.types(
      'create job again --from=cronjob/often -o jsonpath={.spec.template.spec.containers[0].image}',
    )
    await shell.types('get configmap,secret,serviceaccount,role,rolebinding', { sorted: true })
    await shell.types('get deployment,cronjob,poddisruptionbudget,resourcequota,ingress -o name')
    await shell.types('get services', { only: withoutChosenPorts })
    await shell.types('get services -o wide', { only: withoutChosenPorts })
    await shell.types('describe service inside')
    await shell.types('describe role reader')
    await shell.types('describe rolebinding reader')
    await shell.types('describe secret s')
    await shell.types('describe serviceaccount robot')
    await shell.types('describe ingress door')
    await shell.types(withNamespace('delete clusterrole,clusterrolebinding,priorityclass -l none=such'))
    await shell.types(withNamespace('delete clusterrole NAMESPACE-reader'))
    await shell.types(withNamespace('delete clusterrolebinding NAMESPACE-reader'))
    await shell.types(withNamespace('delete priorityclass NAMESPACE-high'))
  },
})

/** Controllers write the status at any time. */
function withoutStatus(yaml: string): string {
  return yaml.replace(/^status:[\s\S]*/m, '')
}

/** A node port that the request does not set is random. */
function withoutChosenPorts(text: string): string {
  return text.replace(/(nodePort: |80:)(?!30123)3\d{4}\b/g, '$1<port>')
}
