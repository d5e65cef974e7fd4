/** The daemon about itself: health, status, totals, agents, shutdown, and the description of the API. */
import { RepriseError } from '../../contract/errors.ts'
import type { AppOptions } from '../base/app-options.ts'
import { type Handlers, respond } from '../base/handler.ts'
import { openApiDocument } from '../base/openapi.ts'

type SystemHandlers = Pick<
  Handlers,
  | 'getHealth'
  | 'getStatus'
  | 'shutDown'
  | 'getStats'
  | 'prune'
  | 'listAgents'
  | 'testNotifications'
  | 'getOpenApi'
>

export function systemHandlers(options: AppOptions): SystemHandlers {
  const { version, pid, startedAt, home, url, simulatorUrl, engine } = options
  const self = { status: 'ok' as const, version, pid, startedAt }
  // Built on the first request, because that takes a while.
  let document: Record<string, unknown> | undefined
  return {
    getHealth: () => {
      if (options.isHomeInPlace()) return respond(200, self)
      throw new RepriseError(
        'home-unusable',
        `${home} was removed, renamed or replaced; this daemon is ending`,
      )
    },
    getStatus: async () =>
      respond(200, {
        ...self,
        home,
        url: url(),
        simulator: simulatorUrl,
        runs: await engine.countRuns(),
        memoryBytes: readMemory(),
        sandbox: await engine.findSandbox(),
        cannotStore: engine.findStorageFailure(),
        kept: engine.listKept(),
        disks: engine.describeDisks(),
        quarantined: await engine.listQuarantined(),
        ...(await engine.describeObstacles()),
      }),
    shutDown: () => {
      // After this response is handed to the socket; closing the server then waits until it is sent.
      setImmediate(options.onShutdown)
      return respond(202, { pid })
    },
    getStats: async () => respond(200, await engine.readStats()),
    prune: async ({ body }) => respond(200, await engine.prune(body)),
    listAgents: async () => respond(200, { items: await engine.listAgents(), nextCursor: null }),
    testNotifications: async ({ body }) =>
      respond(200, { items: await engine.testNotifications(body), nextCursor: null }),
    getOpenApi: () => {
      document ??= openApiDocument({ version, url: url() })
      return respond(200, document)
    },
  }
}

/** Reading the present size opens a file. If no descriptor is left, the largest size so far is reported. */
function readMemory(): number {
  try {
    return process.memoryUsage.rss()
  } catch {
    return process.resourceUsage().maxRSS * 1024
  }
}
