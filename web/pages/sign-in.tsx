/** Signs this browser in with the secret of a link, which is in the address after the #. */
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { client, errorText, renewClient } from '../data/client.ts'
import { keepPageKey } from '../data/session.ts'
import { Copyable } from '../parts/base.tsx'

/** Each secret is used once, also if the component is drawn twice. */
const pending = new Map<string, Promise<void>>()

function signInOnce(code: string): Promise<void> {
  const known = pending.get(code)
  if (known) return known
  const work = client.signIn(code).then(({ pageKey }) => {
    keepPageKey(pageKey)
    renewClient()
  })
  pending.set(code, work)
  return work
}

export function SignIn() {
  const queries = useQueryClient()
  const [code, setCode] = useState(() => location.hash.slice(1))
  const [error, setError] = useState<unknown>(null)
  useEffect(() => {
    // A link that is opened while this page is shown changes only the part after the #.
    const take = () => {
      if (location.hash.length > 1) setCode(location.hash.slice(1))
    }
    window.addEventListener('hashchange', take)
    return () => window.removeEventListener('hashchange', take)
  }, [])
  useEffect(() => {
    if (code === '') return
    setError(null)
    // The link is used up in a moment, and does not belong into the history.
    history.replaceState(null, '', '/sign-in')
    signInOnce(code)
      .then(() => {
        queries.clear()
        location.replace('/')
      })
      .catch(setError)
  }, [code, queries])
  return (
    <main className="mx-auto flex min-h-dvh max-w-md flex-col justify-center p-6">
      <h1 className="mb-3 flex items-center gap-2 text-large font-semibold">
        <img src="/icon.svg" alt="" width={28} height={28} /> Reprise
      </h1>
      {code !== '' && error === null ? (
        <p role="status">Signing in…</p>
      ) : (
        <>
          {error !== null && (
            <p role="alert" className="mb-3 text-fail">
              {errorText(error).message}
            </p>
          )}
          <p className="mb-3 text-muted">
            This browser is not signed in. On the machine where Reprise runs, this command opens a link that
            signs in once:
          </p>
          <p>
            <Copyable text="reprise open" />
          </p>
        </>
      )}
    </main>
  )
}
