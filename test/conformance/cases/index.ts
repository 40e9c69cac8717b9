// SPDX-License-Identifier: Apache-2.0

import { crud } from './crud.ts'

export const chapters = [crud]
