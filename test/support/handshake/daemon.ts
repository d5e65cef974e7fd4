/** The real daemon, with one more agent. Only the composition knows of it. */
import { createLog } from '../../../src/daemon/log.ts'
import { startDaemon } from '../../../src/daemon/start.ts'
import { handshakeAgent } from './adapter.ts'

const { PATH = '', HOME = '', REPRISE_HOME = '', HANDSHAKE_DIR = '' } = process.env
const daemon = await startDaemon({
  home: REPRISE_HOME,
  cwd: HOME,
  env: process.env,
  log: createLog(),
  agents: [handshakeAgent(HANDSHAKE_DIR, { PATH, HOME })],
})
process.once('SIGTERM', () => void daemon.close())
process.stdout.write(`${daemon.url}\n`)
