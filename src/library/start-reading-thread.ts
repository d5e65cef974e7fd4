import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { RedactorOptions } from '../core/redact/redactor.ts'

/** The entry point is beside this file, both in source and in the bundle. */
const ENTRY = new URL(`reading-thread${extname(import.meta.url)}`, import.meta.url)

export const startReadingThread = (redaction: RedactorOptions): Worker =>
  new Worker(ENTRY, { workerData: redaction, name: 'reading' })
