/**
 * The entry point of the reading thread (see engine/supervise/reading/thread.ts). A worker thread needs a file of its
 * own.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { Redactor, type RedactorOptions } from '../core/redact/redactor.ts'
import { serveReaders } from '../engine/supervise/reading/serve.ts'
import { ALL_ADAPTERS } from './agents.ts'

if (!parentPort) throw new Error('must be started as a worker thread')
serveReaders({
  port: parentPort,
  adapters: ALL_ADAPTERS,
  redactor: new Redactor(workerData as RedactorOptions),
})
