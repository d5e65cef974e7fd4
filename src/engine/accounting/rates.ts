/** Token prices per model, as agents last reported them. They are stored, so they survive restarts. */
import type { Rates } from '../../core/cost/usage.ts'
import type { Store } from '../../store/store.ts'

const KEY = 'rates'

export async function readRates(store: Pick<Store, 'getFact'>): Promise<Rates> {
  return JSON.parse((await store.getFact(KEY)) ?? '{}') as Rates
}

export async function noteRates(store: Pick<Store, 'putFact'>, known: Rates, now: Rates): Promise<void> {
  const value = JSON.stringify(now)
  if (value !== JSON.stringify(known)) await store.putFact(KEY, value)
}
