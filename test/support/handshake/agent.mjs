#!/usr/bin/env node
/**
 * A scripted agent that speaks JSON-RPC over stdin and stdout, one message per line, and needs a handshake:
 * `initialize`, then `session/new` or `session/load`, then `session/prompt`. It chooses its session ids itself.
 *
 * In $HANDSHAKE_DIR it records every line it gets (`received`) and its sessions (`sessions/<id>`), and it stops at
 * points named there: if `hold-<point>` exists, it creates `at-<point>` and waits until `hold-<point>` is removed.
 * Points: before the answers to `initialize` and `session-new`, and in the middle of a turn, `turn`.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

if (process.argv[2] === '--version') {
  console.log('1.0.0')
  process.exit()
}

const dir = process.env.HANDSHAKE_DIR ?? ''
const sessionFile = (id) => join(dir, 'sessions', id)
const print = (message) => writeSync(1, `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const update = (change) => print({ method: 'session/update', params: change })

async function reach(point) {
  const hold = join(dir, `hold-${point}`)
  if (!existsSync(hold)) return
  writeFileSync(join(dir, `at-${point}`), '')
  while (existsSync(hold)) await new Promise((next) => setTimeout(next, 10))
}

let sessionId = ''
const asked = new Map()

function ask(id, toolCall) {
  print({ id, method: 'session/request_permission', params: { toolCall } })
  return new Promise((resolve) => asked.set(id, resolve))
}

async function takeTurn({ messageId, prompt }) {
  const isLoaded = readFileSync(sessionFile(sessionId), 'utf8') !== ''
  if (prompt.endsWith('too much') && isLoaded) throw new Error('too long')
  appendFileSync(sessionFile(sessionId), `${JSON.stringify({ messageId, prompt })}\n`)
  update({ kind: 'text', text: 'first half, ' })
  await reach('turn')
  if (prompt.includes('ask me')) {
    const { outcome } = await ask(77, { id: 'call-1', name: 'run_command', input: { cmd: 'true' } })
    update({ kind: 'tool-end', id: 'call-1', isError: outcome !== 'allow' })
  }
  update({ kind: 'text', text: 'second half' })
  const turns = readFileSync(sessionFile(sessionId), 'utf8').split('\n').length - 1
  return { stopReason: 'end_turn', turns }
}

const METHODS = {
  initialize: async () => {
    await reach('initialize')
    return { protocolVersion: 1 }
  },
  'session/new': async () => {
    await reach('session-new')
    mkdirSync(join(dir, 'sessions'), { recursive: true })
    sessionId = `chosen-by-agent-${process.pid}`
    writeFileSync(sessionFile(sessionId), '')
    return { sessionId }
  },
  'session/load': async (params) => {
    if (!existsSync(sessionFile(params.sessionId))) throw new Error('no such session')
    sessionId = params.sessionId
    return { sessionId }
  },
  'session/prompt': async (params) => {
    if (params.sessionId !== sessionId) throw new Error('not the open session')
    return takeTurn(params)
  },
}

const input = createInterface({ input: process.stdin })
input.on('line', async (line) => {
  appendFileSync(join(dir, 'received'), `${line}\n`)
  const { id, method, params, result } = JSON.parse(line)
  if (method === undefined) return asked.get(id)?.(result)
  if (method === 'session/cancel') process.exit(0)
  try {
    print({ id, result: await METHODS[method](params) })
  } catch (error) {
    print({ id, error: { message: String(error.message) } })
  }
})
// A turn that waits for something is aborted: the answer could not be delivered.
input.on('close', () => process.exit(0))
