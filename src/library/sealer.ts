/** Seals secrets with a key that is in a file of the home, readable by its owner only, and not in the database. */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Sealer } from '../store/watches/sealed.ts'

const PREFIX = 'sealed:1:'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

export function openSealer(home: string): Sealer {
  const key = ensureKey(join(home, 'key'))
  return {
    seal: (secret) => {
      // Depends on the secret alone, so that a definition that did not change is stored as it was.
      const nonce = createHmac('sha256', key).update(secret).digest().subarray(0, NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
      return PREFIX + Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url')
    },
    open: (sealed) => {
      if (!sealed.startsWith(PREFIX)) return sealed
      const bytes = Buffer.from(sealed.slice(PREFIX.length), 'base64url')
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES))
        decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
        const text = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES))
        return Buffer.concat([text, decipher.final()]).toString('utf8')
      } catch {
        // The key is another one: the secret is lost and has to be set again.
        return ''
      }
    },
    isSealed: (text) => text.startsWith(PREFIX),
  }
}

function ensureKey(path: string): Buffer {
  try {
    const known = Buffer.from(readFileSync(path, 'utf8').trim(), 'base64url')
    if (known.length === KEY_BYTES) {
      chmodSync(path, 0o600)
      return known
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const key = randomBytes(KEY_BYTES)
  writeFileSync(`${path}.new`, `${key.toString('base64url')}\n`, { mode: 0o600 })
  renameSync(`${path}.new`, path)
  return key
}
