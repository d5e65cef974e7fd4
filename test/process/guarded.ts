/**
 * Real programs behind real guards, in their own folder whose name is not a simple word. What a test starts carries the
 * marker of its attempt: no such process may be alive when the test is over.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { GuardDesk, type GuardDeskInput } from '../../src/process/guard-desk.ts'
import type { GuardAnswer, GuardRequest } from '../../src/process/guard-request.ts'
import { installGuards, withGuards } from '../../src/process/guards.ts'
import { MARKER } from '../../src/process/proc.ts'
import { eventually, newAttempt } from './attempts.ts'

export const allow: GuardAnswer = { decision: 'allow', reason: '' }
export const deny = (reason: string): GuardAnswer => ({ decision: 'deny', reason })

export interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: Buffer
  stderr: string
}

export class Guarded {
  readonly attempt = newAttempt()
  readonly root = join(this.attempt.spool, "an odd $name, isn't it")
  readonly dir = join(this.root, 'guards')
  readonly asked = join(this.dir, 'asked')
  readonly workDir = join(this.root, 'work')
  /** Contains stand-ins for the machine's own programs. */
  readonly tools = join(this.root, 'tools')
  readonly bin: string
  env: Record<string, string>

  constructor(programs: Readonly<Record<string, string>>) {
    for (const path of [this.workDir, this.tools]) mkdirSync(path, { recursive: true })
    for (const [name, text] of Object.entries(programs)) this.addTool(name, text)
    this.bin = installGuards({ dir: this.dir, programs: Object.keys(programs) })
    this.env = withGuards({ PATH: `${this.tools}:${process.env.PATH}`, [MARKER]: this.attempt.id }, this.bin)
  }

  addTool(name: string, text: string): void {
    const path = join(this.tools, name)
    writeFileSync(path, `#!/bin/sh\n${text}\n`)
    chmodSync(path, 0o755)
  }

  openDesk(decide: GuardDeskInput['decide'], onDelivered?: GuardDeskInput['onDelivered']): GuardDesk {
    const desk = new GuardDesk({ dir: this.dir, decide, ...(onDelivered && { onDelivered }) })
    onTestFinished(() => desk.close())
    return desk
  }

  /** Opens a desk that always gives the same answer. Returns what it was asked. */
  answer(answer: GuardAnswer): GuardRequest[] {
    const requests: GuardRequest[] = []
    this.openDesk(async (request) => {
      requests.push(request)
      return answer
    })
    return requests
  }

  start(program: string, args: readonly string[] = [], input?: string | Buffer): Started {
    const child = spawn(program, args, { cwd: this.workDir, env: this.env, stdio: 'pipe' })
    child.stdin.on('error', () => {})
    if (input !== undefined) child.stdin.end(input)
    const stdout: Buffer[] = []
    const stderr: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
    const ended = new Promise<Ended>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code, signal) =>
        resolve({ code, signal, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() }),
      )
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    return { child, ended }
  }

  run(program: string, args: readonly string[] = [], input: string | Buffer = ''): Promise<Ended> {
    return this.start(program, args, input).ended
  }

  sh(script: string, input: string | Buffer = ''): Promise<Ended> {
    return this.run('/bin/sh', ['-c', script], input)
  }

  /** Resolves when that many guards have asked and wait. */
  async asking(count: number): Promise<void> {
    await eventually(() => expect(this.litter()).toHaveLength(2 * count))
  }

  /** The files that are left between guards and desk. */
  litter(): string[] {
    return readdirSync(this.asked)
  }
}

export interface Started {
  child: ChildProcess
  ended: Promise<Ended>
}

/** A desk's questions one by one, each answered when the test says so. */
export class Questions {
  readonly #waiting: ((question: Question) => void)[] = []
  readonly #unseen: Question[] = []

  readonly decide: GuardDeskInput['decide'] = (request, signal) => {
    const { promise, resolve } = Promise.withResolvers<GuardAnswer>()
    const question = { request, signal, answer: resolve }
    const next = this.#waiting.shift()
    if (next) next(question)
    else this.#unseen.push(question)
    return promise
  }

  next(): Promise<Question> {
    const question = this.#unseen.shift()
    return question ? Promise.resolve(question) : new Promise((resolve) => this.#waiting.push(resolve))
  }

  get unseen(): number {
    return this.#unseen.length
  }
}

export interface Question {
  request: GuardRequest
  signal: AbortSignal
  answer: (answer: GuardAnswer) => void
}
