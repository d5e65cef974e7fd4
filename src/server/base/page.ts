/**
 * Serves the dashboard: files that the build has written. The code is no secret, so it needs no token; all data come
 * from the API. Every path that is not of the API and not a file is the page itself, so that links into it work.
 *
 * The files are read when they are asked for. Names under assets/ contain a hash of their content and are cached for
 * good; everything else is asked for again.
 */
import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import type { Context, MiddlewareHandler } from 'hono'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webmanifest': 'application/manifest+json',
  '.json': 'application/json; charset=utf-8',
}

/** No inline scripts or styles, nothing from other hosts, no frames. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** A file of the page: a name without `..`, hidden files or anything else unusual. */
const FILE = /^\/(?:assets\/)?[A-Za-z0-9][A-Za-z0-9._-]*\.[a-z]{2,11}$/

export function servePage(dir: string): MiddlewareHandler {
  return async (c, next) => {
    const { method, path } = c.req
    const isPage = (method === 'GET' || method === 'HEAD') && !path.startsWith('/api') && path !== '/metrics'
    if (!isPage) return next()
    if (FILE.test(path)) {
      const file = await find(c, dir, path)
      return file ? send(c, path, file) : c.text(`${path} does not exist\n`, 404)
    }
    const page = await find(c, dir, '/index.html')
    if (page) return send(c, '/index.html', page)
    return c.text('The dashboard is not built. Build it with: npm run build\n', 404)
  }
}

interface Found {
  body: Uint8Array<ArrayBuffer>
  gzip: boolean
}

async function find(c: Context, dir: string, path: string): Promise<Found | null> {
  const takesGzip = /\bgzip\b/.test(c.req.header('accept-encoding') ?? '')
  for (const gzip of takesGzip ? [true, false] : [false]) {
    try {
      return { body: new Uint8Array(await readFile(join(dir, `${path}${gzip ? '.gz' : ''}`))), gzip }
    } catch {
      // Not every file has a compressed version.
    }
  }
  return null
}

function send(c: Context, path: string, { body, gzip }: Found): Response {
  c.header('Content-Type', TYPES[extname(path)] ?? 'application/octet-stream')
  c.header('Content-Security-Policy', PAGE_POLICY)
  c.header('Cross-Origin-Opener-Policy', 'same-origin')
  c.header('Cross-Origin-Resource-Policy', 'same-origin')
  c.header('Vary', 'Accept-Encoding')
  c.header('Cache-Control', path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache')
  if (gzip) c.header('Content-Encoding', 'gzip')
  return c.req.method === 'HEAD' ? c.body(null) : c.body(body)
}
