// SPDX-License-Identifier: Apache-2.0

/** Texts that differ between servers and runs, and their replacements. */
const masks: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>'],
  [/[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, '<time>'],
  [/https:\/\/127\.0\.0\.1:\d+/g, '<server>'],
  [/\b198\.1[89]\.\d+\.\d+\b/g, '<pod address>'],
  [/\b10\.96\.\d+\.\d+\b/g, '<service address>'],
  [/("?resourceVersion"?: )"\d+"/g, '$1<version>'],
  [/\bweb\.[0-9a-f]{16}\b/g, 'web.<random>'],
  [/(Resource Version: +)\d+/g, '$1<version>'],
  [/kube-api-access-\w{5}/g, 'kube-api-access-<random>'],
  [/-[0-9bcdfghjklmnpqrstvwxz]{7,10}-[0-9bcdfghjklmnpqrstvwxz]{5}\b/g, '-<template>-<random>'],
  [/-[0-9bcdfghjklmnpqrstvwxz]{8,10}\b/g, '-<template>'],
  [/(pod-template-hash"?[=:] ?"?)[0-9a-z]+/g, '$1<template>'],
  // A watch with a timeout of a second may end slightly earlier, and kubectl warns of that.
  [/^.*very short watch.*\n?/gm, ''],
  // kubectl logs the end of a watch at its timeout in some runs only, depending on timing.
  [/^E\d{4} .*"Failed to watch" err="context deadline exceeded".*\n?/gm, ''],
  // Seconds and minutes elapse between two commands: this matches an age and its column.
  [/(?<=[\s(]|^)(\d+[smhd]){1,2}(?=[\s)]|$)/gm, '<age>'],
]

/** Column widths depend on the content; indentation is kept. */
const gap = /(\S) {2,}(?=\S)/g

export function comparableText(text: string, namespace: string): string {
  let result = text.replaceAll(namespace, '<namespace>')
  for (const [pattern, stands] of masks) result = result.replace(pattern, stands)
  return result.replace(gap, '$1  ').replace(/[ \t]+$/gm, '')
}
