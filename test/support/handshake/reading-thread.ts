/** A reading thread that knows the adapter made for tests. */
import { parentPort, workerData } from 'node:worker_threads'
import { Redactor, type RedactorOptions } from '../../../src/core/redact/redactor.ts'
import { serveReaders } from '../../../src/engine/supervise/reading/serve.ts'
import { handshakeAdapter } from './adapter.ts'

if (!parentPort) throw new Error('must be started as a worker thread')
serveReaders({
  port: parentPort,
  adapters: [handshakeAdapter],
  redactor: new Redactor(workerData as RedactorOptions),
})
