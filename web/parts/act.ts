/** Doing something: one at a time, with its error shown where it was asked for. */
import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useState } from 'react'
import { askAgain } from '../data/ask-again.ts'
import { isCode } from '../data/client.ts'

export interface Acting {
  busy: boolean
  error: unknown
  run: (work: () => Promise<unknown>) => Promise<boolean>
  clear: () => void
}

/** Resolves to true if it was done. What is shown is asked again in any case: somebody else may have been faster. */
export function useAct(): Acting {
  const queries = useQueryClient()
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const run = useCallback(
    async (work: () => Promise<unknown>) => {
      setBusy(true)
      setError(null)
      try {
        await work()
        return true
      } catch (thrown) {
        setError(thrown)
        return false
      } finally {
        setBusy(false)
        askAgain(queries)
      }
    },
    [queries],
  )
  return { busy, error, run, clear: () => setError(null) }
}

/** Another tab or person has answered before. */
export const wasFaster = (error: unknown) =>
  isCode(error, 'question-answered') ||
  isCode(error, 'question-unknown') ||
  isCode(error, 'run-settled') ||
  isCode(error, 'conflict')
