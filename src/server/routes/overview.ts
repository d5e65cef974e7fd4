/** The overview, costs, and the configuration in force. */
import type { AppOptions } from '../base/app-options.ts'
import { type Handlers, respond } from '../base/handler.ts'
import { shareReading } from '../base/shared-reading.ts'

export function overviewHandlers({
  engine,
  configuration,
}: Pick<AppOptions, 'engine' | 'configuration'>): Pick<
  Handlers,
  'getOverview' | 'listCosts' | 'getConfiguration' | 'resolveId'
> {
  const readOverview = shareReading((since: string | undefined) =>
    engine.readOverview(since === undefined ? null : new Date(since)),
  )
  return {
    getOverview: async ({ query: { since } }) => respond(200, await readOverview(since)),
    listCosts: async ({ query: { since, until } }) => {
      const period = { since: new Date(since), until: until === undefined ? undefined : new Date(until) }
      return respond(200, { items: await engine.listCosts(period), nextCursor: null })
    },
    resolveId: async ({ params: { ref }, query: { kind } }) =>
      respond(200, await engine.resolve(ref, kind ?? null)),
    getConfiguration: () => respond(200, configuration ?? { settings: {}, sources: [] }),
  }
}
