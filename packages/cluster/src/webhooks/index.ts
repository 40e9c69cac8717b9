// SPDX-License-Identifier: Apache-2.0

export { createWebhooks, type Webhooks } from './webhooks.ts'
