import { z } from 'zod'
import { Agent } from '../agent.ts'
import { Health, page, Status } from '../http.ts'
import { NotificationTest, TestNotifications } from '../notification.ts'
import { PruneReport, PruneRequest } from '../prune.ts'
import { Stats } from '../stats.ts'
import { type FeatureRoutes, json } from './route.ts'

export const systemRoutes = {
  getHealth: {
    tag: 'system',
    summary: 'Says whether the daemon runs',
    auth: 'none',
    responses: { 200: json('It runs', Health) },
    errors: ['home-unusable'],
  },
  getStatus: {
    tag: 'system',
    summary: 'Describes what the daemon is doing and what it waits for',
    responses: { 200: json('The status', Status) },
  },
  shutDown: {
    tag: 'system',
    summary: 'Stops the daemon; running agents continue and the next daemon takes them over',
    scope: 'admin',
    responses: { 202: json('The daemon will stop', z.object({ pid: z.number().int() })) },
  },
  getStats: {
    tag: 'system',
    summary: 'Totals over all runs: outcomes, cost, and what resuming saved',
    responses: { 200: json('The totals', Stats) },
  },
  prune: {
    tag: 'system',
    summary: 'Deletes what is older than the settings in `keep` say, and gives the space back',
    description: 'This happens every hour by itself. With `dryRun` nothing is changed.',
    body: PruneRequest,
    bodyOptional: true,
    responses: { 200: json('What was deleted, or would be', PruneReport) },
  },
  listAgents: {
    tag: 'system',
    summary: 'Lists the configured agents and the runtimes found for them',
    responses: { 200: json('All agents', page(Agent)) },
  },
  testNotifications: {
    tag: 'system',
    summary: 'Sends a test notification to the configured targets, once, and says what became of each',
    body: TestNotifications,
    bodyOptional: true,
    responses: { 200: json('The targets in the order of the configuration', page(NotificationTest)) },
  },
  getOpenApi: {
    tag: 'system',
    summary: 'This API as an OpenAPI 3.1 document',
    responses: { 200: json('The document', z.record(z.string(), z.unknown())) },
  },
} satisfies FeatureRoutes
