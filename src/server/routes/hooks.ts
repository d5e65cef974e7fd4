/**
 * Receives events of other systems. They are given the secret of one watch and not the daemon's token, so this
 * operation authenticates its senders itself (hook-auth.ts). That needs the bytes of the body.
 *
 * A sender that is not authenticated gets the same response whether the watch exists or not.
 */
import type { Context } from 'hono'
import { RepriseError } from '../../contract/errors.ts'
import type { WatchEngine } from '../../engine/watches/api.ts'
import type { AppOptions } from '../base/app-options.ts'
import { bearerOf } from '../base/caller.ts'
import { senderOf } from '../base/forwarded.ts'
import { type Handlers, respond } from '../base/handler.ts'
import { checkHook, SIGNATURE_HEADER, unauthorizedHook } from '../base/hook-auth.ts'
import { isNews } from '../base/triggered.ts'

export function hookHandlers({
  engine,
  token,
  access,
}: Pick<AppOptions, 'engine' | 'token' | 'access'>): Pick<Handlers, 'receiveEvents'> {
  return {
    receiveEvents: async ({ params: { watch } }, c) => {
      const body = new Uint8Array(await c.req.arrayBuffer())
      if (!mayAct(access, c)) await authenticate(engine, access ? '' : token, watch, body, c)
      const triggered = await engine.receiveEvents(watch, parseJson(body))
      return respond(isNews(triggered) ? 202 : 200, triggered)
    },
  }
}

/** Whether the sender has a token that allows to start work. */
function mayAct(access: AppOptions['access'], c: Context): boolean {
  const bearer = bearerOf(c)
  const caller = bearer === undefined ? null : access?.authenticate({ bearer }, senderOf(c).address)
  return caller?.scope === 'act' || caller?.scope === 'admin'
}

async function authenticate(
  engine: WatchEngine,
  token: string,
  watch: string,
  body: Uint8Array,
  c: Context,
): Promise<void> {
  const shown = checkHook({
    secret: (await readSecret(engine, watch)) ?? null,
    token,
    authorization: c.req.header('authorization') ?? null,
    signature: c.req.header(SIGNATURE_HEADER) ?? null,
    body,
  })
  if (shown !== 'ok') throw unauthorizedHook(c, shown)
}

/** undefined: there is no such watch. The engine reports that, after the sender was authenticated. */
async function readSecret(engine: WatchEngine, watch: string): Promise<string | null | undefined> {
  try {
    return await engine.readHookSecret(watch)
  } catch (error) {
    if (error instanceof RepriseError && error.code === 'not-found') return undefined
    throw error
  }
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    throw new RepriseError('bad-request', 'body: expected valid JSON', {
      hint: 'Send what Alertmanager sends, or any other JSON document.',
    })
  }
}
