/** A secret that the agent reads works in its tools and is stored nowhere: on the real CLI, through a real daemon. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import type { RuleInput } from '../../src/simulator/scenario-types.ts'
import { World } from '../support/world.ts'

// Written in parts, so that secret scanners do not report this file.
const TOKEN = ['ghp', 'x7Kd93LmQ2xZ7vB1nT5yR4wE6uI0oP3sAbCd'].join('_')
const GIVEN = 'open "sesame" 42'
const secrets = [TOKEN, GIVEN, JSON.stringify(GIVEN).slice(1, -1), 'sesame']

const COMMAND = `printf '%s' '${TOKEN} ${GIVEN}' | tee made`
const useSecret: RuleInput = {
  reply: [
    { text: `I will try ${GIVEN} with ${TOKEN} now.` },
    { tool: 'Bash', input: { command: COMMAND, description: 'use it' } },
    { await: 'results' },
    { text: `It said: \${toolResult}, as ${GIVEN}.` },
  ],
}
const config = { redact: { values: [GIVEN] } }

const QUESTION = {
  question: `Is ${TOKEN} right?`,
  header: 'Token',
  multiSelect: false,
  options: [
    { label: `Yes, ${GIVEN}`, description: 'use it' },
    { label: 'No', description: 'leave it' },
  ],
}
const askAboutSecret: RuleInput = {
  when: '/^ask$/',
  reply: [
    { tool: 'AskUserQuestion', input: { questions: [QUESTION] } },
    { await: 'results' },
    { text: 'Thanks' },
  ],
}

let world: World
beforeAll(async () => {
  world = await World.create({ name: 'secret', rules: [askAboutSecret, useSecret] }, config)
})
beforeEach(async () => {
  await rm(join(world.workDir, 'made'), { force: true })
  await world.startDaemon()
})
afterEach(() => world.killDaemon('SIGTERM'))
afterAll(() => world.close())

function expectNoSecret(text: string, where: string): void {
  for (const secret of secrets) expect(text.includes(secret), `${where} has ${secret}`).toBe(false)
}

/** All files in the home except the agent's own output, which is kept unchanged. */
function expectCleanHome(): void {
  for (const name of readdirSync(world.home)) {
    const path = join(world.home, name)
    if (name !== 'config.yaml' && statSync(path).isFile()) expectNoSecret(readFileSync(path, 'latin1'), name)
  }
}

async function pendingOf(id: string) {
  await world.waitForEvent(id, (e) => e.type === 'question-ask' || e.type === 'permission-ask')
  const { pending } = await world.getRun(id)
  expect(pending).toHaveLength(1)
  expectNoSecret(JSON.stringify(pending), 'what is pending')
  return pending[0]!
}

it('a tool gets the secret, but events, answers, the log and the database do not contain it', async () => {
  const conversation = await world.api<{ id: string }>('POST', '/api/conversations', {
    workDir: world.workDir,
  })
  const { run } = await world.api<{ run: { id: string } }>(
    'POST',
    `/api/conversations/${conversation.id}/turns`,
    { text: 'go' },
  )
  const { toolUseId } = await pendingOf(run.id)
  await world.api('POST', `/api/runs/${run.id}/tool-result`, { toolUseId, decision: 'allow' })
  const done = await world.settled(run.id)
  expect(done.outcome).toBe('completed')
  expect(readFileSync(join(world.workDir, 'made'), 'utf8')).toBe(`${TOKEN} ${GIVEN}`)
  expect(done.resultText).toBe('It said: [redacted: github-token] [redacted], as [redacted].')

  const events = await world.events(run.id)
  expectNoSecret(JSON.stringify(events), 'the events')
  const streamed = events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('')
  const said = events.map((event) => (event.type === 'text-end' ? event.text : '')).join('')
  expect(streamed).toBe(said)
  expect(said).toContain('I will try [redacted] with [redacted: github-token] now.')
  expectNoSecret(
    JSON.stringify(await world.api('GET', `/api/conversations/${conversation.id}`)),
    'the conversation',
  )

  await world.killDaemon('SIGTERM')
  expectNoSecret(world.log(), 'the log')
  expectCleanHome()
})

it('a tool gets the secret also when another daemon delivers the answer', async () => {
  const { id } = await world.createRun({ prompt: 'go', permissions: 'ask' })
  const { toolUseId } = await pendingOf(id)
  await world.killDaemon('SIGKILL')
  await world.startDaemon()
  expectNoSecret(JSON.stringify(await world.getRun(id)), 'the run')
  await world.api('POST', `/api/runs/${id}/tool-result`, { toolUseId, decision: 'allow' })
  expect((await world.settled(id)).outcome).toBe('completed')
  expect(readFileSync(join(world.workDir, 'made'), 'utf8')).toBe(`${TOKEN} ${GIVEN}`)
  await world.killDaemon('SIGTERM')
  expectCleanHome()
})

it('a question may contain the secret: it is answered with the text that was shown', async () => {
  const { id } = await world.createRun({ prompt: 'ask' })
  const shown = await pendingOf(id)
  await world.api('POST', `/api/runs/${id}/tool-result`, {
    toolUseId: shown.toolUseId,
    answers: { 'Is [redacted: github-token] right?': 'Yes, [redacted]' },
  })
  expect((await world.settled(id)).outcome).toBe('completed')
  // The answer as the agent sent it to the model.
  const { sessionId } = await world.getRun(id)
  const requests = world.simulator.requests().filter((request) => request.sessionId === sessionId)
  const told = JSON.stringify(requests.map(({ messages }) => messages))
  expect(told).toContain('sesame')
  expect(told).not.toContain('[redacted')
})
