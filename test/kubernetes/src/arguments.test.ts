// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { help, parseInvocation, UsageError } from './arguments.ts'

const plainUp = {
  kind: 'up',
  nodes: 3,
  gpus: 0,
  kubeconfig: undefined,
  nativeGangs: false,
  gated: false,
  stages: undefined,
  featureGates: {},
  runtimeConfig: {},
  controllers: true,
  scheduler: true,
  kwok: true,
  data: undefined,
  logs: undefined,
}

const understood: [string, object][] = [
  ['', { kind: 'help' }],
  ['--help', { kind: 'help' }],
  ['up --help', { kind: 'help' }],
  ['build', { kind: 'build' }],
  ['kubectl get pods --help', { kind: 'kubectl', args: ['get', 'pods', '--help'] }],
  ['up', plainUp],
  ['up --nodes 30 --gpus=8 --kubeconfig file', { ...plainUp, nodes: 30, gpus: 8, kubeconfig: 'file' }],
  [
    'up --no-controllers --no-scheduler --no-kwok',
    { ...plainUp, controllers: false, scheduler: false, kwok: false },
  ],
  [
    'up --native-gangs --feature-gates A=true,B=false --runtime-config x/v1=true',
    { ...plainUp, nativeGangs: true, featureGates: { A: true, B: false }, runtimeConfig: { 'x/v1': true } },
  ],
]

for (const [args, meaning] of understood)
  test(`"${args}" is understood`, () =>
    assert.deepEqual(parseInvocation(args.split(' ').filter(Boolean)), meaning))

const rejected: [string, RegExp][] = [
  ['down', /no command "down"/],
  ['build all', /build takes no arguments/],
  ['up --nodez 3', /--nodez/],
  ['up 30', /30/],
  ['up --nodes many', /--nodes wants a number/],
  ['up --nodes -1', /nodes/],
  ['up --gpus 1.5', /--gpus wants a number/],
  ['up --feature-gates A', /--feature-gates wants <name>=true/],
  ['up --gated --stages file', /exclude each other/],
]

for (const [args, message] of rejected)
  test(`"${args}" is rejected`, () => {
    assert.throws(
      () => parseInvocation(args.split(' ')),
      (error: unknown) => error instanceof UsageError && message.test(error.message),
    )
  })

test('the help names every flag that is understood', () => {
  for (const flag of ['nodes', 'gpus', 'kubeconfig', 'native-gangs', 'gated', 'stages', 'data', 'logs'])
    assert.match(help, new RegExp(`--${flag}\\b`))
})
