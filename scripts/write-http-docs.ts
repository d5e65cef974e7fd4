/** Writes docs/http.md from the route table. A test fails when the file is not what this writes. */
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { renderHttpDocs } from './http-docs.ts'

writeFileSync(resolve(import.meta.dirname, '..', 'docs', 'http.md'), renderHttpDocs())
