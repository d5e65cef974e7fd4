/** Reading streams of the server under test. */
import { TOKEN } from './daemon-double.ts'

export async function openStream(
  url: string,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(url, {
    headers: { authorization: `Bearer ${TOKEN}`, ...headers },
    ...(signal ? { signal } : {}),
  })
}

/** Reads until the text so far fits. */
export async function readUntil(response: Response, fits: (text: string) => boolean): Promise<string> {
  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  let seen = ''
  while (!fits(seen)) {
    const { done, value } = await reader.read()
    if (done) throw new Error(`the stream ended before that: ${seen}`)
    seen += decoder.decode(value, { stream: true })
  }
  reader.releaseLock()
  return seen
}

export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve))
}

/** The ids of server-sent events. */
export const idsIn = (text: string): string[] => [...text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id ?? '')

/** The types of server-sent events. */
export const typesIn = (text: string): string[] =>
  [...text.matchAll(/^event: (.*)$/gm)].map(([, type]) => type ?? '')
