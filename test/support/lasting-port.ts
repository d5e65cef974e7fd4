/**
 * A port that stays free while nobody listens, for example while a daemon is restarted. It is not among those that the
 * system gives to others, and no two workers begin to search at the same one.
 */
import { createServer } from 'node:net'

export async function findLastingPort(): Promise<number> {
  for (let port = 10_000 + (process.pid % 20_000); ; port++) {
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
    })
    await new Promise((resolve) => server.close(resolve))
    if (isFree) return port
  }
}
