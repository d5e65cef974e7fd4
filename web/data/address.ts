/** Filters and views that are part of the address, so that they survive a reload and can be sent to somebody. */
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'

type Texts<Name extends string> = Partial<Readonly<Record<Name, string>>>

/** For a route: keeps these parts of the query, and drops all others. */
export const textsIn =
  <Name extends string>(...names: readonly Name[]) =>
  (search: Record<string, unknown>): Texts<Name> =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = search[name]
        const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
        return typeof text === 'string' && text !== '' ? [[name, text.slice(0, 200)]] : []
      }),
    ) as Texts<Name>

/** Changing a filter replaces the entry of the history: Back leaves the page. */
export function useAddress<Name extends string>(): [Texts<Name>, (change: Texts<Name>) => void] {
  const search = useSearch({ strict: false } as never) as Texts<Name>
  const navigate = useNavigate()
  const change = useCallback(
    (part: Texts<Name>) =>
      void navigate({
        to: '.',
        search: ((before: object) =>
          Object.fromEntries(
            Object.entries({ ...before, ...part }).filter(([, value]) => value !== undefined && value !== ''),
          )) as never,
        replace: true,
        resetScroll: false,
      }),
    [navigate],
  )
  return [search, change]
}

export const oneOf = <Value extends string>(
  text: string | undefined,
  values: readonly Value[],
): Value | undefined => values.find((value) => value === text)

export type View = 'read' | 'raw'

/** Whether a transcript is shown for reading or as events. */
export function useView(): [View, (view: View) => void] {
  const [{ view }, change] = useAddress<'view'>()
  const set = (next: View) => change({ view: next === 'read' ? '' : next })
  return [view === 'raw' ? 'raw' : 'read', set]
}
