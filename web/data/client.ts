/** The one client of the page, and how errors are shown. */
import { type Client, createClient, RepriseError } from '../../src/client/index.ts'
import { pageKey } from './session.ts'

export let client: Client = connect()

function connect(): Client {
  return createClient({ url: location.origin, pageKey: pageKey() })
}

/** After a sign-in or sign-out the requests have another key. */
export function renewClient(): void {
  client = connect()
}

export function errorText(error: unknown): { message: string; hint?: string | undefined; code: string } {
  if (error instanceof RepriseError)
    return { code: error.code, message: sentence(error.message), hint: error.hint }
  return { code: 'internal', message: error instanceof Error ? error.message : String(error) }
}

export const isCode = (error: unknown, code: string) => error instanceof RepriseError && error.code === code

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** Makes a request happen once although it is sent twice. Browsers have no `randomUUID` for pages without TLS. */
export const newKey = () =>
  Array.from(crypto.getRandomValues(new Uint32Array(4)), (n) => n.toString(36)).join('-')
