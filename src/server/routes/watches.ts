/** Watches, their cycles, and triggers. */
import type { Triggered } from '../../contract/watch.ts'
import type { WatchEngine } from '../../engine/watches/api.ts'
import { type Handlers, respond, respondEmpty } from '../base/handler.ts'
import { isNews } from '../base/triggered.ts'
import { withEveryMs } from '../base/watch-request.ts'

type WatchHandlers = Pick<
  Handlers,
  | 'createWatch'
  | 'listWatches'
  | 'getWatch'
  | 'updateWatch'
  | 'removeWatch'
  | 'triggerWatch'
  | 'pauseWatch'
  | 'resumeWatch'
  | 'listCycles'
  | 'getCycle'
  | 'cancelCycle'
>

export function watchHandlers(engine: WatchEngine): WatchHandlers {
  return {
    createWatch: async ({ body }) => {
      const watch = await engine.createWatch(withEveryMs(body))
      return respond(201, watch, { Location: `/api/watches/${watch.id}` })
    },
    listWatches: async () => respond(200, { items: await engine.listWatches(), nextCursor: null }),
    getWatch: async ({ params }) => respond(200, await engine.getWatch(params.id)),
    updateWatch: async ({ params, body }) =>
      respond(200, await engine.updateWatch(params.id, withEveryMs(body))),
    removeWatch: async ({ params }) => {
      await engine.removeWatch(params.id)
      return respondEmpty(204)
    },
    triggerWatch: async ({ params, body, headers }) =>
      respondTriggered(await engine.triggerWatch(params.id, body, headers['idempotency-key'] ?? null)),
    pauseWatch: async ({ params }) => respond(200, await engine.updateWatch(params.id, { paused: true })),
    resumeWatch: async ({ params }) => respond(200, await engine.updateWatch(params.id, { paused: false })),
    listCycles: async ({ params, query }) => respond(200, await engine.listCycles(params.id, query)),
    getCycle: async ({ params }) => respond(200, await engine.getCycle(params.id)),
    cancelCycle: async ({ params }) => respond(202, await engine.cancelCycle(params.id)),
  }
}

const respondTriggered = (triggered: Triggered) => respond(isNews(triggered) ? 202 : 200, triggered)
