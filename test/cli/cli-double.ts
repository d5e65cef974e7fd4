/** The CLI in this very process, in front of the server with the engine double: for commands, not for what they start. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listenOnSocket } from '../../src/server/listen.ts'
import { type ServerUnderTest, startServer, TOKEN } from '../server/daemon-double.ts'
import { type Answer, runInside } from './inside.ts'

export interface CliDouble extends Pick<ServerUnderTest, 'engine'> {
  home: string
  workDir: string
  run: (args: string[], options?: { stdin?: string }) => Promise<Answer>
  close: () => Promise<void>
}

/** With `up: false` there is no daemon, and nothing that would start one is tested. */
export async function createCliDouble({ up = true }: { up?: boolean } = {}): Promise<CliDouble> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'reprise-cli-')))
  const [home, workDir] = [join(root, 'home'), join(root, 'work')]
  mkdirSync(workDir)
  const server = await startServer()
  let socket: { close: () => Promise<void> } | null = null
  if (up) {
    mkdirSync(home, { mode: 0o700 })
    socket = await listenOnSocket(server.app, join(home, 'daemon.sock'))
    const startedAt = new Date().toISOString()
    const file = { pid: process.pid, url: server.url, startedAt, socket: 'daemon.sock' }
    writeFileSync(join(home, 'daemon.json'), JSON.stringify(file))
    writeFileSync(join(home, 'token'), TOKEN)
  }
  return {
    engine: server.engine,
    home,
    workDir,
    run: (args, { stdin } = {}) =>
      runInside(args, { env: { HOME: root, REPRISE_HOME: home }, cwd: workDir, stdin }),
    close: async () => {
      await Promise.all([server.close(), socket?.close()])
      rmSync(root, { recursive: true, force: true })
    },
  }
}
