/**
 * The sign-in of this browser. The cookie is invisible to scripts; the page keeps its key, which is worth nothing
 * without the cookie, where other ports of the same host cannot read it.
 */
const KEY = 'reprise.page-key'

export function readPageKey(): string | null {
  try {
    return localStorage.getItem(KEY)
  } catch {
    return null
  }
}

export function keepPageKey(key: string | null): void {
  try {
    if (key === null) localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, key)
  } catch {
    // Without storage the sign-in lasts until the page is closed.
  }
  current = key
}

let current = readPageKey()
export const pageKey = (): string | undefined => current ?? undefined
