// SPDX-License-Identifier: Apache-2.0

// Limits of one document. More rows would not help a reader, and a response must have a bounded size.

export const mostSets = 1_000
export const mostGangs = 500
export const mostPodsOfClique = 50
export const mostPodsOfSet = 2_000
export const mostEvents = 50
export const mostNodes = 2_000
