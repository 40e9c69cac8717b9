// SPDX-License-Identifier: Apache-2.0

/** Texts that would run a script or break a page if any part of them were parsed as HTML, a header or an event. */
const hostileTexts: readonly string[] = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '"><svg onload=alert(1)>',
  "javascript:alert('1')",
  '</main></body><h1>taken over</h1>',
  'line\r\nset-cookie: a=b\r\n\r\n<b>body</b>',
  'data: 9\n\nevent: other\n\n',
  '\u202egnp.exe \u0000 \ud800 lone surrogate',
  '&lt;b&gt; &amp;amp;',
  '__proto__',
]

export const hostileText = hostileTexts.join(' ')
