/** The overview, costs, and the configuration in force. */
import type { AppOptions } from '../base/app-options.ts'
import { type Handlers, respond } from '../base/handler.ts'

export function overviewHandlers({
  engine,
  configuration,
}: Pick<AppOptions, 'engine' | 'configuration'>): Pick<
  Handlers,
  'getOverview' | 'listCosts' | 'getConfiguration' | 'resolveId'
> {
  return {
    getOverview: async ({ query: { since } }) =>
      respond(200, await engine.readOverview(since === undefined ? null : new Date(since))),
    listCosts: async ({ query: { since, until } }) => {
      const period = { since: new Date(since), until: until === undefined ? undefined : new Date(until) }
      return respond(200, { items: await engine.listCosts(period), nextCursor: null })
    },
    resolveId: async ({ params: { ref }, query: { kind } }) =>
      respond(200, await engine.resolve(ref, kind ?? null)),
    getConfiguration: () => respond(200, configuration ?? { settings: {}, sources: [] }),
  }
}
