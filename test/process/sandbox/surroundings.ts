/** What is around a sandbox in the tests: a process and sockets that must not be reached. `findHarm` says what was. */
import { type ChildProcess, spawn } from 'node:child_process'
import { chownSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { type Box, type Ended, ESCAPED, SECRET } from './box.ts'

const HOST_FILES = ['/dev/shm/reprise-escape', '/tmp/reprise-escape']

export class Surroundings {
  readonly box: Box
  #victim: ChildProcess | null = null
  #received = 0
  readonly #servers: Server[] = []
  #port = 0
  #before: ReturnType<Surroundings['look']> | null = null

  constructor(box: Box) {
    this.box = box
  }

  async open(): Promise<void> {
    await this.#listen({ port: 0, host: '::' })
    await this.#listen({ path: join(this.box.home, 'sockets', 'agent.sock') })
    await this.#listen({ path: `\0${this.box.id}` })
    chownSync(join(this.box.home, 'sockets', 'agent.sock'), this.box.user.uid, this.box.user.gid)
  }

  async #listen(where: { port: number; host: string } | { path: string }): Promise<void> {
    const server = createServer((socket: Socket) => {
      this.#received++
      socket.on('error', () => {}).destroy()
    })
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(where, resolve))
    this.#servers.push(server)
    const address = server.address()
    if (typeof address === 'object' && address) this.#port = address.port
  }

  /** Called before each attack. */
  async note(): Promise<void> {
    if (!this.#victim || this.#victim.exitCode !== null || this.#victim.signalCode !== null) {
      const { uid, gid } = this.box.user
      const asUser = uid === process.getuid?.() ? {} : { uid, gid }
      this.#victim = spawn('sleep', ['98765'], {
        stdio: 'ignore',
        detached: true,
        env: { PATH: process.env.PATH ?? '', PRIVATE: SECRET },
        ...asUser,
      })
      await new Promise((resolve) => this.#victim?.once('spawn', resolve))
    }
    for (const path of HOST_FILES) rmSync(path, { force: true })
    this.#received = 0
    this.#before = this.look()
  }

  env(): Record<string, string> {
    const addresses = Object.entries(networkInterfaces()).flatMap(([name, list]) =>
      (list ?? []).map(({ address, scopeid }) => (scopeid ? `${address}%${name}` : address)),
    )
    return {
      VICTIM: String(this.#victim?.pid),
      PORT: String(this.#port),
      ABSTRACT: this.box.id,
      ADDRESSES: addresses.join(' '),
    }
  }

  look() {
    return {
      files: this.box.snapshot(),
      corePattern: readFileSync('/proc/sys/kernel/core_pattern', 'utf8'),
      sharedMemory: readFileSync('/proc/sysvipc/shm', 'utf8').split('\n').length,
      hostname: hostname(),
      hostFiles: HOST_FILES.filter((path) => existsSync(path)),
    }
  }

  /** What the attack has changed or seen, compared with `note`. An empty list is what we want. */
  findHarm(ended: Ended): string[] {
    const [before, after] = [this.#before, this.look()]
    const harm: string[] = []
    if (JSON.stringify(before) !== JSON.stringify(after)) harm.push(`changed: ${difference(before, after)}`)
    const output = ended.stdout + ended.stderr
    if (output.includes(SECRET)) harm.push('a secret was read')
    harm.push(...ended.stdout.split('\n').filter((line) => line.includes(ESCAPED)))
    if (this.#received > 0) harm.push('a socket was reached')
    if (wasHit(this.#victim?.pid ?? 0)) harm.push('the process outside was hit')
    return harm
  }

  async close(): Promise<void> {
    this.#victim?.kill('SIGKILL')
    for (const path of HOST_FILES) rmSync(path, { force: true })
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))))
  }
}

function difference(before: unknown, after: unknown): string {
  const lines = (value: unknown) => JSON.stringify(value, null, 1).split('\n')
  const old = new Set(lines(before))
  const now = new Set(lines(after))
  return [...lines(after).filter((line) => !old.has(line)), ...lines(before).filter((line) => !now.has(line))]
    .slice(0, 10)
    .join(' | ')
}

/** Gone, dying, stopped, traced, or with a signal that it has not handled yet. */
function wasHit(pid: number): boolean {
  if (!existsSync(`/proc/${pid}`)) return true
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return (
    /^State:\s*[ZXTt]/m.test(status) ||
    /^(Sig|Shd)Pnd:.*[1-9a-f]/m.test(status) ||
    !/^TracerPid:\s*0$/m.test(status)
  )
}
