/** Where the reading thread begins (see engine/supervise/reading/thread.ts). An entry of its own: threads are started from a file. */
import { parentPort, workerData } from 'node:worker_threads'
import { Redactor, type RedactorOptions } from '../core/redact/redactor.ts'
import { serveReaders } from '../engine/supervise/reading/serve.ts'
import { ALL_ADAPTERS } from './agents.ts'

if (!parentPort) throw new Error('to be started as a thread')
serveReaders({
  port: parentPort,
  adapters: ALL_ADAPTERS,
  redactor: new Redactor(workerData as RedactorOptions),
})
