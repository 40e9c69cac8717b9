// `helm test`: sends one review to the webhook server through its Service, as an API server does, and expects a decision.
// The certificate is not verified here: the readiness probe of the operator does that for all webhook configurations.
const { request } = require('node:https')
const review = JSON.stringify({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: { uid: 'helm-test', operation: 'DELETE', namespace: 'default', name: 'helm-test' },
})
const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(review) }
const fail = reason => {
  console.error(`The webhook server of the Grove operator does not respond as expected: ${reason}`)
  process.exit(1)
}
const url = `${process.env.GROVE_WEBHOOKS}/webhooks/validate-podcliqueset`
const sent = request(
  url,
  { method: 'POST', headers, rejectUnauthorized: false, timeout: 10_000 },
  response => {
    let text = ''
    response.on('data', chunk => {
      text += chunk
    })
    response.on('end', () => {
      if (response.statusCode !== 200) fail(`HTTP ${response.statusCode} ${text}`)
      const { uid, allowed } = JSON.parse(text).response ?? {}
      if (uid !== 'helm-test' || allowed !== true) fail(text)
      console.log(`The webhook server at ${url} decided a review.`)
    })
  },
)
sent.on('error', error => fail(error.message))
sent.on('timeout', () => fail('no response within 10 s'))
sent.end(review)
