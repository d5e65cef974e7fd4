/** Exporting, importing, forking and moving sessions. */
import { Readable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import type { Engine } from '../../engine/api.ts'
import { type Handlers, respond } from '../base/handler.ts'

type TransferHandlers = Pick<
  Handlers,
  'exportSession' | 'importSession' | 'forkSession' | 'planSessionMove' | 'moveSession'
>

export function transferHandlers(engine: Engine): TransferHandlers {
  return {
    exportSession: async ({ params, body }) => {
      const file = await engine.exportSession(params.id, body)
      return respond(200, Readable.toWeb(file) as ReadableStream<Uint8Array>, {
        'Content-Type': 'application/gzip',
      })
    },
    importSession: async ({ query }, c) => {
      const body = c.req.raw.body
      const received = body ? Readable.fromWeb(body as NodeReadableStream) : Readable.from([])
      const { workDir, agent, asCopy } = query
      const imported = await engine.importSession(received, { workDir, agent, asCopy: asCopy === 'true' })
      return respond(201, imported, { Location: `/api/sessions/${imported.session}` })
    },
    forkSession: async ({ params, body }) => {
      const fork = await engine.forkSession(params.id, body)
      return respond(201, fork, { Location: `/api/sessions/${fork.session}` })
    },
    planSessionMove: async ({ params, query }) =>
      respond(200, await engine.planSessionMove(params.id, query.workDir)),
    moveSession: async ({ params, body }) => respond(200, await engine.moveSession(params.id, body.workDir)),
  }
}
