/**
 * Reads as tabs of a dashboard do, in a process of its own: `node bench/tab-readers.ts URL COUNT`, with the token in REPRISE_TOKEN. Each reader
 * follows the changes on a connection of its own and asks for the overview when there were some, a few times a second at
 * most (web/data/live.ts). Prints a line when all of them have an overview; reads until it is ended.
 */
import { setTimeout as delay } from 'node:timers/promises'

/** As long as a page gathers changes before it asks. */
const GATHER_MS = 200

const [url = '', count = '0'] = process.argv.slice(2)
const headers = { authorization: `Bearer ${process.env.REPRISE_TOKEN}` }

async function askOverview(): Promise<void> {
  await (await fetch(new URL('/api/overview', url), { headers })).arrayBuffer()
}

async function read(isReady: () => void): Promise<void> {
  const changes = await fetch(new URL('/api/changes?after=latest', url), {
    headers: { ...headers, accept: 'application/x-ndjson' },
  })
  let asking = false
  for await (const part of changes.body ?? []) {
    if (part.length < 3 || asking) continue
    asking = true
    void delay(GATHER_MS).then(async () => {
      asking = false
      await askOverview()
      isReady()
    })
  }
}

const ready = Array.from({ length: Number(count) }, () => Promise.withResolvers<void>())
for (const { resolve } of ready) void read(resolve)
await Promise.all(ready.map(({ promise }) => promise))
console.log('ready')
