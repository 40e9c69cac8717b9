// SPDX-License-Identifier: Apache-2.0

import { embeddedHost, webhookTrustTests } from '@grove/test-scenarios'

webhookTrustTests('the embedded cluster', embeddedHost)
