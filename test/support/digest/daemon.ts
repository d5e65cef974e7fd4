/** The real daemon, with one more purpose. Asks for the digest that the environment describes, once. */
import { createLog } from '../../../src/daemon/log.ts'
import { startDaemon } from '../../../src/daemon/start.ts'
import { createDigestPurpose, markDigest } from './purpose.ts'

const { HOME = '', REPRISE_HOME = '', DIGEST = '', WORK_DIR = '' } = process.env
const daemon = await startDaemon({
  home: REPRISE_HOME,
  cwd: HOME,
  env: process.env,
  log: createLog(),
  purposes: createDigestPurpose,
})
process.once('SIGTERM', () => void daemon.close())
const request = { prompt: 'write it', workDir: WORK_DIR, permissions: 'allow' as const }
await daemon.engine.admit(request, DIGEST, markDigest(JSON.parse(DIGEST)))
process.stdout.write(`${daemon.url}\n`)
