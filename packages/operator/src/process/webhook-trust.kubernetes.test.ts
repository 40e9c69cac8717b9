// SPDX-License-Identifier: Apache-2.0

import { realHost, webhookTrustTests } from '@grove/test-scenarios'

webhookTrustTests('real Kubernetes', realHost)
