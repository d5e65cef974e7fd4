/** The real app on a real socket, in front of the engine double. */

import type { ErrorBody } from '../../src/contract/errors.ts'
import { readVersion } from '../../src/library/version.ts'
import { type App, createApp } from '../../src/server/app.ts'
import type { AppOptions } from '../../src/server/base/app-options.ts'
import { type Listening, listen, type ServerLimits } from '../../src/server/listen.ts'
import { createEngineDouble, type EngineDouble } from './engine-double.ts'

export const TOKEN = 'a-token-of-at-least-thirty-two-characters'

export interface ServerUnderTest extends Listening {
  app: App
  engine: EngineDouble
  logged: { fields: object; message: string }[]
  /** With the token, JSON in, JSON out. */
  call: <T = ErrorBody>(
    path: string,
    init?: RequestInit & { json?: unknown },
  ) => Promise<{ status: number; body: T; headers: Headers }>
}

export async function startServer(
  change: Partial<AppOptions> = {},
  {
    port = 0,
    engine = createEngineDouble(),
    limits = {},
  }: { port?: number; engine?: EngineDouble; limits?: Partial<ServerLimits> } = {},
): Promise<ServerUnderTest> {
  const logged: ServerUnderTest['logged'] = []
  let url = ''
  const app = createApp({
    engine,
    token: TOKEN,
    version: readVersion(),
    startedAt: new Date().toISOString(),
    pid: process.pid,
    home: '/nowhere',
    isHomeInPlace: () => true,
    url: () => url,
    simulatorUrl: null,
    allowedHosts: ['reprise.internal'],
    log: { error: (fields, message) => logged.push({ fields, message }) },
    onShutdown: () => {},
    ...change,
  })
  const server = await listen(app, { host: '127.0.0.1', port, limits })
  url = server.url
  return {
    ...server,
    app,
    engine,
    logged,
    call: async (path, { json, ...init } = {}) => {
      const response = await fetch(new URL(path, server.url), {
        ...init,
        headers: {
          authorization: `Bearer ${TOKEN}`,
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
          ...(init.headers as Record<string, string> | undefined),
        },
        ...(json === undefined ? {} : { method: init.method ?? 'POST', body: JSON.stringify(json) }),
      })
      const text = await response.text()
      return {
        status: response.status,
        body: text === '' ? null : JSON.parse(text),
        headers: response.headers,
      }
    },
  }
}
